// SPDX-License-Identifier: MIT
/* The threads of a report: how long they lived, worked and waited. */
#include <inttypes.h>

#include "view/format.h"
#include "view/section.h"
#include "view/table.h"

static const struct cunei_column columns[] = {
    {.head = "thread", .min = 10},
    {.head = "pid", .rank = 6},
    {.head = "tid", .rank = 5},
    {.head = "begin", .rank = 7},
    {.head = "wall"},
    {.head = "CPU"},
    {.head = "waiting", .rank = 1},
    {.head = "%", .rank = 2},
    {.head = "calls", .rank = 3},
    {.head = "events", .rank = 8},
    {.head = "last in", .rank = 4, .min = 10},
};

static void add_row(const struct cunei_report *report, struct cunei_table *table,
                    const struct cunei_survey_thread *thread)
{
    const struct cunei_survey *survey = report->survey;
    uint64_t wall_ns = thread->end_ns - thread->begin_ns;

    cunei_buffer_append_text(cunei_table_cell(table, CUNEI_INK_STRONG), thread->name);
    struct cunei_buffer *pid = cunei_table_cell(table, CUNEI_INK_DIM);
    if (survey->process_count > 1)
        cunei_buffer_format(pid, "%" PRIu32,
                            survey->processes[thread->process].process->metadata.pid);
    cunei_buffer_format(cunei_table_cell(table, CUNEI_INK_DIM), "%" PRIu32,
                        thread->tid);
    struct cunei_buffer *begin = cunei_table_cell(table, CUNEI_INK_DIM);
    cunei_buffer_append_text(begin, "+");
    cunei_format_duration(begin, thread->begin_ns - survey->begin_ns);
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
    cunei_format_count(cunei_table_cell(table, CUNEI_INK_PLAIN), thread->calls);
    cunei_format_count(cunei_table_cell(table, CUNEI_INK_PLAIN), thread->events);
    struct cunei_buffer *last = cunei_table_cell(table, CUNEI_INK_DIM);
    if (thread->open_count > 0)
        cunei_report_name(report, thread->open[thread->open_count - 1], last);
}

int cunei_report_threads(const struct cunei_report *report)
{
    struct cunei_table table;
    size_t count = report->survey->thread_count;
    int rc = 0;

    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < count; i++)
        add_row(report, &table, &report->survey->threads[i]);
    if (count > 0)
        rc = cunei_table_print(&table, &report->options->style, report->out);
    cunei_table_fini(&table);
    return rc < 0 ? rc : cunei_report_notes(report, (uint32_t)count, (uint32_t)count);
}
