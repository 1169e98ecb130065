// SPDX-License-Identifier: MIT
#include "analysis/process_sum.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/merge_process.h"
#include "analysis/process_cost.h"
#include "analysis/process_tree.h"
#include "analysis/thread_nodes.h"
#include "base/units.h"
#include "model/facts/call_edges.h"
#include "model/facts/call_tree.h"

/*
 * Take CPU time and end from the process's description.  An os.execv that failed has
 * written them too early: then there are later events.
 */
static void take_end(struct cunei_analysis_process *process)
{
    const struct cunei_process *described = &process->process->description;

    process->is_cpu_partial |= process->process->state != CUNEI_TRACE_ENDED;
    if (described->cpu_ns > 0 &&
        (described->ended || described->end_ns >= process->end_ns)) {
        process->has_cpu = true;
        process->is_cpu_partial = false;
        process->cpu_ns = described->cpu_ns;
    }
    /* A process that was cut off could not record its end. */
    enum cunei_trace_state state = process->process->state;
    if ((state == CUNEI_TRACE_KILLED || state == CUNEI_TRACE_TERMINATED ||
         state == CUNEI_TRACE_EXITED) &&
        described->end_ns > process->end_ns && process->thread_count > 0)
        process->end_ns = described->end_ns;
}

uint64_t cunei_process_sum_last_tick(const struct cunei_process_sum *sum)
{
    uint64_t last = 0;

    for (size_t i = 0; i < sum->piece_count; i++) {
        const struct cunei_piece *span = &sum->pieces[i].span;
        for (size_t j = 0; j < span->thread_count; j++)
            last = span->threads[j].end > last ? span->threads[j].end : last;
    }
    return last;
}

static int add_thread(struct cunei_analysis *analysis, size_t index,
                      const struct cunei_profile *profile,
                      const struct cunei_thread *from)
{
    struct cunei_analysis_process *to = &analysis->processes[index];

    int rc = cunei_merge_process_thread(analysis, index, profile, from);
    if (rc < 0)
        return rc;
    const struct cunei_analysis_thread *thread =
        &analysis->threads[analysis->thread_count - 1];
    to->thread_count++;
    to->calls += thread->calls;
    to->has_cpu |= thread->has_cpu;
    to->cpu_ns += thread->cpu_ns;
    to->is_cpu_partial |= thread->is_cpu_partial;
    cunei_gc_pauses_add(&to->collections, &thread->collections);
    if (to->begin_ns == 0 || thread->begin_ns < to->begin_ns)
        to->begin_ns = thread->begin_ns;
    if (thread->end_ns > to->end_ns)
        to->end_ns = thread->end_ns;
    return 0;
}

/* The functions that were open when the process was attached. */
static void mark_open(struct cunei_analysis *analysis,
                      const struct cunei_process_sum *sum,
                      const struct cunei_piece *span, const uint32_t *map)
{
    for (uint32_t i = 0; i < span->inherited_count; i++) {
        uint32_t slot = span->inherited[i];
        if (slot < sum->profile->slot_count && map[slot])
            analysis->facts[map[slot] - 1].was_open = true;
    }
}

/* The threads of a process, and what they add to it. */
static int add_threads(struct cunei_analysis *analysis,
                       const struct cunei_process_sum *sum, const uint32_t *map)
{
    struct cunei_analysis_process *to = &analysis->processes[sum->index];
    uint64_t discarded = 0;

    for (size_t i = 0; i < sum->piece_count; i++) {
        const struct cunei_piece_facts *facts = &sum->pieces[i];
        to->events += facts->definitions.events;
        to->dropped_packets += facts->span.gap.dropped;
        to->missing_packets += facts->span.gap.missing;
        to->inherits |=
            to->process->description.forked && facts->span.inherited_count > 0;
        if (to->process->description.attached)
            mark_open(analysis, sum, &facts->span, map);
        discarded += facts->span.discarded;
        for (size_t j = 0; j < facts->span.thread_count; j++) {
            int rc =
                add_thread(analysis, sum->index, sum->profile, &facts->span.threads[j]);
            if (rc < 0)
                return rc;
        }
    }
    if (discarded > to->lost)
        to->lost = discarded;
    take_end(to);
    return 0;
}

static void take_start(struct cunei_analysis *analysis,
                       const struct cunei_analysis_process *process)
{
    uint64_t start_ns = cunei_process_tree_start_ns(process);

    if (start_ns > 0 && (analysis->start_ns == 0 || start_ns < analysis->start_ns))
        analysis->start_ns = start_ns;
}

static void add_up(struct cunei_analysis *analysis,
                   struct cunei_analysis_process *process,
                   const struct cunei_profile *profile)
{
    process->events += profile->events;
    cunei_process_cost_add(analysis, process, profile);
    for (size_t i = 0; i < process->process->stream_count; i++)
        process->size_bytes += process->process->streams[i].size;
    analysis->events += process->events;
    analysis->calls += process->calls;
    analysis->lost += process->lost;
    analysis->dropped_packets += process->dropped_packets;
    analysis->missing_packets += process->missing_packets;
    analysis->orphans += profile->orphans;
    analysis->unclosed += profile->unclosed;
    analysis->appeared += profile->appeared;
    analysis->unknown += profile->unknown;
    analysis->switches += profile->switches;
    analysis->line_events += profile->lines;
    analysis->bursts += profile->guesses.bursts;
    for (uint32_t i = 0; i < CUNEI_CLASS_COUNT; i++)
        analysis->user_events[i] += profile->user_events[i];
    analysis->misused += profile->misused;
    analysis->pauses += profile->pauses.begins;
    analysis->paused_ns +=
        cunei_profile_ns(profile, cunei_recording_off_ticks(&profile->pauses));
    analysis->ends_paused |= profile->pauses.begins > profile->pauses.ends;
    cunei_gc_pauses_add(&analysis->collections, &process->collections);
    take_start(analysis, process);
    if (process->thread_count == 0)
        return;
    if (analysis->begin_ns == 0 || process->begin_ns < analysis->begin_ns)
        analysis->begin_ns = process->begin_ns;
    if (process->end_ns > analysis->end_ns)
        analysis->end_ns = process->end_ns;
}

static int merge_profile(struct cunei_analysis *analysis,
                         const struct cunei_process_sum *sum, const uint32_t *map,
                         const struct cunei_analysis_options *options)
{
    const struct cunei_profile *profile = sum->profile;
    struct cunei_analysis_process *to = &analysis->processes[sum->index];
    const struct cunei_trace_process *source = sum->source ? sum->source : to->process;
    size_t thread_count = analysis->thread_count;

    int rc = cunei_merge_process_functions(analysis, profile, map);
    if (rc == 0)
        rc = cunei_merge_process_tasks(analysis, sum->index, profile, map);
    if (rc == 0)
        rc = add_threads(analysis, sum, map);
    if (rc == 0 && options->lines && profile->lines > 0)
        rc = cunei_merge_process_lines(analysis, source, profile, map);
    if (rc == 0 && options->user_events &&
        cunei_merge_process_has_user_events(to->process, profile))
        rc = cunei_merge_process_user_facts(analysis, sum->index, source, profile,
                                            options);
    if (rc < 0)
        return rc;
    cunei_exceptions_add(&analysis->exceptions, &profile->exceptions, map);
    add_up(analysis, to, profile);
    if (options->threads)
        rc = cunei_thread_nodes_add(analysis, thread_count, profile, map);
    else if (analysis->tree)
        cunei_tree_add(analysis->tree, profile->tree, map, CUNEI_NS_PER_S,
                       profile->scale.frequency);
    if (analysis->edges)
        cunei_edges_add(analysis->edges, profile->edges, map, CUNEI_NS_PER_S,
                        profile->scale.frequency);
    return rc;
}

int cunei_process_sum_add(struct cunei_analysis *analysis,
                          const struct cunei_process_sum *sum,
                          const struct cunei_analysis_options *options)
{
    uint32_t *map = cunei_merge_process_map(
        analysis, analysis->processes[sum->index].process, sum->profile);

    int rc = map ? merge_profile(analysis, sum, map, options) : -ENOMEM;
    free(map);
    return rc;
}

void cunei_process_sum_note_damage(struct cunei_analysis *analysis,
                                   const struct cunei_trace_error *error)
{
    if (analysis->damage_count < CUNEI_ANALYSIS_DAMAGES_MAX)
        analysis->damages[analysis->damage_count] = *error;
    analysis->damage_count++;
}

/* Of a process without streams, only its losses and its end are known. */
static void begin_process(struct cunei_analysis *analysis,
                          struct cunei_analysis_process *process, bool has_streams)
{
    process->lost = process->process->description.lost;
    if (has_streams)
        return;
    analysis->lost += process->lost;
    take_end(process);
    take_start(analysis, process);
}

int cunei_process_sum_begin(struct cunei_analysis *analysis,
                            const struct cunei_trace *trace,
                            const struct cunei_analysis_options *options,
                            const struct cunei_trace_process *const *processes,
                            size_t count)
{
    const struct cunei_trace_error *damage;

    analysis->processes = calloc(count + 1, sizeof(*analysis->processes));
    if (!analysis->processes)
        return -ENOMEM;
    analysis->process_count = count;
    for (size_t i = 0; i < count; i++) {
        analysis->processes[i].process = processes[i];
        begin_process(analysis, &analysis->processes[i],
                      processes[i]->stream_count > 0);
    }
    for (size_t i = 0;
         (damage = cunei_trace_next_damage(trace, &options->processes, &i));)
        cunei_process_sum_note_damage(analysis, damage);
    if (options->tree && !(analysis->tree = cunei_tree_new()))
        return -ENOMEM;
    if (options->edges && !(analysis->edges = cunei_edges_new()))
        return -ENOMEM;
    return 0;
}

static int compare_threads(const void *a, const void *b)
{
    const struct cunei_analysis_thread *one = a, *two = b;

    if (one->process != two->process)
        return one->process < two->process ? -1 : 1;
    if (one->begin_ns != two->begin_ns)
        return one->begin_ns < two->begin_ns ? -1 : 1;
    return one->serial < two->serial ? -1 : one->serial > two->serial;
}

static int compare_tasks(const void *a, const void *b)
{
    const struct cunei_analysis_task *one = a, *two = b;

    if (one->process != two->process)
        return one->process < two->process ? -1 : 1;
    if (one->begin_ns != two->begin_ns)
        return one->begin_ns < two->begin_ns ? -1 : 1;
    return one->number < two->number ? -1 : one->number > two->number;
}

int cunei_process_sum_end(struct cunei_analysis *analysis)
{
    if (analysis->is_cost_unknown)
        analysis->cost_ns = 0;
    if (analysis->thread_count > 0)
        qsort(analysis->threads, analysis->thread_count, sizeof(*analysis->threads),
              compare_threads);
    if (analysis->task_count > 0)
        qsort(analysis->tasks, analysis->task_count, sizeof(*analysis->tasks),
              compare_tasks);
    int rc = cunei_user_facts_finish(&analysis->user_facts);
    return rc == 0 ? cunei_process_tree_find(analysis) : rc;
}
