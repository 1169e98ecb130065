// SPDX-License-Identifier: MIT
#include "analysis/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/merge_process.h"
#include "analysis/pool.h"
#include "analysis/process_tree.h"
#include "base/units.h"
#include "model/call_edges.h"
#include "model/call_tree.h"

/* Add up the pieces of each stream; what is left in its first one is all of it. */
static int join_pieces(struct cunei_pool *pool, struct cunei_pool_process *process)
{
    struct cunei_piece *first = NULL;

    for (size_t i = 0; i < process->piece_count; i++) {
        struct cunei_piece *piece = &pool->pieces[process->first_piece + i];
        if (first && first->stream == piece->stream) {
            int rc = cunei_profile_join(&process->profile, &first->span, &piece->span);
            if (rc < 0)
                return rc;
            continue;
        }
        first = piece;
    }
    for (size_t i = 0; i < process->piece_count; i++) {
        int rc = cunei_span_finish(&pool->pieces[process->first_piece + i].span);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/*
 * What the description says of the end.  An os.execv that failed said so too early:
 * events show it that came later.
 */
static void take_end(struct cunei_analysis_process *process)
{
    const struct cunei_process *told = &process->process->description;

    if (told->cpu_ns > 0 && (told->ended || told->end_ns >= process->end_ns)) {
        process->has_cpu = true;
        process->cpu_ns = told->cpu_ns;
    }
    /* Nobody was there to tell of it with an event. */
    if (process->process->state == CUNEI_TRACE_KILLED &&
        told->end_ns > process->end_ns && process->thread_count > 0)
        process->end_ns = told->end_ns;
}

/* Of a process's events. */
static uint64_t last_tick(const struct cunei_pool *pool,
                          const struct cunei_pool_process *process)
{
    uint64_t last = 0;

    for (size_t i = 0; i < process->piece_count; i++) {
        const struct cunei_span *span = &pool->pieces[process->first_piece + i].span;
        for (size_t j = 0; j < span->thread_count; j++)
            last = span->threads[j].end > last ? span->threads[j].end : last;
    }
    return last;
}

/* The threads of a process, and what they add to it. */
static int add_threads(struct cunei_pool *pool,
                       const struct cunei_pool_process *process, size_t index)
{
    struct cunei_analysis *analysis = pool->analysis;
    struct cunei_analysis_process *to = &analysis->processes[index];
    uint64_t discarded = 0;

    for (size_t i = 0; i < process->piece_count; i++) {
        const struct cunei_piece *piece = &pool->pieces[process->first_piece + i];
        to->events += piece->definitions.events;
        to->missing_packets += piece->span.missing;
        discarded += piece->span.discarded;
        for (size_t j = 0; j < piece->span.thread_count; j++) {
            int rc = cunei_merge_process_thread(analysis, index, &process->profile,
                                                &piece->span.threads[j]);
            if (rc < 0)
                return rc;
            const struct cunei_analysis_thread *thread =
                &analysis->threads[analysis->thread_count - 1];
            to->thread_count++;
            to->calls += thread->calls;
            to->has_cpu |= thread->has_cpu;
            to->cpu_ns += thread->cpu_ns;
            cunei_gc_pauses_add(&to->collections, &thread->collections);
            if (to->begin_ns == 0 || thread->begin_ns < to->begin_ns)
                to->begin_ns = thread->begin_ns;
            if (thread->end_ns > to->end_ns)
                to->end_ns = thread->end_ns;
        }
    }
    if (discarded > to->lost)
        to->lost = discarded;
    take_end(to);
    return 0;
}

/* What recording a process cost, in events, by what it was spent on. */
static void count_units(const struct cunei_profile *profile, uint64_t events,
                        double *units)
{
    const struct cunei_budget_estimate *guesses = profile->guesses.items;
    double rest = (double)events;

    for (uint32_t slot = 1; slot < profile->slot_count; slot++) {
        const struct cunei_facts *facts = &profile->functions[slot];
        uint64_t entries = facts->calls + facts->resumes;
        if (entries == 0)
            continue;
        units[CUNEI_COST_SIGHTS] += CUNEI_OVERHEAD_SIGHT;
        units[CUNEI_COST_RAISED] += CUNEI_OVERHEAD_RAISE * (double)facts->raised;
        if (guesses && guesses[slot].demotions > 0) {
            units[CUNEI_COST_DEMOTED] += 2 * (double)entries;
            rest -= 2 * (double)entries;
        }
    }
    for (uint32_t i = 0; i < profile->exceptions.count; i++) {
        double count = (double)profile->exceptions.items[i].count;
        units[CUNEI_COST_RAISED] += (CUNEI_OVERHEAD_RAISE + 1) * count;
        rest -= count;
    }
    units[CUNEI_COST_KEPT] += rest;
}

static void add_cost(struct cunei_analysis *analysis,
                     struct cunei_analysis_process *process, const double *costs)
{
    const struct cunei_process *told = &process->process->description;
    uint64_t duration_ns = process->end_ns - process->begin_ns;
    double units = 0;

    for (unsigned i = 0; i < CUNEI_COST_COUNT; i++) {
        analysis->costs[i] += costs[i];
        units += costs[i];
    }
    analysis->cost_units += units;
    process->overhead = (struct cunei_overhead){
        .floor_ns = units * (double)told->event_cost_ps / 1000,
        /* On the wall, where that is all there is. */
        .write_ns = (double)(told->write_cpu_ns ? told->write_cpu_ns : told->write_ns),
        .cpu_ns = (double)(process->has_cpu ? process->cpu_ns : duration_ns)};
    analysis->is_cost_unknown |= process->events > 0 && told->event_cost_ps == 0;
    analysis->overhead.cpu_ns += process->overhead.cpu_ns;
    if (told->event_cost_ps == 0)
        return;
    double run_ns = cunei_overhead_run_ns(&process->overhead, CUNEI_OVERHEAD_USUAL);
    process->cost_ns = (uint64_t)cunei_overhead_cost_ns(&process->overhead,
                                                        CUNEI_OVERHEAD_USUAL, run_ns);
    analysis->cost_ns += process->cost_ns;
    analysis->overhead.floor_ns += process->overhead.floor_ns;
    analysis->overhead.write_ns += process->overhead.write_ns;
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
    double costs[CUNEI_COST_COUNT] = {0};

    process->events += profile->events;
    count_units(profile, process->events, costs);
    add_cost(analysis, process, costs);
    for (size_t i = 0; i < process->process->stream_count; i++)
        process->size_bytes += process->process->streams[i].size;
    analysis->events += process->events;
    analysis->calls += process->calls;
    analysis->lost += process->lost;
    analysis->missing_packets += process->missing_packets;
    analysis->orphans += profile->orphans;
    analysis->unclosed += profile->unclosed;
    analysis->appeared += profile->appeared;
    analysis->unknown += profile->unknown;
    analysis->switches += profile->switches;
    analysis->line_events += profile->lines;
    analysis->bursts += profile->guesses.bursts;
    for (uint32_t i = 0; i < CUNEI_CLASS_COUNT; i++)
        analysis->said[i] += profile->said[i];
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

static int finish_process(struct cunei_pool *pool, struct cunei_pool_process *process)
{
    struct cunei_analysis *analysis = pool->analysis;
    struct cunei_profile *profile = &process->profile;
    size_t index = (size_t)(process - pool->processes);
    uint32_t *map = NULL;

    int rc = join_pieces(pool, process);
    if (rc < 0)
        goto out;
    cunei_budget_estimates_close(profile, last_tick(pool, process));
    map = cunei_merge_process_map(analysis, process->process, profile);
    if (!map) {
        rc = -ENOMEM;
        goto out;
    }
    rc = cunei_merge_process_functions(analysis, profile, map);
    if (rc == 0)
        rc = cunei_merge_process_tasks(analysis, index, profile, map);
    if (rc == 0)
        rc = add_threads(pool, process, index);
    if (rc < 0)
        goto out;
    if (pool->options->lines && profile->lines > 0)
        rc = cunei_merge_process_lines(analysis, process->process, profile, map);
    if (rc < 0)
        goto out;
    if (pool->options->said && cunei_merge_process_has_said(process->process, profile))
        rc = cunei_merge_process_said(analysis, index, profile, pool->options);
    if (rc < 0)
        goto out;
    cunei_exceptions_add(&analysis->exceptions, &profile->exceptions, map);
    add_up(analysis, &analysis->processes[index], profile);
    if (analysis->tree)
        cunei_tree_add(analysis->tree, profile->tree, map, CUNEI_NS_PER_S,
                       profile->frequency);
    if (analysis->edges)
        cunei_edges_add(analysis->edges, profile->edges, map, CUNEI_NS_PER_S,
                        profile->frequency);
out:
    free(map);
    for (size_t i = 0; i < process->piece_count; i++)
        cunei_span_fini(&pool->pieces[process->first_piece + i].span);
    cunei_profile_fini(profile);
    process->has_profile = false;
    return rc;
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

static int analyze_with_pool(struct cunei_analysis *analysis, struct cunei_pool *pool,
                             const struct cunei_trace *trace)
{
    int rc = cunei_pool_init(pool, trace);
    if (rc < 0)
        return rc;
    if (pool->process_count == 0 && pool->options->processes.count > 0)
        return -ESRCH;
    analysis->processes = calloc(pool->process_count + 1, sizeof(*analysis->processes));
    if (!analysis->processes)
        return -ENOMEM;
    analysis->process_count = pool->process_count;
    for (size_t i = 0; i < pool->process_count; i++) {
        struct cunei_analysis_process *process = &analysis->processes[i];
        process->process = pool->processes[i].process;
        process->lost = process->process->description.lost;
        if (pool->processes[i].piece_count == 0) {
            analysis->lost += process->lost;
            take_end(process);
            take_start(analysis, process);
        }
    }
    const struct cunei_trace_choice *choice = &pool->options->processes;
    const struct cunei_trace_error *damage;
    for (size_t i = 0; (damage = cunei_trace_next_damage(trace, choice, &i));)
        cunei_pool_note_damage(pool, damage);
    if (pool->options->tree && !(analysis->tree = cunei_tree_new()))
        return -ENOMEM;
    if (pool->options->edges && !(analysis->edges = cunei_edges_new()))
        return -ENOMEM;
    return cunei_pool_run(pool);
}

int cunei_analysis_init(struct cunei_analysis *analysis,
                        const struct cunei_trace *trace,
                        const struct cunei_analysis_options *options)
{
    struct cunei_pool pool = {
        .analysis = analysis,
        .options = options,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .idle = PTHREAD_COND_INITIALIZER,
        .finish = finish_process,
    };

    *analysis = (struct cunei_analysis){0};
    cunei_user_facts_init(&analysis->user_facts);
    int rc = analyze_with_pool(analysis, &pool, trace);
    cunei_pool_fini(&pool);
    if (rc < 0) {
        cunei_analysis_fini(analysis);
        return rc;
    }
    if (analysis->is_cost_unknown)
        analysis->cost_ns = 0;
    if (analysis->thread_count > 0)
        qsort(analysis->threads, analysis->thread_count, sizeof(*analysis->threads),
              compare_threads);
    if (analysis->task_count > 0)
        qsort(analysis->tasks, analysis->task_count, sizeof(*analysis->tasks),
              compare_tasks);
    rc = cunei_user_facts_finish(&analysis->user_facts);
    if (rc == 0)
        rc = cunei_process_tree_find(analysis);
    if (rc < 0)
        cunei_analysis_fini(analysis);
    return rc;
}

void cunei_analysis_fini(struct cunei_analysis *analysis)
{
    for (uint32_t i = 0; analysis->facts && i < analysis->functions.count; i++)
        cunei_histogram_fini(&analysis->facts[i].histogram);
    free(analysis->facts);
    cunei_functions_fini(&analysis->functions);
    for (size_t i = 0; i < analysis->thread_count; i++)
        free(analysis->threads[i].open);
    free(analysis->threads);
    for (size_t i = 0; i < analysis->task_count; i++)
        free(analysis->tasks[i].name);
    free(analysis->tasks);
    cunei_exceptions_fini(&analysis->exceptions);
    cunei_lines_fini(&analysis->lines);
    cunei_user_facts_fini(&analysis->user_facts);
    free(analysis->processes);
    cunei_tree_free(analysis->tree);
    cunei_edges_free(analysis->edges);
    *analysis = (struct cunei_analysis){0};
}

uint64_t cunei_analysis_duration_ns(const struct cunei_analysis *analysis)
{
    return analysis->end_ns > analysis->begin_ns ? analysis->end_ns - analysis->begin_ns
                                                 : 0;
}
