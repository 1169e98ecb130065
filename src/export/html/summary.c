// SPDX-License-Identifier: MIT
/* What the page shows before its script runs, and where scripts do not run: the title
 * and the functions that took the most time. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/vector.h"
#include "export/html/html.h"
#include "model/facts/waiting_functions.h"
#include "text/format.h"
#include "text/names.h"
#include "wire/user_event.h"

#define ROWS_MAX 20u

static int compare(const void *a, const void *b)
{
    const struct cunei_analysis_function *one =
        *(const struct cunei_analysis_function *const *)a;
    const struct cunei_analysis_function *two =
        *(const struct cunei_analysis_function *const *)b;

    if (one->self_ns != two->self_ns)
        return one->self_ns > two->self_ns ? -1 : 1;
    return one < two ? -1 : one > two;
}

static void put_cell(struct cunei_html *html, struct cunei_buffer *text)
{
    struct cunei_buffer *out = &html->page.text;

    cunei_buffer_append_text(out, "<td>");
    cunei_page_markup(out, cunei_buffer_text(text));
    cunei_buffer_append_text(out, "</td>");
    out->failed |= text->failed;
    cunei_buffer_fini(text);
}

static void put_row(struct cunei_html *html, const struct cunei_function *function,
                    const struct cunei_analysis_function *facts,
                    const struct cunei_process *home)
{
    struct cunei_buffer self = {0}, total = {0}, calls = {0}, name = {0}, place = {0};

    cunei_buffer_append_text(&html->page.text, "\n<tr>");
    cunei_format_duration(&self, facts->self_ns);
    put_cell(html, &self);
    cunei_format_duration(&total, facts->total_ns);
    put_cell(html, &total);
    cunei_format_count(&calls, facts->calls);
    put_cell(html, &calls);
    cunei_format_function(&name, function);
    put_cell(html, &name);
    cunei_format_place(&place, function, home);
    put_cell(html, &place);
    cunei_buffer_append_text(&html->page.text, "</tr>");
}

static void put_rows(struct cunei_html *html, const struct cunei_process *home)
{
    const struct cunei_analysis *analysis = &html->analysis;
    const struct cunei_analysis_function **order = cunei_vector_sort(
        analysis->facts, sizeof(*analysis->facts), analysis->functions.count, compare);
    uint32_t shown = 0;

    html->page.text.failed |= !order;
    for (uint32_t i = 0; order && i < analysis->functions.count && shown < ROWS_MAX;
         i++) {
        const struct cunei_function *function =
            &analysis->functions.items[order[i] - analysis->facts];
        if (order[i]->self_ns == 0 || cunei_is_waiting_function(function) ||
            cunei_definition_of(function) != CUNEI_DEFINITION_FUNCTION)
            continue;
        put_row(html, function, order[i], home);
        shown++;
    }
    free((void *)order);
}

void cunei_html_put_summary(struct cunei_html *html)
{
    const struct cunei_analysis *analysis = &html->analysis;
    struct cunei_buffer *out = &html->page.text, program = {0};
    const struct cunei_process *home =
        analysis->process_count > 0 ? &analysis->processes[0].process->description
                                    : NULL;

    if (home)
        cunei_format_program(&program, home);
    cunei_buffer_append_text(out, "<h1>");
    cunei_page_markup(out, cunei_buffer_text(&program));
    cunei_buffer_append_text(out, "</h1>\n<table><caption>Functions by self time"
                                  "</caption>\n<thead><tr><th>Self</th><th>Total</th>"
                                  "<th>Calls</th><th>Function</th><th>Where</th></tr>"
                                  "</thead>\n<tbody>");
    put_rows(html, home);
    cunei_buffer_append_text(out, "</tbody></table>");
    out->failed |= program.failed;
    cunei_buffer_fini(&program);
}
