// SPDX-License-Identifier: MIT
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analysis/analyzer.h"
#include "report/section.h"
#include "text/format.h"
#include "text/names.h"
#include "text/table.h"

/* Shares of the wall time from which on a number is coloured. */
#define HOT_SHARE  5  /* one fifth */
#define WARM_SHARE 20 /* one twentieth */

enum cunei_ink cunei_report_heat(const struct cunei_report *report, uint64_t ns)
{
    if (ns == 0)
        return CUNEI_INK_PLAIN;
    return ns >= report->duration_ns / HOT_SHARE    ? CUNEI_INK_HOT
           : ns >= report->duration_ns / WARM_SHARE ? CUNEI_INK_WARM
                                                    : CUNEI_INK_PLAIN;
}

void cunei_report_offset(const struct cunei_report *report, uint64_t ns,
                         struct cunei_buffer *out)
{
    uint64_t origin_ns = report->analysis->begin_ns;

    cunei_buffer_append_text(out, "+");
    cunei_format_duration(out, ns > origin_ns ? ns - origin_ns : 0);
}

void cunei_report_name(const struct cunei_report *report, uint32_t function,
                       struct cunei_buffer *out)
{
    const struct cunei_functions *functions = &report->analysis->functions;

    if (function < functions->count)
        cunei_format_function(out, &functions->items[function]);
    else
        cunei_buffer_append_text(out, "?");
}

void cunei_report_place(const struct cunei_report *report, uint32_t function,
                        struct cunei_buffer *out)
{
    const struct cunei_functions *functions = &report->analysis->functions;

    if (function >= functions->count)
        return;
    cunei_format_place(out, &functions->items[function], report->home);
}

/* Calls without resumes tell too little of a generator: both stay. */
static const struct cunei_column columns[] = {
    {.head = "self"},
    {.head = "%", .rank = 1},
    {.head = "total", .rank = 2},
    {.head = "%tree", .rank = 7},
    {.head = "calls"},
    {.head = "resumes"},
    {.head = "suspended", .rank = 4},
    {.head = "mean", .rank = 5},
    {.head = "≈p50", .rank = 9},
    {.head = "≈p99", .rank = 8},
    {.head = "max", .rank = 6},
    {.head = "function", .min = 20},
    {.head = "", .rank = 3, .min = 14, .is_path = true},
};

#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

/* What is known of single activations, if one was seen from its begin to its end. */
static void add_activation(struct cunei_table *table,
                           const struct cunei_analysis_function *facts, uint64_t ns)
{
    struct cunei_buffer *cell = cunei_table_cell(table, CUNEI_INK_PLAIN);

    if (facts->histogram.span > 0)
        cunei_format_duration(cell, ns);
    else
        cunei_buffer_append_text(cell, "–");
}

/* A cell of a number; what a budget had to estimate is marked. */
static struct cunei_buffer *number_cell(struct cunei_table *table, enum cunei_ink ink,
                                        bool is_estimated)
{
    struct cunei_buffer *cell = cunei_table_cell(table, ink);

    if (is_estimated)
        cunei_buffer_append_text(cell, "~");
    return cell;
}

static void add_row(const struct cunei_report *report, struct cunei_table *table,
                    uint32_t index)
{
    const struct cunei_analysis_function *facts = &report->analysis->facts[index];
    uint64_t wall_ns = report->duration_ns;
    enum cunei_ink heat = cunei_report_heat(report, facts->self_ns);

    bool guessed = cunei_report_is_estimated(facts);

    cunei_format_duration(
        number_cell(table, heat, cunei_report_is_self_estimated(facts)),
        facts->self_ns);
    cunei_format_percent(cunei_table_cell(table, heat), facts->self_ns, wall_ns);
    cunei_format_duration(number_cell(table, CUNEI_INK_PLAIN, guessed),
                          facts->total_ns);
    cunei_format_percent(cunei_table_cell(table, CUNEI_INK_PLAIN), facts->total_ns,
                         wall_ns);
    cunei_format_count(
        number_cell(table, CUNEI_INK_PLAIN, guessed && !facts->guess.is_counted),
        facts->calls);
    struct cunei_buffer *resumes =
        number_cell(table, CUNEI_INK_PLAIN, guessed && facts->resumes > 0);
    if (facts->resumes > 0)
        cunei_format_count(resumes, facts->resumes);
    struct cunei_buffer *suspended = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (guessed && facts->resumes > 0)
        cunei_buffer_append_text(suspended, "–"); /* nobody has estimated it */
    else if (facts->suspended_ns > 0)
        cunei_format_duration(suspended, facts->suspended_ns);
    struct cunei_buffer *mean = number_cell(table, CUNEI_INK_PLAIN, guessed);
    if (facts->calls + facts->resumes > 0)
        cunei_format_duration(mean, cunei_report_mean_ns(facts));
    else
        cunei_buffer_append_text(mean, "–"); /* it was open when recording began */
    add_activation(table, facts, cunei_report_quantile_ns(facts, 0.5));
    add_activation(table, facts, cunei_report_quantile_ns(facts, 0.99));
    add_activation(table, facts, facts->max_ns);
    cunei_report_name(report, index, cunei_table_cell(table, CUNEI_INK_STRONG));
    cunei_report_place(report, index, cunei_table_cell(table, CUNEI_INK_DIM));
}

int cunei_report_functions(const struct cunei_report *report)
{
    struct cunei_ranking ranking;
    struct cunei_table table;

    int rc = cunei_ranking_init(&ranking, report);
    if (rc < 0)
        return rc;
    uint64_t limit = report->options->limit;
    uint32_t shown =
        limit > 0 && limit < ranking.count ? (uint32_t)limit : ranking.count;
    cunei_table_init(&table, columns, COLUMN_COUNT);
    for (uint32_t i = 0; i < shown; i++)
        add_row(report, &table, ranking.indices[i]);
    if (shown > 0)
        rc = cunei_table_print(&table, &report->options->style, report->out);
    cunei_table_fini(&table);
    if (rc == 0)
        rc = cunei_report_notes(report, shown, ranking.count);
    cunei_ranking_fini(&ranking);
    return rc;
}

static int print_text(const struct cunei_report *report)
{
    const struct cunei_report_options *options = report->options;
    int rc = cunei_report_title(report);

    if (rc < 0)
        return rc;
    (void)fputc('\n', report->out);
    if (options->callers)
        return cunei_report_callers(report);
    if (options->lines || (options->all_lines && report->analysis->line_events > 0))
        return cunei_report_lines(report);
    if (options->tree)
        return cunei_report_tree(report);
    if (options->threads)
        return cunei_report_threads(report);
    if (options->processes)
        return cunei_report_processes(report);
    if (options->tasks)
        return cunei_report_tasks(report);
    if (options->exceptions)
        return cunei_report_exceptions(report);
    if (options->regions)
        return cunei_report_regions(report);
    if (options->counters)
        return cunei_report_counters(report);
    if (options->marks)
        return cunei_report_marks(report);
    if (options->tokens)
        return cunei_report_tokens(report);
    return cunei_report_functions(report);
}

static bool is_about_said(const struct cunei_report_options *options)
{
    return options->regions || options->counters || options->marks || options->tokens;
}

int cunei_report_print(const struct cunei_trace *trace,
                       const struct cunei_report_options *options, FILE *out,
                       struct cunei_trace_error *error)
{
    const struct cunei_analysis_options wanted = {
        .processes = options->chosen,
        .tree = options->tree || (options->json && options->regions),
        .edges = options->callers != NULL,
        .said = options->json || is_about_said(options),
        .lines = options->json || options->lines || options->all_lines,
        .progress = options->progress,
        .progress_context = options->progress_context,
    };
    struct cunei_analysis analysis;

    int rc = cunei_analyze(&analysis, trace, &wanted);
    if (rc < 0)
        return rc;
    struct cunei_report report = {
        .trace = trace,
        .options = options,
        .analysis = &analysis,
        .duration_ns = cunei_analysis_duration_ns(&analysis),
        .home = analysis.process_count > 0 ? &analysis.processes[0].process->description
                                           : NULL,
        .out = out,
    };
    if (options->begin)
        options->begin(options->progress_context);
    rc = options->json ? cunei_report_json(&report) : print_text(&report);
    if (rc == 0 && analysis.damage_count > 0) {
        *error = analysis.damages[0];
        rc = -EBADMSG;
    }
    cunei_analysis_fini(&analysis);
    return rc;
}
