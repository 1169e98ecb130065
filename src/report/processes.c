// SPDX-License-Identifier: MIT
/* The process tree of a report: times, events, and how each process ended. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/process_tree.h"
#include "report/cpu_rank.h"
#include "report/section.h"
#include "text/format.h"
#include "text/json.h"
#include "text/names.h"
#include "text/table.h"
#include "trace/process/exit_words.h"

static const struct cunei_column columns[] = {
    {.head = "pid"},
    {.head = "start", .rank = 3},
    {.head = "end", .rank = 5},
    {.head = "wall"},
    {.head = "CPU", .rank = 1},
    {.head = "gc", .rank = 7},
    {.head = "events", .rank = 4},
    {.head = "exit", .rank = 2, .min = 11},
    {.head = "process", .min = 24},
    {.head = "Python", .rank = 6, .min = 8},
};

/* The columns that have sums. */
enum {
    WALL = 3,
    CPU = 4,
    EVENTS = 6
};

#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

/* The columns before the name. */
#define NUMBER_COUNT (COLUMN_COUNT - 2)

/* The time since the first process started. */
static void put_offset(struct cunei_buffer *out, uint64_t ns, uint64_t origin_ns)
{
    cunei_buffer_append_text(out, "+");
    cunei_format_duration(out, ns > origin_ns ? ns - origin_ns : 0);
}

static void add_row(const struct cunei_report *report, struct cunei_table *table,
                    const struct cunei_analysis_process *process,
                    const struct cunei_buffer *branch)
{
    const struct cunei_process *description = &process->process->description;
    uint64_t end_ns = cunei_process_tree_end_ns(process);
    bool is_well =
        process->process->state == CUNEI_TRACE_TERMINATED ||
        (process->process->state != CUNEI_TRACE_KILLED && description->signal == 0);

    cunei_buffer_format(cunei_table_cell(table, CUNEI_INK_DIM), "%" PRIu32,
                        process->process->metadata.pid);
    put_offset(cunei_table_cell(table, CUNEI_INK_DIM),
               cunei_process_tree_start_ns(process), report->analysis->start_ns);
    struct cunei_buffer *end = cunei_table_cell(table, CUNEI_INK_DIM);
    if (end_ns > 0)
        put_offset(end, end_ns, report->analysis->start_ns);
    cunei_format_duration(cunei_table_cell(table, CUNEI_INK_PLAIN),
                          cunei_process_tree_wall_ns(process));
    struct cunei_buffer *cpu =
        cunei_table_cell(table, cunei_report_heat(report, process->cpu_ns));
    if (process->has_cpu)
        cunei_report_partial_duration(cpu, process->cpu_ns, process->is_cpu_partial);
    struct cunei_buffer *gc = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (process->collections.pause > 0)
        cunei_format_duration(gc, process->collections.pause);
    cunei_format_count(cunei_table_cell(table, CUNEI_INK_PLAIN), process->events);
    cunei_exit_words_format(
        process->process,
        cunei_table_cell(table, is_well ? CUNEI_INK_DIM : CUNEI_INK_BAD));
    struct cunei_buffer *name = cunei_table_cell(table, CUNEI_INK_STRONG);
    cunei_buffer_append_text(name, cunei_buffer_text(branch));
    cunei_table_lead(table);
    cunei_format_process(name, description);
    struct cunei_buffer *python = cunei_table_cell(table, CUNEI_INK_DIM);
    const char *first = report->analysis->processes[0].process->description.python;
    if (description->python && first && strcmp(description->python, first) != 0)
        cunei_buffer_append_text(python, description->python);
}

/* The sum of processes that are hidden below one. */
struct sum {
    size_t count;
    uint64_t wall_ns, cpu_ns, events;
    bool is_cpu_partial;
};

static void add_sum(struct sum *sum, const struct sum *other)
{
    sum->count += other->count;
    sum->wall_ns += other->wall_ns;
    sum->cpu_ns += other->cpu_ns;
    sum->events += other->events;
    sum->is_cpu_partial |= other->is_cpu_partial;
}

static void add_rest(struct cunei_table *table, const struct sum *rest,
                     const struct cunei_buffer *branch)
{
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        struct cunei_buffer *cell = cunei_table_cell(table, CUNEI_INK_PLAIN);
        if (i == WALL)
            cunei_format_duration(cell, rest->wall_ns);
        if (i == CPU && rest->cpu_ns > 0)
            cunei_report_partial_duration(cell, rest->cpu_ns, rest->is_cpu_partial);
        if (i == EVENTS)
            cunei_format_count(cell, rest->events);
    }
    struct cunei_buffer *name = cunei_table_cell(table, CUNEI_INK_DIM);
    cunei_buffer_append_text(name, cunei_buffer_text(branch));
    cunei_table_lead(table);
    cunei_buffer_append_text(name, "… ");
    cunei_format_count(name, rest->count);
    cunei_buffer_append_text(name, " more");
    (void)cunei_table_cell(table, CUNEI_INK_DIM);
}

/* Which processes are shown: the busiest, up to the limit, and their ancestors. */
static bool *choose(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    size_t count = analysis->process_count;
    uint64_t limit = report->options->limit > 0 ? report->options->limit : SIZE_MAX;
    bool *is_shown = calloc(count + 1, sizeof(*is_shown));
    struct cunei_cpu_rank *ranks = calloc(count + 1, sizeof(*ranks));
    if (!is_shown || !ranks) {
        free(is_shown);
        free(ranks);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        ranks[i] = (struct cunei_cpu_rank){
            analysis->processes[i].cpu_ns,
            cunei_process_tree_wall_ns(&analysis->processes[i]), i};
    cunei_cpu_rank_sort(ranks, count);
    for (size_t i = 0; i < count && i < limit; i++) {
        for (size_t at = ranks[i].index; at < count && !is_shown[at];
             at = analysis->processes[at].parent)
            is_shown[at] = true;
    }
    free(ranks);
    return is_shown;
}

struct listing {
    const struct cunei_report *report;
    struct cunei_process_tree family;
    bool *is_shown;   /* owned, as the next */
    struct sum *sums; /* of each process with all below it */
};

/* Parents come before their children: one pass from the end adds up. */
static void sum_up(struct listing *listing)
{
    const struct cunei_analysis *analysis = listing->report->analysis;

    for (size_t i = analysis->process_count; i > 0; i--) {
        const struct cunei_analysis_process *process = &analysis->processes[i - 1];
        const struct sum own = {1, cunei_process_tree_wall_ns(process), process->cpu_ns,
                                process->events, process->is_cpu_partial};
        add_sum(&listing->sums[i - 1], &own);
        add_sum(&listing->sums[cunei_process_tree_parent(analysis, i - 1)],
                &listing->sums[i - 1]);
    }
}

/* The last child of a process that is shown, and the sum of the hidden ones. */
static size_t find_last(const struct listing *listing, size_t parent, bool is_deep,
                        struct sum *rest)
{
    size_t last = SIZE_MAX;

    for (size_t child = listing->family.first[parent]; child != SIZE_MAX;
         child = listing->family.next[child]) {
        if (listing->is_shown[child] && !is_deep)
            last = child;
        else
            add_sum(rest, &listing->sums[child]);
    }
    return last;
}

/* The rows below a process.  `branch` holds the lines that run down beside them. */
static void add_children(const struct listing *listing, struct cunei_table *table,
                         size_t parent, uint64_t level, struct cunei_buffer *branch)
{
    const struct cunei_analysis *analysis = listing->report->analysis;
    uint64_t depth = listing->report->options->depth;
    bool is_deep = depth > 0 && level >= depth;
    struct sum rest = {0};
    size_t size = branch->size;
    size_t last = find_last(listing, parent, is_deep, &rest);

    for (size_t child = listing->family.first[parent]; child != SIZE_MAX;
         child = listing->family.next[child]) {
        bool is_end = child == last && rest.count == 0;
        if (!listing->is_shown[child] || is_deep)
            continue;
        if (level > 0)
            cunei_buffer_append_text(branch, is_end ? "└ " : "├ ");
        add_row(listing->report, table, &analysis->processes[child], branch);
        cunei_buffer_cut(branch, size);
        if (level > 0)
            cunei_buffer_append_text(branch, is_end ? "  " : "│ ");
        add_children(listing, table, child, level + 1, branch);
        cunei_buffer_cut(branch, size);
    }
    if (rest.count == 0)
        return;
    if (level > 0)
        cunei_buffer_append_text(branch, "└ ");
    add_rest(table, &rest, branch);
    cunei_buffer_cut(branch, size);
}

static int print_table(const struct listing *listing)
{
    const struct cunei_report *report = listing->report;
    struct cunei_buffer branch = {0};
    struct cunei_table table;

    cunei_table_init(&table, columns, COLUMN_COUNT);
    add_children(listing, &table, report->analysis->process_count, 0, &branch);
    int rc = cunei_report_print_table(report, &table, cunei_report_absence(report));
    cunei_buffer_fini(&branch);
    return rc;
}

static int print(const struct cunei_report *report, struct cunei_report_rows *rows)
{
    uint32_t count = (uint32_t)report->analysis->process_count, shown = 0;
    struct listing listing = {.report = report};

    int rc = cunei_process_tree_init(&listing.family, report->analysis);
    listing.is_shown = choose(report);
    listing.sums = calloc((size_t)count + 1, sizeof(*listing.sums));
    if (rc == 0 && (!listing.is_shown || !listing.sums))
        rc = -ENOMEM;
    if (rc == 0) {
        for (uint32_t i = 0; i < count; i++)
            shown += listing.is_shown[i];
        sum_up(&listing);
        rc = print_table(&listing);
    }
    cunei_process_tree_fini(&listing.family);
    free(listing.is_shown);
    free(listing.sums);
    *rows = (struct cunei_report_rows){shown, count};
    return rc;
}

/* How the process ended, with the status or signal if known. */
static void put_exit(struct cunei_json *json, const struct cunei_trace_process *process)
{
    const struct cunei_process *description = &process->description;
    struct cunei_buffer words = {0};

    cunei_exit_words_format(process, &words);
    cunei_json_text(json, "exit", words.data);
    cunei_buffer_fini(&words);
    cunei_json_number_or_null(json, "exit_status",
                              description->left || description->exited,
                              description->exit_status);
    cunei_json_number_or_null(json, "signal", description->signal > 0,
                              description->signal);
}

static void put_program(struct cunei_json *json,
                        const struct cunei_process *description)
{
    struct cunei_buffer words = {0};

    cunei_format_program(&words, description);
    cunei_json_text(json, "program", words.data);
    cunei_buffer_fini(&words);
}

static void put_json(struct cunei_json *json, const struct cunei_analysis *analysis,
                     const struct cunei_analysis_process *process)
{
    const struct cunei_trace_process *trace = process->process;
    const struct cunei_process *description = &trace->description;

    cunei_json_open(json, NULL, '{');
    cunei_json_number(json, "pid", trace->metadata.pid);
    cunei_json_number(json, "parent", description->parent);
    cunei_json_text(json, "folder", cunei_trace_folder(trace));
    cunei_json_text(
        json, "parent_folder",
        process->parent < analysis->process_count
            ? cunei_trace_folder(analysis->processes[process->parent].process)
            : description->parent_folder);
    cunei_json_flag(json, "forked", description->forked);
    cunei_json_text(json, "name", description->name);
    cunei_json_text(json, "host", trace->metadata.host);
    cunei_json_text(json, "state", cunei_trace_state_word(trace->state));
    put_exit(json, trace);
    put_program(json, description);
    cunei_json_text(json, "python", description->python);
    cunei_json_text(json, "executable", description->executable);
    cunei_json_text(json, "directory", description->directory);
    cunei_json_texts(json, "arguments", description->arguments,
                     description->argument_count);
    cunei_json_texts(json, "patterns", description->patterns,
                     description->pattern_count);
    cunei_json_number(json, "start_ns", cunei_process_tree_start_ns(process));
    cunei_json_number_or_null(json, "begin_ns", process->begin_ns > 0,
                              process->begin_ns);
    cunei_json_number(json, "end_ns",
                      cunei_process_tree_start_ns(process) +
                          cunei_process_tree_wall_ns(process));
    cunei_json_number(json, "wall_ns", cunei_process_tree_wall_ns(process));
    cunei_json_number_or_null(json, "cpu_ns", process->has_cpu, process->cpu_ns);
    cunei_json_flag(json, "cpu_partial", process->is_cpu_partial);
    cunei_json_number(json, "threads", process->thread_count);
    cunei_json_number(json, "interpreters", description->interpreters);
    cunei_json_text(json, "instrumenter", description->instrumenter);
    cunei_json_number(json, "lost_threads", description->lost_threads);
    cunei_json_flag(json, "decorated_lost", description->decorated_refusal > 0);
    cunei_json_flag(json, "c_calls", description->c_calls);
    cunei_json_number(json, "events", process->events);
    cunei_json_number(json, "calls", process->calls);
    cunei_json_number(json, "lost", process->lost);
    cunei_json_number(json, "dropped_packets", process->dropped_packets);
    cunei_json_number(json, "missing_packets", process->missing_packets);
    cunei_json_number(json, "clamped", description->clamped);
    cunei_json_number(json, "size_bytes", process->size_bytes);
    cunei_json_number(json, "cost_ns", process->cost_ns);
    if (description->budget > 0)
        cunei_json_number(json, "budget_millionths", description->budget);
    cunei_json_close(json, '}');
}

static int print_json(const struct cunei_report *report, struct cunei_json *json)
{
    const struct cunei_analysis *analysis = report->analysis;

    cunei_json_open(json, "processes", '[');
    for (size_t i = 0; i < analysis->process_count; i++)
        put_json(json, analysis, &analysis->processes[i]);
    cunei_json_close(json, ']');
    return 0;
}

static bool has_rows(const struct cunei_analysis *analysis)
{
    return analysis->process_count > 1 || cunei_report_is_without_calls(analysis);
}

const struct cunei_report_section cunei_report_section_processes = {
    .name = "processes",
    .help = "show the process tree: times, events, how each process\nended",
    .has_rows = has_rows,
    .print = print,
    .print_json = print_json,
};
