// SPDX-License-Identifier: MIT
/*
 * One page for any browser: flame graph, table, timeline (web/page.html).
 *
 * The page holds the call tree, the functions and, of each thread, the calls that are
 * long enough to be seen: a page with millions of them would not open.
 */
#include "export/html/html.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/function_numbers.h"
#include "analysis/waiting.h"
#include "base/pattern.h"
#include "export/export.h"
#include "export/selection.h"
#include "export/task_names.h"
#include "export/writers.h"
#include "model/facts/call_tree.h"
#include "model/facts/import_system.h"
#include "model/facts/waiting_functions.h"
#include "text/format.h"
#include "text/names.h"

#define SLICES_MAX 150000u
/* Of them, for calls of threads that have only shorter ones. */
#define ROOM_LEAST (SLICES_MAX / 8)

/* The least duration of which there are few enough, from what is known of each
 * function's: to a sixteenth. */
static void find_hidden(struct cunei_html *html)
{
    const struct cunei_analysis *analysis = &html->analysis;
    uint64_t counts[CUNEI_HISTOGRAM_BUCKETS] = {0}, count = 0;
    uint32_t bucket = CUNEI_HISTOGRAM_BUCKETS;

    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        const struct cunei_histogram *histogram = &analysis->facts[i].histogram;
        for (uint32_t j = 0; j < histogram->span; j++)
            counts[histogram->first + j] += histogram->counts[j];
    }
    while (bucket > 0 && count + counts[bucket - 1] <= SLICES_MAX)
        count += counts[--bucket];
    /* One more, for both ends are rounded on the page: no shorter ones come in. */
    html->hidden_ns = bucket > 0 ? cunei_histogram_least(bucket) + 1 : 0;
    html->hidden_room =
        SLICES_MAX - count > ROOM_LEAST ? (uint32_t)(SLICES_MAX - count) : ROOM_LEAST;
}

/* What the page must know of a function to fold it: bits, as web/base.js reads them. */
static unsigned kind_of(const struct cunei_function *function,
                        const struct cunei_patterns *project)
{
    bool is_own = cunei_patterns_include(project, function->module, function->qualname,
                                         function->file);

    return (cunei_is_waiting_function(function) ? 1u : 0) |
           (cunei_is_import_system(function) ? 2u : 0) |
           (cunei_is_imported_module(function) ? 4u : 0) | (is_own ? 8u : 0);
}

/* [name, module, file, line, calls, resumes, self, total, mean, max, raised, p50, p99,
 * kind] */
static int put_functions(struct cunei_html *html)
{
    static const struct cunei_analysis_function none = {0};
    const struct cunei_analysis *analysis = &html->analysis;
    struct cunei_buffer *out = &html->page.text;
    struct cunei_patterns project = {.project = cunei_analysis_project(analysis)};
    int rc = cunei_patterns_add(&project, true, CUNEI_PATTERN_PROJECT, NULL, 0);

    cunei_buffer_append_text(out, ",\n\"functions\":[");
    for (uint32_t i = 0; rc == 0 && i < analysis->functions.count; i++) {
        const struct cunei_analysis_function *facts =
            i < html->fact_count ? &analysis->facts[i] : &none;
        cunei_buffer_append_text(out, i > 0 ? ",\n[" : "\n[");
        cunei_page_function(&html->page, &analysis->functions.items[i]);
        cunei_buffer_format(out,
                            ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                            ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u]",
                            facts->calls, facts->resumes, facts->self_ns,
                            facts->total_ns, cunei_function_mean_ns(facts),
                            facts->max_ns, facts->raised,
                            cunei_function_quantile_ns(facts, 0.5),
                            cunei_function_quantile_ns(facts, 0.99),
                            kind_of(&analysis->functions.items[i], &project));
        rc = cunei_page_flow(&html->page);
    }
    cunei_buffer_append_text(out, "]");
    cunei_patterns_fini(&project);
    return rc;
}

static void put_facts(struct cunei_buffer *text, const struct cunei_html *html)
{
    const struct cunei_analysis *analysis = &html->analysis;
    size_t processes = 0;

    for (size_t i = 0; i < analysis->process_count; i++)
        processes += cunei_html_has_process(html, i);
    cunei_format_duration(text, cunei_analysis_duration_ns(analysis));
    cunei_buffer_append_text(text, " · ");
    cunei_format_several(text, analysis->calls, "call");
    cunei_buffer_append_text(text, " · ");
    cunei_format_several(text, analysis->thread_count, "thread");
    if (processes > 1)
        cunei_buffer_format(text, " · %zu processes", processes);
    if (analysis->lost > 0) {
        cunei_buffer_append_text(text, " · ");
        cunei_format_several(text, analysis->lost, "lost event");
    }
}

static void put_head(struct cunei_html *html)
{
    const struct cunei_analysis *analysis = &html->analysis;
    const struct cunei_waiting waiting = cunei_waiting_of(analysis, false);
    const struct cunei_process *first =
        analysis->process_count > 0 ? &analysis->processes[0].process->description
                                    : NULL;
    struct cunei_buffer *out = &html->page.text, text = {0};

    if (first)
        cunei_format_program(&text, first);
    cunei_buffer_append_text(out, "{\"program\":");
    cunei_page_text(out, cunei_buffer_text(&text), text.size);
    cunei_buffer_append_text(out, ",\"python\":");
    const char *python = first && first->python ? first->python : "";
    cunei_page_text(out, python, strlen(python));
    cunei_buffer_clear(&text);
    put_facts(&text, html);
    cunei_buffer_append_text(out, ",\"facts\":");
    cunei_page_text(out, cunei_buffer_text(&text), text.size);
    cunei_buffer_append_text(out, ",\"directory\":");
    const char *directory = first && first->directory ? first->directory : "";
    cunei_page_text(out, directory, strlen(directory));
    cunei_buffer_format(out,
                        ",\"begin_ns\":%" PRIu64 ",\"duration_ns\":%" PRIu64
                        ",\"threads_ns\":%" PRIu64 ",\"working_ns\":%" PRIu64
                        ",\"hidden_ns\":%" PRIu64,
                        cunei_export_since(html->export, analysis->begin_ns),
                        cunei_analysis_duration_ns(analysis), waiting.threads_ns,
                        waiting.base_ns, html->hidden_ns);
    cunei_buffer_fini(&text);
}

static int put_page(struct cunei_html *html)
{
    find_hidden(html);
    html->fact_count = html->analysis.functions.count;
    cunei_page_begin(&html->page);
    cunei_html_put_summary(html);
    cunei_page_data(&html->page);
    put_head(html);
    int rc = cunei_html_put_tree(html);
    if (rc == 0)
        rc = cunei_html_put_sources(html);
    if (rc == 0)
        rc = cunei_html_put_threads(html);
    if (rc == 0)
        rc = cunei_html_put_tables(html);
    if (rc == 0)
        rc = cunei_html_put_user_tables(html);
    if (rc == 0)
        rc = put_functions(html);
    cunei_buffer_append_text(&html->page.text, "}");
    return rc == 0 ? cunei_page_end(&html->page) : rc;
}

/* A tree with a node for each thread may be too large where one for all is not. */
static int analyze(struct cunei_html *html)
{
    const struct cunei_export_options *wanted = html->export->options;
    struct cunei_analysis_options options = {
        .tree = true,
        .threads = true,
        .lines = wanted->from_ns == 0 && wanted->until_ns == UINT64_MAX &&
                 wanted->thread_count == 0,
        .user_events = true,
    };

    int rc = cunei_selection_analyze(html->export, &options, &html->analysis);
    if (rc < 0 || html->analysis.tree->folded == 0 || html->analysis.thread_count < 2)
        return rc;
    cunei_analysis_fini(&html->analysis);
    options.threads = false;
    return cunei_selection_analyze(html->export, &options, &html->analysis);
}

int cunei_export_html(struct cunei_export *export)
{
    struct cunei_html html = {.export = export, .page = {.out = export->out}};

    int rc = analyze(&html);
    if (rc < 0)
        return rc;
    const struct cunei_export analyzed = *export;
    rc = cunei_task_names_fill(export, &html.analysis);
    if (rc == 0)
        rc = put_page(&html);
    /* The timeline has counted the same ones again. */
    export->threads = analyzed.threads;
    export->calls = analyzed.calls;
    export->damage_count = analyzed.damage_count;
    /* Only the first `fact_count` functions have facts. */
    html.analysis.functions.count = html.fact_count;
    cunei_page_fini(&html.page);
    cunei_tree_free(html.tree);
    cunei_analysis_fini(&html.analysis);
    return rc;
}
