// SPDX-License-Identifier: MIT
/* The callers of a function: how often each called it, and the time of these calls. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/function_numbers.h"
#include "model/facts/call_edges.h"
#include "report/function_choice.h"
#include "report/section.h"
#include "text/format.h"
#include "text/json.h"
#include "text/paragraph.h"
#include "text/table.h"
#include "text/terminal_text.h"

/* The caller of calls outside samples, for a function that a budget sampled. */
#define OTHERS UINT32_MAX

/* By callee, then the costliest caller first, OTHERS last. */
static int compare_edges(const void *a, const void *b)
{
    const struct cunei_edge *one = a, *two = b;

    if (one->callee != two->callee)
        return one->callee < two->callee ? -1 : 1;
    if ((one->caller == OTHERS) != (two->caller == OTHERS))
        return one->caller == OTHERS ? 1 : -1;
    if (one->total != two->total)
        return one->total > two->total ? -1 : 1;
    if (one->calls != two->calls)
        return one->calls > two->calls ? -1 : 1;
    return one->caller < two->caller ? -1 : one->caller > two->caller;
}

static uint64_t rest_of(uint64_t all, uint64_t known)
{
    return all > known ? all - known : 0;
}

/* Add a row for the estimated calls of each callee that no caller is known of, so that
 * its rows add up to its total. */
static void add_others(const struct cunei_report *report, struct cunei_edge *edges,
                       uint32_t *count)
{
    uint32_t end = *count;

    for (uint32_t i = 0; i < end;) {
        uint32_t callee = edges[i].callee;
        const struct cunei_analysis_function *facts =
            &report->analysis->facts[callee - 1];
        struct cunei_edge known = {0};
        for (; i < end && edges[i].callee == callee; i++) {
            known.calls += edges[i].calls;
            known.resumes += edges[i].resumes;
            known.total += edges[i].total;
        }
        const struct cunei_edge others = {
            .caller = OTHERS,
            .callee = callee,
            .calls = rest_of(facts->calls, known.calls),
            .resumes = rest_of(facts->resumes, known.resumes),
            .total = rest_of(facts->total_ns, known.total),
        };
        if (cunei_function_is_estimated(facts) && others.calls + others.resumes > 0)
            edges[(*count)++] = others;
    }
}

static int collect_edges(const struct cunei_report *report, struct cunei_edge **found,
                         uint32_t *count)
{
    const struct cunei_edges *edges = report->analysis->edges;
    const char *name = report->choice->names[0];
    struct cunei_function_choice wanted;

    int rc = cunei_function_choice_init(&wanted, report, name);
    if (rc < 0)
        return rc;
    *count = 0;
    *found = calloc(2 * (size_t)edges->count, sizeof(**found));
    for (uint32_t i = 1; *found && i < edges->count; i++) {
        const struct cunei_edge *edge = &edges->items[i];
        if (edge->callee > 0 && edge->calls + edge->resumes + edge->total > 0 &&
            cunei_function_choice_has(
                &wanted, &report->analysis->functions.items[edge->callee - 1]))
            (*found)[(*count)++] = *edge;
    }
    cunei_function_choice_fini(&wanted);
    if (!*found)
        return -ENOMEM;
    qsort(*found, *count, sizeof(**found), compare_edges);
    add_others(report, *found, count);
    qsort(*found, *count, sizeof(**found), compare_edges);
    if (*count > 0)
        return 0;
    free(*found);
    *found = NULL;
    return -ENOENT;
}

/* Owned by the caller.  -ENOENT, -EINVAL and -ENOMEM as of cunei_report_print. */
static int find_edges(const struct cunei_report *report, struct cunei_edge **found,
                      uint32_t *count)
{
    int rc = collect_edges(report, found, count);

    if (rc < 0 && report->options->missing)
        report->options->missing->name = report->choice->names[0];
    return rc;
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
    const struct cunei_analysis_function *callee =
        &report->analysis->facts[edge->callee - 1];
    bool itself = edge->caller == edge->callee;
    /* Recursive calls have no time: it counts for the caller of the outermost one. */
    bool has_time = edge->total > 0;
    uint32_t caller = edge->caller - 1;
    const char *sign = cunei_function_is_estimated(callee) ? "~" : "";

    struct cunei_buffer *time = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (has_time) {
        cunei_buffer_append_text(time, sign);
        cunei_format_duration(time, edge->total);
    }
    struct cunei_buffer *share = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (has_time)
        cunei_format_percent(share, edge->total, callee->total_ns);
    struct cunei_buffer *calls = cunei_table_cell(table, CUNEI_INK_PLAIN);
    cunei_buffer_append_text(calls, sign);
    cunei_format_count(calls, edge->calls);
    struct cunei_buffer *resumes = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (edge->resumes > 0) {
        cunei_buffer_append_text(resumes, sign);
        cunei_format_count(resumes, edge->resumes);
    }
    bool is_named = edge->caller > 0 && edge->caller != OTHERS;
    struct cunei_buffer *name =
        cunei_table_cell(table, is_named ? CUNEI_INK_STRONG : CUNEI_INK_DIM);
    if (itself)
        cunei_buffer_append_text(name, "itself");
    else if (!is_named)
        cunei_buffer_append_text(name, edge->caller == OTHERS
                                           ? "other callers, in no sample"
                                           : "no recorded function");
    else
        cunei_report_name(report, caller, name);
    struct cunei_buffer *place = cunei_table_cell(table, CUNEI_INK_DIM);
    if (is_named && !itself)
        cunei_report_place(report, caller, place);
}

static int print(const struct cunei_report *report, struct cunei_report_rows *rows)
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
    *rows = (struct cunei_report_rows){1, 1};
    return rc;
}

static int print_json(const struct cunei_report *report, struct cunei_json *json)
{
    const struct cunei_function *functions = report->analysis->functions.items;
    struct cunei_edge *edges = NULL;
    uint32_t count = 0;

    int rc = find_edges(report, &edges, &count);
    if (rc < 0)
        return rc;
    cunei_json_open(json, "callers", '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct cunei_edge *edge = &edges[i];
        const struct cunei_function *callee = &functions[edge->callee - 1];
        bool is_named = edge->caller > 0 && edge->caller != OTHERS;
        const struct cunei_function *caller =
            is_named ? &functions[edge->caller - 1] : NULL;
        cunei_json_open(json, NULL, '{');
        cunei_report_put_function(json, "qualname", callee, callee->line);
        cunei_json_number(json, "calls", edge->calls);
        cunei_json_number(json, "resumes", edge->resumes);
        cunei_json_number(json, "total_ns", edge->total);
        if (cunei_function_is_estimated(&report->analysis->facts[edge->callee - 1]))
            cunei_json_flag(json, "estimated", true);
        if (edge->caller == OTHERS)
            cunei_json_flag(json, "others", true);
        cunei_json_open(json, "caller", '{');
        cunei_report_put_function(json, "qualname", caller, caller ? caller->line : 0);
        cunei_json_close(json, '}');
        cunei_json_close(json, '}');
    }
    cunei_json_close(json, ']');
    free(edges);
    return 0;
}

static bool has_rows(const struct cunei_analysis *analysis)
{
    return !cunei_report_is_without_calls(analysis);
}

const struct cunei_report_section cunei_report_section_callers = {
    .name = "callers",
    .value = "NAME",
    .help = "show the callers of a function: its name, a glob of\n"
            "it, or a pattern",
    .needs = CUNEI_REPORT_NEEDS_EDGES,
    .has_rows = has_rows,
    .print = print,
    .print_json = print_json,
};
