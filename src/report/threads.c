// SPDX-License-Identifier: MIT
/* The threads of a report: wall time, CPU time, waiting. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "report/cpu_rank.h"
#include "report/note.h"
#include "report/section.h"
#include "text/format.h"
#include "text/json.h"
#include "text/table.h"
#include "text/terminal_text.h"

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

static uint64_t wall_of(const struct cunei_analysis_thread *thread)
{
    return thread->end_ns - thread->begin_ns;
}

/* How much of its time a thread waited. */
static void put_share(const struct cunei_analysis_thread *thread,
                      struct cunei_buffer *cell)
{
    if (!thread->has_cpu)
        return;
    if (thread->is_cpu_partial)
        cunei_buffer_append_text(cell, "≥ ");
    cunei_format_percent(cell, thread->waiting_ns,
                         thread->is_cpu_partial ? wall_of(thread)
                                                : thread->cpu_ns + thread->waiting_ns);
}

static void add_row(const struct cunei_report *report, struct cunei_table *table,
                    const struct cunei_analysis_thread *thread)
{
    cunei_buffer_append_text(cunei_table_cell(table, CUNEI_INK_STRONG), thread->name);
    cunei_report_add_pid(report, table, thread->process);
    cunei_buffer_format(cunei_table_cell(table, CUNEI_INK_DIM), "%" PRIu32,
                        thread->tid);
    cunei_report_offset(report, thread->begin_ns,
                        cunei_table_cell(table, CUNEI_INK_DIM));
    cunei_report_offset(report, thread->end_ns, cunei_table_cell(table, CUNEI_INK_DIM));
    cunei_format_duration(cunei_table_cell(table, CUNEI_INK_PLAIN), wall_of(thread));
    struct cunei_buffer *cpu =
        cunei_table_cell(table, cunei_report_heat(report, thread->cpu_ns));
    if (thread->has_cpu)
        cunei_report_partial_duration(cpu, thread->cpu_ns, thread->is_cpu_partial);
    struct cunei_buffer *waiting = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (thread->has_cpu)
        cunei_report_partial_duration(waiting, thread->waiting_ns,
                                      thread->is_cpu_partial);
    put_share(thread, cunei_table_cell(table, CUNEI_INK_PLAIN));
    struct cunei_buffer *gc = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (thread->collections.pause > 0)
        cunei_format_duration(gc, thread->collections.pause);
    cunei_format_count(cunei_table_cell(table, CUNEI_INK_PLAIN), thread->calls);
    cunei_format_count(cunei_table_cell(table, CUNEI_INK_PLAIN), thread->events);
    struct cunei_buffer *last = cunei_table_cell(table, CUNEI_INK_DIM);
    if (thread->open_count > 0)
        cunei_report_name(report, thread->open[thread->open_count - 1], last);
}

/* The threads with the most CPU time, up to the limit, in their own order. */
static size_t choose(const struct cunei_report *report, struct cunei_cpu_rank *ranks)
{
    const struct cunei_analysis *analysis = report->analysis;
    size_t count = analysis->thread_count;
    uint64_t limit = report->options->limit;

    for (size_t i = 0; i < count; i++)
        ranks[i] = (struct cunei_cpu_rank){analysis->threads[i].cpu_ns,
                                           wall_of(&analysis->threads[i]), i};
    if (limit == 0 || limit >= count)
        return count;
    cunei_cpu_rank_sort(ranks, count);
    cunei_cpu_rank_restore(ranks, (size_t)limit);
    return (size_t)limit;
}

static int print(const struct cunei_report *report, struct cunei_report_rows *rows)
{
    size_t count = report->analysis->thread_count;
    struct cunei_cpu_rank *ranks = calloc(count + 1, sizeof(*ranks));
    struct cunei_table table;
    if (!ranks)
        return -ENOMEM;

    size_t shown = choose(report, ranks);
    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < shown; i++)
        add_row(report, &table, &report->analysis->threads[ranks[i].index]);
    int rc = cunei_report_print_table(report, &table, cunei_report_absence(report));
    free(ranks);
    *rows = (struct cunei_report_rows){shown, count};
    return rc;
}

/* The thread with the longest time of unknown CPU time, and how many have some. */
static const struct cunei_analysis_thread *find_partial(
    const struct cunei_analysis *analysis, size_t *count)
{
    const struct cunei_analysis_thread *found = NULL;

    *count = 0;
    for (size_t i = 0; i < analysis->thread_count; i++) {
        const struct cunei_analysis_thread *thread = &analysis->threads[i];
        if (!thread->is_cpu_partial)
            continue;
        ++*count;
        if (!found ||
            wall_of(thread) - thread->known_ns > wall_of(found) - found->known_ns)
            found = thread;
    }
    return found;
}

static void format_name(const struct cunei_analysis_thread *thread,
                        struct cunei_buffer *out)
{
    if (thread->name[0])
        cunei_terminal_text(out, thread->name, 24);
    else
        cunei_buffer_format(out, "thread %" PRIu32, thread->tid);
}

/* A thread records its CPU time with each full packet, and when it ends. */
static int print_notes(const struct cunei_report *report)
{
    struct cunei_buffer words = {0};
    size_t count;
    const struct cunei_analysis_thread *thread = find_partial(report->analysis, &count);

    if (!thread)
        return 0;
    cunei_buffer_append_text(&words, "CPU time and waiting of ");
    if (count > 1) {
        cunei_format_several(&words, count, "thread");
        cunei_buffer_append_text(&words,
                                 " are known up to their last full packet, of ");
        format_name(thread, &words);
    } else {
        format_name(thread, &words);
        cunei_buffer_append_text(&words, " are known up to its last full packet,");
    }
    cunei_buffer_append_text(&words, " for ");
    cunei_format_duration(&words, thread->known_ns);
    cunei_buffer_append_text(&words, " of ");
    cunei_format_duration(&words, wall_of(thread));
    return cunei_note_print(report, "known", CUNEI_INK_WARM, &words);
}

static void put_json(const struct cunei_report *report, struct cunei_json *json,
                     const struct cunei_analysis_thread *thread)
{
    const struct cunei_analysis *analysis = report->analysis;

    cunei_json_open(json, NULL, '{');
    cunei_json_number(json, "pid", cunei_report_pid(report, thread->process));
    cunei_json_number(json, "tid", thread->tid);
    cunei_json_text(json, "name", thread->name);
    cunei_json_number(json, "serial", thread->serial);
    cunei_json_number(json, "begin_ns", thread->begin_ns);
    cunei_json_number(json, "end_ns", thread->end_ns);
    cunei_json_number(json, "wall_ns", wall_of(thread));
    cunei_json_number_or_null(json, "cpu_ns", thread->has_cpu, thread->cpu_ns);
    cunei_json_number_or_null(json, "waiting_ns", thread->has_cpu, thread->waiting_ns);
    cunei_json_number_or_null(json, "known_ns", thread->has_cpu, thread->known_ns);
    cunei_json_number(json, "gc_count", cunei_gc_pauses_count(&thread->collections));
    cunei_json_number(json, "gc_ns", thread->collections.pause);
    cunei_json_number(json, "events", thread->events);
    cunei_json_number(json, "calls", thread->calls);
    /* The last packet is also marked when the recording ends before the thread. */
    cunei_json_flag(json, "ended", thread->ended && thread->open_depth == 0);
    cunei_json_number(json, "open_depth", thread->open_depth);
    cunei_json_open(json, "open", '[');
    for (uint32_t i = 0; i < thread->open_count; i++)
        cunei_json_text(json, NULL,
                        thread->open[i] < analysis->functions.count
                            ? analysis->functions.items[thread->open[i]].qualname
                            : NULL);
    cunei_json_close(json, ']');
    cunei_json_close(json, '}');
}

static int print_json(const struct cunei_report *report, struct cunei_json *json)
{
    cunei_json_open(json, "threads", '[');
    for (size_t i = 0; i < report->analysis->thread_count; i++)
        put_json(report, json, &report->analysis->threads[i]);
    cunei_json_close(json, ']');
    return 0;
}

static bool has_rows(const struct cunei_analysis *analysis)
{
    return analysis->thread_count > 0;
}

const struct cunei_report_section cunei_report_section_threads = {
    .name = "threads",
    .help = "show the threads: wall time, CPU time, waiting",
    .has_rows = has_rows,
    .print = print,
    .print_notes = print_notes,
    .print_json = print_json,
};
