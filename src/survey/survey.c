// SPDX-License-Identifier: MIT
#include "survey/survey.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/edges.h"
#include "model/tree.h"
#include "survey/family.h"
#include "survey/intake.h"
#include "survey/pool.h"

#define NS_PER_S UINT64_C(1000000000)

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
static void take_end(struct cunei_survey_process *process)
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

/* The threads of a process, and what they add to it. */
static int add_threads(struct cunei_pool *pool,
                       const struct cunei_pool_process *process, size_t index)
{
    struct cunei_survey *survey = pool->survey;
    struct cunei_survey_process *to = &survey->processes[index];
    uint64_t discarded = 0;

    for (size_t i = 0; i < process->piece_count; i++) {
        const struct cunei_piece *piece = &pool->pieces[process->first_piece + i];
        to->events += piece->definitions.events;
        to->missing_packets += piece->span.missing;
        discarded += piece->span.discarded;
        for (size_t j = 0; j < piece->span.thread_count; j++) {
            int rc = cunei_intake_thread(survey, index, &process->profile,
                                         &piece->span.threads[j]);
            if (rc < 0)
                return rc;
            const struct cunei_survey_thread *thread =
                &survey->threads[survey->thread_count - 1];
            to->thread_count++;
            to->calls += thread->calls;
            to->has_cpu |= thread->has_cpu;
            to->cpu_ns += thread->cpu_ns;
            cunei_collections_add(&to->collections, &thread->collections);
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

static uint64_t cost_of(const struct cunei_process *description, uint64_t events)
{
    unsigned __int128 cost_ps = (unsigned __int128)events * description->event_cost_ps;

    if (description->event_cost_ps == 0)
        return 0;
    return (uint64_t)(cost_ps / 1000) + description->write_ns;
}

static void take_start(struct cunei_survey *survey,
                       const struct cunei_survey_process *process)
{
    uint64_t start_ns = cunei_family_start_ns(process);

    if (start_ns > 0 && (survey->start_ns == 0 || start_ns < survey->start_ns))
        survey->start_ns = start_ns;
}

static void add_up(struct cunei_survey *survey, struct cunei_survey_process *process,
                   const struct cunei_profile *profile)
{
    process->events += profile->events;
    process->cost_ns = cost_of(&process->process->description, process->events);
    for (size_t i = 0; i < process->process->stream_count; i++)
        process->size_bytes += process->process->streams[i].size;
    survey->events += process->events;
    survey->calls += process->calls;
    survey->lost += process->lost;
    survey->missing_packets += process->missing_packets;
    survey->cost_ns += process->cost_ns;
    survey->is_cost_unknown |= process->events > 0 && process->cost_ns == 0;
    survey->orphans += profile->orphans;
    survey->unclosed += profile->unclosed;
    survey->appeared += profile->appeared;
    survey->unknown += profile->unknown;
    survey->switches += profile->switches;
    survey->line_events += profile->lines;
    cunei_collections_add(&survey->collections, &process->collections);
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
    struct cunei_survey *survey = pool->survey;
    struct cunei_profile *profile = &process->profile;
    size_t index = (size_t)(process - pool->processes);
    uint32_t *map = NULL;

    int rc = join_pieces(pool, process);
    if (rc < 0)
        goto out;
    map = cunei_intake_map(survey, process->process, profile);
    if (!map) {
        rc = -ENOMEM;
        goto out;
    }
    rc = cunei_intake_functions(survey, profile, map);
    if (rc == 0)
        rc = cunei_intake_tasks(survey, index, profile, map);
    if (rc == 0)
        rc = add_threads(pool, process, index);
    if (rc < 0)
        goto out;
    if (pool->options->lines && profile->lines > 0)
        rc = cunei_intake_lines(survey, process->process, profile, map);
    if (rc < 0)
        goto out;
    cunei_exceptions_add(&survey->exceptions, &profile->exceptions, map);
    add_up(survey, &survey->processes[index], profile);
    if (survey->tree)
        cunei_tree_add(survey->tree, profile->tree, map, NS_PER_S, profile->frequency);
    if (survey->edges)
        cunei_edges_add(survey->edges, profile->edges, map, NS_PER_S,
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
    const struct cunei_survey_thread *one = a, *two = b;

    if (one->process != two->process)
        return one->process < two->process ? -1 : 1;
    if (one->begin_ns != two->begin_ns)
        return one->begin_ns < two->begin_ns ? -1 : 1;
    return one->serial < two->serial ? -1 : one->serial > two->serial;
}

static int compare_tasks(const void *a, const void *b)
{
    const struct cunei_survey_task *one = a, *two = b;

    if (one->process != two->process)
        return one->process < two->process ? -1 : 1;
    if (one->begin_ns != two->begin_ns)
        return one->begin_ns < two->begin_ns ? -1 : 1;
    return one->number < two->number ? -1 : one->number > two->number;
}

static int survey_pool(struct cunei_survey *survey, struct cunei_pool *pool,
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
        struct cunei_survey_process *process = &survey->processes[i];
        process->process = pool->processes[i].process;
        process->lost = process->process->description.lost;
        if (pool->processes[i].piece_count == 0) {
            survey->lost += process->lost;
            take_end(process);
            take_start(survey, process);
        }
    }
    if (pool->options->tree && !(survey->tree = cunei_tree_new()))
        return -ENOMEM;
    if (pool->options->edges && !(survey->edges = cunei_edges_new()))
        return -ENOMEM;
    return cunei_pool_run(pool);
}

int cunei_survey_init(struct cunei_survey *survey, const struct cunei_trace *trace,
                      const struct cunei_survey_options *options)
{
    struct cunei_pool pool = {
        .survey = survey,
        .options = options,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .idle = PTHREAD_COND_INITIALIZER,
        .finish = finish_process,
    };

    *survey = (struct cunei_survey){0};
    int rc = survey_pool(survey, &pool, trace);
    cunei_pool_fini(&pool);
    if (rc < 0) {
        cunei_survey_fini(survey);
        return rc;
    }
    if (survey->is_cost_unknown)
        survey->cost_ns = 0;
    if (survey->thread_count > 0)
        qsort(survey->threads, survey->thread_count, sizeof(*survey->threads),
              compare_threads);
    if (survey->task_count > 0)
        qsort(survey->tasks, survey->task_count, sizeof(*survey->tasks), compare_tasks);
    rc = cunei_family_find(survey);
    if (rc < 0)
        cunei_survey_fini(survey);
    return rc;
}

void cunei_survey_fini(struct cunei_survey *survey)
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
    free(survey->processes);
    cunei_tree_free(survey->tree);
    cunei_edges_free(survey->edges);
    *survey = (struct cunei_survey){0};
}

uint64_t cunei_survey_duration_ns(const struct cunei_survey *survey)
{
    return survey->end_ns > survey->begin_ns ? survey->end_ns - survey->begin_ns : 0;
}
