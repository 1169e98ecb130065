// SPDX-License-Identifier: MIT
/* Who called a function: how often, and how long it took for them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/edges.h"
#include "view/format.h"
#include "view/json.h"
#include "view/section.h"
#include "view/table.h"
#include "view/wanted.h"

/* The pairs with a wanted callee, by callee, the costliest first. */
static int compare_edges(const void *a, const void *b)
{
    const struct cunei_edge *one = a, *two = b;

    if (one->callee != two->callee)
        return one->callee < two->callee ? -1 : 1;
    if (one->total != two->total)
        return one->total > two->total ? -1 : 1;
    if (one->calls != two->calls)
        return one->calls > two->calls ? -1 : 1;
    return one->caller < two->caller ? -1 : one->caller > two->caller;
}

static int find_edges(const struct cunei_report *report, struct cunei_edge **found,
                      uint32_t *count)
{
    const struct cunei_edges *edges = report->survey->edges;
    struct cunei_wanted wanted;

    int rc = cunei_wanted_init(&wanted, report, report->options->callers);
    if (rc < 0)
        return rc;
    *count = 0;
    *found = calloc(edges->count, sizeof(**found));
    for (uint32_t i = 1; *found && i < edges->count; i++) {
        const struct cunei_edge *edge = &edges->items[i];
        if (edge->callee > 0 && edge->calls + edge->resumes + edge->total > 0 &&
            cunei_wanted_has(&wanted,
                             &report->survey->functions.items[edge->callee - 1]))
            (*found)[(*count)++] = *edge;
    }
    cunei_wanted_fini(&wanted);
    if (!*found)
        return -ENOMEM;
    qsort(*found, *count, sizeof(**found), compare_edges);
    if (*count > 0)
        return 0;
    free(*found);
    *found = NULL;
    return -ENOENT;
}

static const struct cunei_column columns[] = {
    {.head = "time"},
    {.head = "%", .rank = 1},
    {.head = "calls"},
    {.head = "resumes", .rank = 3},
    {.head = "called by", .min = 12},
    {.head = "", .rank = 2, .min = 14, .is_path = true},
};

static void add_row(const struct cunei_report *report, struct cunei_table *table,
                    const struct cunei_edge *edge)
{
    const struct cunei_survey_function *callee =
        &report->survey->facts[edge->callee - 1];
    bool itself = edge->caller == edge->callee;
    /* Where all of them were made while the callee was open, directly or by a mutual
     * recursion, their time is that of the outermost caller. */
    bool has_time = edge->total > 0;
    uint32_t caller = edge->caller - 1;

    struct cunei_buffer *time = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (has_time)
        cunei_format_duration(time, edge->total);
    struct cunei_buffer *share = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (has_time)
        cunei_format_percent(share, edge->total, callee->total_ns);
    cunei_format_count(cunei_table_cell(table, CUNEI_INK_PLAIN), edge->calls);
    struct cunei_buffer *resumes = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (edge->resumes > 0)
        cunei_format_count(resumes, edge->resumes);
    struct cunei_buffer *name =
        cunei_table_cell(table, edge->caller ? CUNEI_INK_STRONG : CUNEI_INK_DIM);
    if (itself)
        cunei_buffer_append_text(name, "itself");
    else if (edge->caller == 0)
        cunei_buffer_append_text(name, "nothing recorded");
    else
        cunei_report_name(report, caller, name);
    struct cunei_buffer *place = cunei_table_cell(table, CUNEI_INK_DIM);
    if (edge->caller > 0 && !itself)
        cunei_report_place(report, caller, place);
}

int cunei_report_head(const struct cunei_report *report, uint32_t function)
{
    const struct cunei_survey_function *facts = &report->survey->facts[function];
    struct cunei_paragraph line = {.style = &report->options->style, .indent = 2};
    struct cunei_buffer text = {0}, words = {0};

    cunei_report_name(report, function, &text);
    cunei_format_text(&words, text.data ? text.data : "", 60);
    cunei_paragraph_put(&line, "", CUNEI_INK_STRONG, words.data ? words.data : "");
    cunei_buffer_clear(&text);
    cunei_buffer_clear(&words);
    cunei_report_place(report, function, &text);
    cunei_format_path(&words, text.data ? text.data : "", 60);
    cunei_paragraph_put(&line, "  ", CUNEI_INK_DIM, words.data ? words.data : "");
    cunei_buffer_clear(&words);
    cunei_format_duration(&words, facts->total_ns);
    cunei_buffer_append_text(&words, " in ");
    cunei_format_several(&words, facts->calls, "call");
    if (facts->resumes > 0) {
        cunei_buffer_append_text(&words, ", ");
        cunei_format_several(&words, facts->resumes, "resume");
    }
    cunei_paragraph_put(&line, " · ", CUNEI_INK_PLAIN, words.data ? words.data : "");
    cunei_buffer_fini(&text);
    cunei_buffer_fini(&words);
    return cunei_paragraph_print(&line, report->out);
}

int cunei_report_callers(const struct cunei_report *report)
{
    struct cunei_edge *edges = NULL;
    uint32_t count = 0;

    int rc = find_edges(report, &edges, &count);
    for (uint32_t i = 0; rc == 0 && i < count;) {
        uint32_t callee = edges[i].callee;
        struct cunei_table table;
        if (i > 0)
            (void)fputc('\n', report->out);
        rc = cunei_report_head(report, callee - 1);
        cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
        for (; i < count && edges[i].callee == callee; i++)
            add_row(report, &table, &edges[i]);
        if (rc == 0)
            rc = cunei_table_print(&table, &report->options->style, report->out);
        cunei_table_fini(&table);
    }
    free(edges);
    return rc < 0 ? rc : cunei_report_notes(report, 1, 1);
}

static void put_names(struct cunei_json *json, const struct cunei_function *names)
{
    cunei_json_text(json, "module", names ? names->module : NULL);
    cunei_json_text(json, "qualname", names ? names->qualname : NULL);
    cunei_json_text(json, "file", names ? names->file : NULL);
    cunei_json_number(json, "line", names ? names->line : 0);
}

int cunei_report_callers_json(const struct cunei_report *report,
                              struct cunei_json *json)
{
    const struct cunei_function *functions = report->survey->functions.items;
    struct cunei_edge *edges = NULL;
    uint32_t count = 0;

    int rc = find_edges(report, &edges, &count);
    if (rc < 0)
        return rc;
    cunei_json_open(json, "callers", '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct cunei_edge *edge = &edges[i];
        cunei_json_open(json, NULL, '{');
        put_names(json, &functions[edge->callee - 1]);
        cunei_json_number(json, "calls", edge->calls);
        cunei_json_number(json, "resumes", edge->resumes);
        cunei_json_number(json, "total_ns", edge->total);
        cunei_json_open(json, "caller", '{');
        put_names(json, edge->caller ? &functions[edge->caller - 1] : NULL);
        cunei_json_close(json, '}');
        cunei_json_close(json, '}');
    }
    cunei_json_close(json, ']');
    free(edges);
    return 0;
}
