// SPDX-License-Identifier: MIT
/* The asyncio tasks of a report: run time and wait time. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/vector.h"
#include "report/section.h"
#include "text/format.h"
#include "text/json.h"
#include "text/table.h"

static const struct cunei_column columns[] = {
    {.head = "run"},
    {.head = "%", .rank = 2},
    {.head = "wait"},
    {.head = "switches", .rank = 1},
    {.head = "mean run", .rank = 5},
    {.head = "begin", .rank = 6},
    {.head = "pid", .rank = 8},
    {.head = "ended", .rank = 7, .min = 8},
    {.head = "task", .min = 12},
    {.head = "coroutine", .rank = 3, .min = 12},
    {.head = "", .rank = 4, .min = 14, .is_path = true},
};

static void put_name(struct cunei_buffer *out, const struct cunei_analysis_task *task)
{
    if (task->name && task->name[0])
        cunei_buffer_append_text(out, task->name);
    else
        cunei_buffer_format(out, "task %" PRIu64, task->number);
}

static void add_row(const struct cunei_report *report, struct cunei_table *table,
                    const struct cunei_analysis_task *task)
{
    enum cunei_ink heat = cunei_report_heat(report, task->run_ns);

    cunei_format_duration(cunei_table_cell(table, heat), task->run_ns);
    cunei_format_percent(cunei_table_cell(table, heat), task->run_ns,
                         report->waiting.threads_ns);
    cunei_format_duration(cunei_table_cell(table, CUNEI_INK_PLAIN), task->wait_ns);
    cunei_format_count(cunei_table_cell(table, CUNEI_INK_PLAIN), task->steps);
    cunei_format_duration(cunei_table_cell(table, CUNEI_INK_PLAIN),
                          task->run_ns / (task->steps ? task->steps : 1));
    cunei_report_offset(report, task->begin_ns, cunei_table_cell(table, CUNEI_INK_DIM));
    cunei_report_add_pid(report, table, task->process);
    struct cunei_buffer *ended =
        cunei_table_cell(table, task->has_raised ? CUNEI_INK_BAD : CUNEI_INK_DIM);
    cunei_buffer_append_text(ended, task->has_raised  ? "raised"
                                    : task->has_ended ? "returned"
                                                      : "");
    put_name(cunei_table_cell(table, CUNEI_INK_STRONG), task);
    struct cunei_buffer *function = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (task->function != UINT32_MAX)
        cunei_report_name(report, task->function, function);
    struct cunei_buffer *place = cunei_table_cell(table, CUNEI_INK_DIM);
    if (task->function != UINT32_MAX)
        cunei_report_place(report, task->function, place);
}

static int compare(const void *a, const void *b)
{
    const struct cunei_analysis_task *one =
        *(const struct cunei_analysis_task *const *)a;
    const struct cunei_analysis_task *two =
        *(const struct cunei_analysis_task *const *)b;

    if (one->run_ns != two->run_ns)
        return one->run_ns > two->run_ns ? -1 : 1;
    if (one->process != two->process)
        return one->process < two->process ? -1 : 1;
    return one->number < two->number ? -1 : one->number > two->number;
}

static int print(const struct cunei_report *report, struct cunei_report_rows *rows)
{
    const struct cunei_analysis *analysis = report->analysis;
    size_t count = analysis->task_count, shown = cunei_report_limit(report, count);
    struct cunei_table table;
    const struct cunei_analysis_task **order =
        cunei_vector_sort(analysis->tasks, sizeof(*analysis->tasks), count, compare);
    if (!order)
        return -ENOMEM;

    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < shown; i++)
        add_row(report, &table, order[i]);
    free((void *)order);
    int rc =
        cunei_report_print_table(report, &table, "No asyncio task was recorded.\n");
    *rows = (struct cunei_report_rows){shown, count};
    return rc;
}

static int print_json(const struct cunei_report *report, struct cunei_json *json)
{
    const struct cunei_analysis *analysis = report->analysis;

    cunei_json_open(json, "tasks", '[');
    for (size_t i = 0; i < analysis->task_count; i++) {
        const struct cunei_analysis_task *task = &analysis->tasks[i];
        const struct cunei_function *function =
            task->function < analysis->functions.count
                ? &analysis->functions.items[task->function]
                : NULL;
        cunei_json_open(json, NULL, '{');
        cunei_json_number(json, "pid", cunei_report_pid(report, task->process));
        cunei_json_number(json, "task", task->number);
        cunei_json_text(json, "name", task->name);
        cunei_report_put_function(json, "function", function,
                                  function ? function->line : 0);
        cunei_json_number(json, "switches", task->steps);
        cunei_json_number(json, "run_ns", task->run_ns);
        cunei_json_number(json, "wait_ns", task->wait_ns);
        cunei_json_number(json, "begin_ns", task->begin_ns);
        cunei_json_number(json, "end_ns", task->end_ns);
        cunei_json_flag(json, "ended", task->has_ended);
        cunei_json_flag(json, "raised", task->has_raised);
        cunei_json_close(json, '}');
    }
    cunei_json_close(json, ']');
    return 0;
}

static bool has_rows(const struct cunei_analysis *analysis)
{
    return analysis->task_count > 0;
}

const struct cunei_report_section cunei_report_section_tasks = {
    .name = "tasks",
    .help = "show asyncio tasks: run time, wait time, switches",
    .has_rows = has_rows,
    .print = print,
    .print_json = print_json,
};
