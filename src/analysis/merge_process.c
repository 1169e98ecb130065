// SPDX-License-Identifier: MIT
#include "analysis/merge_process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/vector.h"
#include "model/profile/profile_stack.h"
#include "model/user/user_reader.h"
#include "model/walk/packet_cut.h"

/* Mark the slots of functions that appear anywhere in the profile. */
static void mark_slots(const struct cunei_profile *profile, uint32_t *map)
{
    for (uint32_t slot = 1; slot < profile->slot_count; slot++) {
        const struct cunei_facts *facts = &profile->functions[slot];
        map[slot] = facts->calls || facts->resumes || facts->total;
    }
    for (uint32_t i = 0; i < profile->tasks.count; i++)
        map[profile->tasks.items[i].slot] = 1;
    for (uint32_t i = 0; i < profile->exceptions.count; i++)
        map[profile->exceptions.items[i].slot] = 1;
    for (uint32_t i = 0; i < profile->exceptions.handler_count; i++)
        map[profile->exceptions.handlers[i].slot] = 1;
    map[0] = 0;
}

/* Facts for the functions from `before` on. */
static int reserve_facts(struct cunei_analysis *analysis, uint32_t before)
{
    uint32_t count = analysis->functions.count;

    if (count == before)
        return 0;
    if (!CUNEI_VECTOR_RESERVE(analysis->facts, analysis->fact_capacity, count))
        return -ENOMEM;
    memset(analysis->facts + before, 0, (count - before) * sizeof(*analysis->facts));
    return 0;
}

int cunei_merge_process_seed(struct cunei_analysis *analysis,
                             const struct cunei_functions *functions)
{
    for (uint32_t i = 0; i < functions->count; i++) {
        int index = cunei_functions_add(&analysis->functions, &functions->items[i]);
        if (index < 0)
            return index;
    }
    return reserve_facts(analysis, 0);
}

uint32_t *cunei_merge_process_map(struct cunei_analysis *analysis,
                                  const struct cunei_trace_process *process,
                                  const struct cunei_profile *profile)
{
    uint32_t before = analysis->functions.count;
    uint32_t *map = calloc(profile->slot_count, sizeof(*map));
    int index = 0;
    if (!map)
        return NULL;

    mark_slots(profile, map);
    for (uint32_t slot = 1; index >= 0 && slot < profile->slot_count; slot++) {
        const struct cunei_function *function =
            map[slot] ? cunei_trace_function(process, cunei_slot_function(slot)) : NULL;
        map[slot] = 0;
        if (!function)
            continue;
        index = cunei_functions_add(&analysis->functions, function);
        map[slot] = (uint32_t)index + 1;
    }
    if (index < 0 || reserve_facts(analysis, before) < 0) {
        analysis->functions.count = before; /* those without facts go */
        free(map);
        return NULL;
    }
    return map;
}

/* Estimated calls count like recorded ones; their time is subtracted from the caller.
 */
static void merge_estimate(struct cunei_analysis *analysis,
                           const struct cunei_profile *profile, uint32_t slot,
                           struct cunei_analysis_function *to)
{
    const struct cunei_budget_estimate *from =
        profile->guesses.items ? &profile->guesses.items[slot] : NULL;
    struct cunei_budget_estimate estimate = {0};

    if (!from)
        return;
    cunei_budget_estimate_add(&estimate, from, 1e9 / (double)profile->scale.frequency);
    cunei_budget_estimate_add(&to->estimate, from,
                              1e9 / (double)profile->scale.frequency);
    to->calls += estimate.calls;
    to->resumes += estimate.resumes;
    to->total_ns += estimate.total;
    to->self_ns += estimate.self;
    to->self_ns -= estimate.hidden < to->self_ns ? estimate.hidden : to->self_ns;
    analysis->calls += estimate.calls;
    analysis->resumes += estimate.resumes;
    analysis->estimated_calls += estimate.calls;
}

static void merge_tags(struct cunei_analysis *analysis,
                       const struct cunei_profile *profile, const uint32_t *map)
{
    for (uint32_t i = 0; i < profile->tags.count; i++) {
        uint32_t function;
        memcpy(&function, profile->tags.items[i], sizeof(function));
        uint32_t slot = cunei_slot_of(profile, function);
        if (slot < profile->slot_count && map[slot])
            analysis->facts[map[slot] - 1].is_decorated = true;
    }
}

int cunei_merge_process_functions(struct cunei_analysis *analysis,
                                  const struct cunei_profile *profile,
                                  const uint32_t *map)
{
    for (uint32_t slot = 1; slot < profile->slot_count; slot++) {
        const struct cunei_facts *from = &profile->functions[slot];
        if (map[slot] == 0)
            continue;
        struct cunei_analysis_function *to = &analysis->facts[map[slot] - 1];
        to->calls += from->calls;
        to->resumes += from->resumes;
        to->recursive += from->recursive;
        to->raised += from->raised;
        to->nested += from->nested;
        to->self_ns += cunei_profile_ns(profile, from->self);
        to->total_ns += cunei_profile_ns(profile, from->total);
        to->suspended_ns += cunei_profile_ns(profile, from->suspended);
        to->spent_ns += cunei_profile_ns(profile, cunei_facts_spent(from));
        to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
        if (!cunei_id_kinds_is_region(&profile->kinds, cunei_slot_function(slot))) {
            analysis->resumes += from->resumes;
            analysis->raised += from->raised;
        } else
            analysis->regions += from->calls;
        merge_estimate(analysis, profile, slot, to);
        int rc = cunei_histogram_merge(&to->histogram, &from->histogram);
        if (rc < 0)
            return rc;
    }
    merge_tags(analysis, profile, map);
    return 0;
}

int cunei_merge_process_tasks(struct cunei_analysis *analysis, size_t process,
                              const struct cunei_profile *profile, const uint32_t *map)
{
    const struct cunei_tasks *tasks = &profile->tasks;
    const struct cunei_metadata *metadata =
        &analysis->processes[process].process->metadata;

    analysis->forgotten_tasks += tasks->forgotten;
    if (tasks->count <= 1)
        return 0;
    if (!CUNEI_VECTOR_RESERVE(analysis->tasks, analysis->task_capacity,
                              analysis->task_count + tasks->count - 1))
        return -ENOMEM;
    for (uint32_t i = 1; i < tasks->count; i++) {
        const struct cunei_task_facts *from = &tasks->items[i];
        if (from->steps == 0)
            continue;
        analysis->tasks[analysis->task_count++] = (struct cunei_analysis_task){
            .process = process,
            .number = from->number,
            .name = from->name ? strdup(from->name) : NULL,
            .function = map[from->slot] - 1,
            .has_ended = from->has_ended,
            .has_raised = from->has_raised,
            .steps = from->steps,
            .run_ns = cunei_profile_ns(profile, from->run),
            .wait_ns = cunei_profile_ns(profile, cunei_tasks_wait(from)),
            .begin_ns = cunei_metadata_wall_ns(metadata, from->first),
            .end_ns = cunei_metadata_wall_ns(metadata, from->last),
        };
    }
    return 0;
}

/* The names of what is open, also of functions that had no event in this process. */
static int merge_open(struct cunei_analysis *analysis, struct cunei_analysis_thread *to,
                      const struct cunei_thread *thread)
{
    const struct cunei_trace_process *process =
        analysis->processes[to->process].process;
    uint32_t before = analysis->functions.count;

    to->open_depth = thread->open_depth;
    if (thread->open_count == 0)
        return 0;
    to->open = malloc(thread->open_count * sizeof(*to->open));
    if (!to->open)
        return -ENOMEM;
    to->open_count = thread->open_count;
    for (uint32_t i = 0; i < thread->open_count; i++) {
        const struct cunei_function *function =
            cunei_trace_function(process, thread->open[i]);
        int index = function ? cunei_functions_add(&analysis->functions, function) : -1;
        to->open[i] = index < 0 ? UINT32_MAX : (uint32_t)index;
    }
    int rc = reserve_facts(analysis, before);
    if (rc < 0)
        analysis->functions.count = before; /* those without facts go */
    return rc;
}

static void merge_times(struct cunei_analysis_thread *to,
                        const struct cunei_profile *profile,
                        const struct cunei_thread *thread)
{
    to->collections = thread->collections;
    to->collections.pause = cunei_profile_ns(profile, thread->collections.pause);
    to->collections.pause_max =
        cunei_profile_ns(profile, thread->collections.pause_max);
    if (thread->cpu_end <= thread->begin || thread->cpu_end_ns <= thread->cpu_begin_ns)
        return;
    to->has_cpu = true;
    to->is_cpu_partial = thread->cpu_end < thread->end;
    to->known_ns = cunei_profile_ns(profile, thread->cpu_end - thread->begin);
    to->cpu_ns = thread->cpu_end_ns - thread->cpu_begin_ns;
    to->waiting_ns = to->known_ns > to->cpu_ns ? to->known_ns - to->cpu_ns : 0;
}

int cunei_merge_process_thread(struct cunei_analysis *analysis, size_t process,
                               const struct cunei_profile *profile,
                               const struct cunei_thread *thread)
{
    const struct cunei_metadata *metadata =
        &analysis->processes[process].process->metadata;
    if (!CUNEI_VECTOR_RESERVE_ONE(analysis->threads, analysis->thread_count))
        return -ENOMEM;
    /* A thread may end long after its last event. */
    uint64_t end =
        thread->ended && thread->cpu_end > thread->end ? thread->cpu_end : thread->end;
    struct cunei_analysis_thread *to = &analysis->threads[analysis->thread_count++];
    *to = (struct cunei_analysis_thread){
        .process = process,
        .serial = thread->serial,
        .tid = thread->vtid,
        .number = (uint32_t)(analysis->thread_count - 1),
        .ended = thread->ended,
        .begin_ns = cunei_metadata_wall_ns(metadata, thread->begin),
        .end_ns = cunei_metadata_wall_ns(metadata, end),
        .events = thread->events,
        .calls = thread->calls,
    };
    memcpy(to->name, thread->name, sizeof(to->name));
    merge_times(to, profile, thread);
    return merge_open(analysis, to, thread);
}

/* A stream's lines; damage was noted when its pieces were read. */
static int read_lines(struct cunei_lines *lines,
                      const struct cunei_trace_process *process,
                      const struct cunei_trace_stream *stream)
{
    struct cunei_lines_reader *reader =
        cunei_lines_begin(lines, cunei_trace_kinds(process));
    struct cunei_trace_reader *packets =
        cunei_trace_reader_open(process, stream, 0, UINT64_MAX);
    struct cunei_trace_packet packet;
    int rc = reader && packets ? 0 : -ENOMEM;

    while (rc == 0 && cunei_trace_reader_next(packets, &packet) > 0)
        rc = cunei_lines_read(reader, packet.head, packet.words, packet.word_count);
    int end_rc = reader ? cunei_lines_end(reader) : 0;
    cunei_trace_reader_close(packets);
    return rc < 0 ? rc : end_rc;
}

int cunei_merge_process_lines(struct cunei_analysis *analysis,
                              const struct cunei_trace_process *process,
                              const struct cunei_profile *profile, const uint32_t *map)
{
    struct cunei_lines lines = {0};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < process->stream_count; i++) {
        if (process->streams[i].stream_class == CUNEI_STREAM_EVENTS)
            rc = read_lines(&lines, process, &process->streams[i]);
    }
    if (rc == 0)
        rc = cunei_lines_add(&analysis->lines, &lines, map, profile->slot_count,
                             CUNEI_NS_PER_S, profile->scale.frequency);
    cunei_lines_fini(&lines);
    return rc;
}

bool cunei_merge_process_has_user_events(const struct cunei_trace_process *process,
                                         const struct cunei_profile *profile)
{
    bool has_any = process->kinds;

    for (uint32_t i = 0; !has_any && i < CUNEI_CLASS_COUNT; i++)
        has_any = profile->user_events[i] > 0;
    return has_any;
}

static int read_user_events(struct cunei_user_reader *reader,
                            const struct cunei_trace_process *process,
                            const struct cunei_trace_stream *stream,
                            const struct cunei_analysis_options *options)
{
    struct cunei_trace_reader *packets =
        cunei_trace_reader_open(process, stream, 0, UINT64_MAX);
    struct cunei_trace_packet packet;
    struct cunei_cut cut = {0};
    int rc = 0;

    if (!packets)
        return -ENOMEM;
    while (rc == 0 && cunei_trace_reader_next(packets, &packet) > 0) {
        if (options->select)
            rc = options->select(options->select_context, process, &cut, &packet);
        if (rc == 0)
            rc = cunei_user_reader_read(reader, packet.head, packet.words,
                                        packet.word_count);
    }
    int end_rc = cunei_user_reader_end(reader);
    cunei_trace_reader_close(packets);
    cunei_cut_fini(&cut);
    return rc < 0 ? rc : end_rc;
}

int cunei_merge_process_user_facts(struct cunei_analysis *analysis, size_t index,
                                   const struct cunei_trace_process *process,
                                   const struct cunei_profile *profile,
                                   const struct cunei_analysis_options *options)
{
    struct cunei_user_reader_options reading = {
        .facts = &analysis->user_facts,
        .functions = process->functions,
        .function_count = process->function_count,
        .kinds = cunei_trace_kinds(process),
        .tags = &profile->tags,
        .process = (uint32_t)index,
    };

    cunei_wall_clock_init(&reading.wall, &process->metadata);
    struct cunei_user_reader *reader = cunei_user_reader_new(&reading);
    int rc = reader ? 0 : -ENOMEM;
    for (size_t i = 0; rc == 0 && i < process->stream_count; i++) {
        if (process->streams[i].stream_class == CUNEI_STREAM_EVENTS)
            rc = read_user_events(reader, process, &process->streams[i], options);
    }
    cunei_user_reader_free(reader);
    return rc;
}
