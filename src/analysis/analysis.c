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
    struct cunei_analysis *survey = pool->survey;
    struct cunei_analysis_process *to = &survey->processes[index];
    uint64_t discarded = 0;

    for (size_t i = 0; i < process->piece_count; i++) {
        const struct cunei_piece *piece = &pool->pieces[process->first_piece + i];
        to->events += piece->definitions.events;
        to->missing_packets += piece->span.missing;
        discarded += piece->span.discarded;
        for (size_t j = 0; j < piece->span.thread_count; j++) {
            int rc = cunei_merge_process_thread(survey, index, &process->profile,
                                                &piece->span.threads[j]);
            if (rc < 0)
                return rc;
            const struct cunei_analysis_thread *thread =
                &survey->threads[survey->thread_count - 1];
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
        units[CUNEI_COST_SIGHTS] += CUNEI_TOLL_SIGHT;
        units[CUNEI_COST_RAISED] += CUNEI_TOLL_RAISE * (double)facts->raised;
        if (guesses && guesses[slot].demotions > 0) {
            units[CUNEI_COST_DEMOTED] += 2 * (double)entries;
            rest -= 2 * (double)entries;
        }
    }
    for (uint32_t i = 0; i < profile->exceptions.count; i++) {
        double count = (double)profile->exceptions.items[i].count;
        units[CUNEI_COST_RAISED] += (CUNEI_TOLL_RAISE + 1) * count;
        rest -= count;
    }
    units[CUNEI_COST_KEPT] += rest;
}

static void add_cost(struct cunei_analysis *survey,
                     struct cunei_analysis_process *process, const double *costs)
{
    const struct cunei_process *told = &process->process->description;
    uint64_t duration_ns = process->end_ns - process->begin_ns;
    double units = 0;

    for (unsigned i = 0; i < CUNEI_COST_COUNT; i++) {
        survey->costs[i] += costs[i];
        units += costs[i];
    }
    survey->cost_units += units;
    process->toll = (struct cunei_overhead){
        .floor_ns = units * (double)told->event_cost_ps / 1000,
        /* On the wall, where that is all there is. */
        .write_ns = (double)(told->write_cpu_ns ? told->write_cpu_ns : told->write_ns),
        .cpu_ns = (double)(process->has_cpu ? process->cpu_ns : duration_ns)};
    survey->is_cost_unknown |= process->events > 0 && told->event_cost_ps == 0;
    survey->toll.cpu_ns += process->toll.cpu_ns;
    if (told->event_cost_ps == 0)
        return;
    double run_ns = cunei_overhead_run_ns(&process->toll, CUNEI_TOLL_USUAL);
    process->cost_ns =
        (uint64_t)cunei_overhead_cost_ns(&process->toll, CUNEI_TOLL_USUAL, run_ns);
    survey->cost_ns += process->cost_ns;
    survey->toll.floor_ns += process->toll.floor_ns;
    survey->toll.write_ns += process->toll.write_ns;
}

static void take_start(struct cunei_analysis *survey,
                       const struct cunei_analysis_process *process)
{
    uint64_t start_ns = cunei_process_tree_start_ns(process);

    if (start_ns > 0 && (survey->start_ns == 0 || start_ns < survey->start_ns))
        survey->start_ns = start_ns;
}

static void add_up(struct cunei_analysis *survey,
                   struct cunei_analysis_process *process,
                   const struct cunei_profile *profile)
{
    double costs[CUNEI_COST_COUNT] = {0};

    process->events += profile->events;
    count_units(profile, process->events, costs);
    add_cost(survey, process, costs);
    for (size_t i = 0; i < process->process->stream_count; i++)
        process->size_bytes += process->process->streams[i].size;
    survey->events += process->events;
    survey->calls += process->calls;
    survey->lost += process->lost;
    survey->missing_packets += process->missing_packets;
    survey->orphans += profile->orphans;
    survey->unclosed += profile->unclosed;
    survey->appeared += profile->appeared;
    survey->unknown += profile->unknown;
    survey->switches += profile->switches;
    survey->line_events += profile->lines;
    survey->bursts += profile->guesses.bursts;
    for (uint32_t i = 0; i < CUNEI_CLASS_COUNT; i++)
        survey->said[i] += profile->said[i];
    survey->misused += profile->misused;
    survey->pauses += profile->pauses.begins;
    survey->paused_ns +=
        cunei_profile_ns(profile, cunei_recording_off_ticks(&profile->pauses));
    survey->ends_paused |= profile->pauses.begins > profile->pauses.ends;
    cunei_gc_pauses_add(&survey->collections, &process->collections);
    take_start(survey, process);
    if (process->thread_count == 0)
        return;
    if (survey->begin_ns == 0 || process->begin_ns < survey->begin_ns)
        survey->begin_ns = process->begin_ns;
    if (process->end_ns > survey->end_ns)
        survey->end_ns = process->end_ns;
}

static int finish_process(struct cunei_pool *pool, struct cunei_pool_process *process)
{
    struct cunei_analysis *survey = pool->survey;
    struct cunei_profile *profile = &process->profile;
    size_t index = (size_t)(process - pool->processes);
    uint32_t *map = NULL;

    int rc = join_pieces(pool, process);
    if (rc < 0)
        goto out;
    cunei_budget_estimates_close(profile, last_tick(pool, process));
    map = cunei_merge_process_map(survey, process->process, profile);
    if (!map) {
        rc = -ENOMEM;
        goto out;
    }
    rc = cunei_merge_process_functions(survey, profile, map);
    if (rc == 0)
        rc = cunei_merge_process_tasks(survey, index, profile, map);
    if (rc == 0)
        rc = add_threads(pool, process, index);
    if (rc < 0)
        goto out;
    if (pool->options->lines && profile->lines > 0)
        rc = cunei_merge_process_lines(survey, process->process, profile, map);
    if (rc < 0)
        goto out;
    if (pool->options->said && cunei_merge_process_has_said(process->process, profile))
        rc = cunei_merge_process_said(survey, index, profile, pool->options);
    if (rc < 0)
        goto out;
    cunei_exceptions_add(&survey->exceptions, &profile->exceptions, map);
    add_up(survey, &survey->processes[index], profile);
    if (survey->tree)
        cunei_tree_add(survey->tree, profile->tree, map, CUNEI_NS_PER_S,
                       profile->frequency);
    if (survey->edges)
        cunei_edges_add(survey->edges, profile->edges, map, CUNEI_NS_PER_S,
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

static int survey_pool(struct cunei_analysis *survey, struct cunei_pool *pool,
                       const struct cunei_trace *trace)
{
    int rc = cunei_pool_init(pool, trace);
    if (rc < 0)
        return rc;
    if (pool->process_count == 0 && pool->options->processes.count > 0)
        return -ESRCH;
    survey->processes = calloc(pool->process_count + 1, sizeof(*survey->processes));
    if (!survey->processes)
        return -ENOMEM;
    survey->process_count = pool->process_count;
    for (size_t i = 0; i < pool->process_count; i++) {
        struct cunei_analysis_process *process = &survey->processes[i];
        process->process = pool->processes[i].process;
        process->lost = process->process->description.lost;
        if (pool->processes[i].piece_count == 0) {
            survey->lost += process->lost;
            take_end(process);
            take_start(survey, process);
        }
    }
    const struct cunei_trace_choice *choice = &pool->options->processes;
    const struct cunei_trace_error *damage;
    for (size_t i = 0; (damage = cunei_trace_next_damage(trace, choice, &i));)
        cunei_pool_note_damage(pool, damage);
    if (pool->options->tree && !(survey->tree = cunei_tree_new()))
        return -ENOMEM;
    if (pool->options->edges && !(survey->edges = cunei_edges_new()))
        return -ENOMEM;
    return cunei_pool_run(pool);
}

int cunei_analysis_init(struct cunei_analysis *survey, const struct cunei_trace *trace,
                        const struct cunei_analysis_options *options)
{
    struct cunei_pool pool = {
        .survey = survey,
        .options = options,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .idle = PTHREAD_COND_INITIALIZER,
        .finish = finish_process,
    };

    *survey = (struct cunei_analysis){0};
    cunei_user_facts_init(&survey->userfacts);
    int rc = survey_pool(survey, &pool, trace);
    cunei_pool_fini(&pool);
    if (rc < 0) {
        cunei_analysis_fini(survey);
        return rc;
    }
    if (survey->is_cost_unknown)
        survey->cost_ns = 0;
    if (survey->thread_count > 0)
        qsort(survey->threads, survey->thread_count, sizeof(*survey->threads),
              compare_threads);
    if (survey->task_count > 0)
        qsort(survey->tasks, survey->task_count, sizeof(*survey->tasks), compare_tasks);
    rc = cunei_user_facts_finish(&survey->userfacts);
    if (rc == 0)
        rc = cunei_process_tree_find(survey);
    if (rc < 0)
        cunei_analysis_fini(survey);
    return rc;
}

void cunei_analysis_fini(struct cunei_analysis *survey)
{
    for (uint32_t i = 0; survey->facts && i < survey->functions.count; i++)
        cunei_histogram_fini(&survey->facts[i].histogram);
    free(survey->facts);
    cunei_functions_fini(&survey->functions);
    for (size_t i = 0; i < survey->thread_count; i++)
        free(survey->threads[i].open);
    free(survey->threads);
    for (size_t i = 0; i < survey->task_count; i++)
        free(survey->tasks[i].name);
    free(survey->tasks);
    cunei_exceptions_fini(&survey->exceptions);
    cunei_lines_fini(&survey->lines);
    cunei_user_facts_fini(&survey->userfacts);
    free(survey->processes);
    cunei_tree_free(survey->tree);
    cunei_edges_free(survey->edges);
    *survey = (struct cunei_analysis){0};
}

uint64_t cunei_analysis_duration_ns(const struct cunei_analysis *survey)
{
    return survey->end_ns > survey->begin_ns ? survey->end_ns - survey->begin_ns : 0;
}
