// SPDX-License-Identifier: MIT
/* The threads of a report: how long they lived, worked and waited. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "report/recording_cost.h"
#include "report/section.h"
#include "text/format.h"
#include "text/table.h"

static const struct cunei_column columns[] = {
    {.head = "thread", .min = 10},
    {.head = "pid", .rank = 7},
    {.head = "tid", .rank = 6},
    {.head = "begin", .rank = 8},
    {.head = "end", .rank = 9},
    {.head = "wall"},
    {.head = "CPU"},
    {.head = "waiting", .rank = 1},
    {.head = "%", .rank = 2},
    {.head = "gc", .rank = 5},
    {.head = "calls", .rank = 3},
    {.head = "events", .rank = 10},
    {.head = "last in", .rank = 4, .min = 10},
};

static void add_row(const struct cunei_report *report, struct cunei_table *table,
                    const struct cunei_analysis_thread *thread)
{
    const struct cunei_analysis *analysis = report->analysis;
    uint64_t wall_ns = thread->end_ns - thread->begin_ns;

    cunei_buffer_append_text(cunei_table_cell(table, CUNEI_INK_STRONG), thread->name);
    struct cunei_buffer *pid = cunei_table_cell(table, CUNEI_INK_DIM);
    if (analysis->process_count > 1)
        cunei_buffer_format(pid, "%" PRIu32,
                            analysis->processes[thread->process].process->metadata.pid);
    cunei_buffer_format(cunei_table_cell(table, CUNEI_INK_DIM), "%" PRIu32,
                        thread->tid);
    cunei_report_offset(report, thread->begin_ns,
                        cunei_table_cell(table, CUNEI_INK_DIM));
    cunei_report_offset(report, thread->end_ns, cunei_table_cell(table, CUNEI_INK_DIM));
    cunei_format_duration(cunei_table_cell(table, CUNEI_INK_PLAIN), wall_ns);
    struct cunei_buffer *cpu =
        cunei_table_cell(table, cunei_report_heat(report, thread->cpu_ns));
    if (thread->has_cpu)
        cunei_format_duration(cpu, thread->cpu_ns);
    struct cunei_buffer *waiting = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (thread->has_cpu)
        cunei_format_duration(waiting, thread->waiting_ns);
    struct cunei_buffer *share = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (thread->has_cpu)
        cunei_format_percent(share, thread->waiting_ns,
                             thread->cpu_ns + thread->waiting_ns);
    struct cunei_buffer *gc = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (thread->collections.pause > 0)
        cunei_format_duration(gc, thread->collections.pause);
    cunei_format_count(cunei_table_cell(table, CUNEI_INK_PLAIN), thread->calls);
    cunei_format_count(cunei_table_cell(table, CUNEI_INK_PLAIN), thread->events);
    struct cunei_buffer *last = cunei_table_cell(table, CUNEI_INK_DIM);
    if (thread->open_count > 0)
        cunei_report_name(report, thread->open[thread->open_count - 1], last);
}

/* As many as asked for, those with the most CPU time, in their own order. */
static size_t choose(const struct cunei_report *report,
                     struct cunei_recording_cost *costs)
{
    const struct cunei_analysis *analysis = report->analysis;
    size_t count = analysis->thread_count;
    uint64_t limit = report->options->limit;

    for (size_t i = 0; i < count; i++)
        costs[i] = (struct cunei_recording_cost){
            analysis->threads[i].cpu_ns,
            analysis->threads[i].end_ns - analysis->threads[i].begin_ns, i};
    if (limit == 0 || limit >= count)
        return count;
    cunei_recording_cost_sort(costs, count);
    cunei_recording_cost_restore(costs, (size_t)limit);
    return (size_t)limit;
}

int cunei_report_threads(const struct cunei_report *report)
{
    size_t count = report->analysis->thread_count;
    struct cunei_recording_cost *costs = calloc(count + 1, sizeof(*costs));
    struct cunei_table table;
    int rc = 0;
    if (!costs)
        return -ENOMEM;

    size_t shown = choose(report, costs);
    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < shown; i++)
        add_row(report, &table, &report->analysis->threads[costs[i].index]);
    if (shown > 0)
        rc = cunei_table_print(&table, &report->options->style, report->out);
    cunei_table_fini(&table);
    free(costs);
    return rc < 0 ? rc : cunei_report_notes(report, (uint32_t)shown, (uint32_t)count);
}
