// SPDX-License-Identifier: MIT
#include "model/task_steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* Tasks that start each other at once; and places that a piece keeps. */
#define STEPS_MAX 1024u
#define ENDS_MAX  (1u << 16)

void cunei_steps_fini(struct cunei_steps *steps)
{
    free(steps->items);
    free(steps->ends);
    cunei_map_fini(&steps->map);
    *steps = (struct cunei_steps){0};
}

/* NULL: there is no room for a single task. */
static struct cunei_task_facts *task_of(struct cunei_profile *profile,
                                        const struct cunei_step *step)
{
    uint32_t index = cunei_tasks_find(&profile->tasks, step->task);
    return profile->tasks.count > 0 ? &profile->tasks.items[index] : NULL;
}

/* Time passes up to `time`; `covered` only matters on the span's first thread. */
static void pass(struct cunei_profile *profile, struct cunei_steps *steps,
                 uint64_t time)
{
    if (steps->count > 0) {
        struct cunei_task_facts *task =
            task_of(profile, &steps->items[steps->count - 1]);
        if (task)
            task->run += time - steps->since;
        steps->covered += time - steps->since;
    }
    steps->since = time;
}

static void count_busy(struct cunei_profile *profile, struct cunei_step *step,
                       uint64_t time, enum cunei_ending ending)
{
    struct cunei_task_facts *task = task_of(profile, step);

    if (task) {
        task->busy += time - step->counted;
        cunei_tasks_see(task, time,
                        ending == CUNEI_ENDING_LEAVE || ending == CUNEI_ENDING_RAISE,
                        ending == CUNEI_ENDING_RAISE);
    }
    step->counted = time;
}

static void remove_step(struct cunei_profile *profile, struct cunei_steps *steps,
                        uint32_t index, uint64_t time, enum cunei_ending ending)
{
    struct cunei_step *step = &steps->items[index];

    count_busy(profile, step, time, ending);
    memmove(step, step + 1, (steps->count - index - 1) * sizeof(*step));
    steps->count--;
}

/* End the innermost step at the place; time has passed. */
static void end_step(struct cunei_profile *profile, struct cunei_steps *steps,
                     const struct cunei_end *end)
{
    for (uint32_t i = steps->count; i > 0; i--) {
        const struct cunei_step *step = &steps->items[i - 1];
        if (step->position == end->position && step->slot == end->slot) {
            remove_step(profile, steps, i - 1, end->time, end->ending);
            return;
        }
    }
}

/* Keep an end, if it is the first of its place. */
static int keep_end(struct cunei_steps *steps, const struct cunei_end *end)
{
    uint64_t hash = cunei_hash_number((uint64_t)end->position << 32 | end->slot);
    struct cunei_map_search search = {.hash = hash};

    for (uint32_t i; cunei_map_next(&steps->map, &search, &i);) {
        if (steps->ends[i].position == end->position &&
            steps->ends[i].slot == end->slot)
            return 0;
    }
    if (steps->end_count == ENDS_MAX)
        return 0;
    if (!CUNEI_VECTOR_RESERVE(steps->ends, steps->end_capacity, steps->end_count + 1) ||
        cunei_map_add(&steps->map, hash, steps->end_count) < 0)
        return -ENOMEM;
    steps->ends[steps->end_count++] = *end;
    return 0;
}

int cunei_steps_end(struct cunei_profile *profile, struct cunei_span *span,
                    uint32_t position, uint32_t slot, uint64_t time,
                    enum cunei_ending ending)
{
    struct cunei_steps *steps = &span->steps;

    pass(profile, steps, time);
    const struct cunei_end end = {time, steps->covered, position, slot, ending};
    end_step(profile, steps, &end);
    return span->thread_count == 1 ? keep_end(steps, &end) : 0;
}

static int reserve_steps(struct cunei_steps *steps, uint32_t more)
{
    return CUNEI_VECTOR_RESERVE(steps->items, steps->capacity, steps->count + more)
               ? 0
               : -ENOMEM;
}

int cunei_steps_begin(struct cunei_profile *profile, struct cunei_span *span,
                      uint64_t task, bool goes_on, uint64_t time)
{
    struct cunei_steps *steps = &span->steps;
    uint32_t position = span->frames[span->depth].level - 1;
    uint32_t slot = span->frames[span->depth].slot;

    uint32_t index = cunei_tasks_find(&profile->tasks, task);
    if (profile->tasks.count > 0)
        cunei_tasks_begin(&profile->tasks.items[index], slot, goes_on, time);
    /* No two steps are at the same place: what was there has gone unseen. */
    int rc = cunei_steps_end(profile, span, position, slot, time, CUNEI_ENDING_UNSEEN);
    if (rc == 0)
        rc = reserve_steps(steps, 1);
    if (rc < 0 || steps->count == STEPS_MAX)
        return rc;
    steps->items[steps->count++] = (struct cunei_step){
        .task = task, .position = position, .slot = slot, .counted = time};
    return 0;
}

/* Count all that runs up to `time`. */
static void count_up(struct cunei_profile *profile, struct cunei_steps *steps,
                     uint64_t time)
{
    pass(profile, steps, time);
    for (uint32_t i = 0; i < steps->count; i++)
        count_busy(profile, &steps->items[i], time, CUNEI_ENDING_UNSEEN);
}

void cunei_steps_seal(struct cunei_profile *profile, struct cunei_span *span)
{
    count_up(profile, &span->steps, span->last);
    if (span->thread_count == 1)
        span->steps.first_covered = span->steps.covered;
}

void cunei_steps_drop(struct cunei_span *span)
{
    span->steps.count = 0;
}

/*
 * What ran at the boundary goes on in `right` for as long as that does not say that it
 * ended; it does not run while one of the steps of `right` does.
 */
static int go_on(struct cunei_profile *profile, struct cunei_span *left,
                 const struct cunei_steps *right, const struct cunei_thread *thread)
{
    struct cunei_steps *steps = &left->steps;
    uint64_t covered = 0;
    int rc = 0;

    pass(profile, steps, thread->begin);
    for (uint32_t i = 0; rc == 0 && i <= right->end_count; i++) {
        bool is_last = i == right->end_count;
        struct cunei_end end = is_last ? (struct cunei_end){0} : right->ends[i];
        uint64_t time = is_last ? thread->end : end.time;
        uint64_t own = (is_last ? right->first_covered : end.covered) - covered;

        /* `since` moves by what the steps of `right` took, which is not theirs. */
        bool is_idle = steps->count == 0;
        steps->since += is_idle ? 0 : own;
        pass(profile, steps, time);
        steps->covered += own;
        covered += own;
        if (is_last)
            break;
        end_step(profile, steps, &end);
        end.covered = steps->covered;
        if (left->thread_count == 1)
            rc = keep_end(steps, &end);
    }
    return rc;
}

int cunei_steps_join(struct cunei_profile *profile, struct cunei_span *left,
                     const struct cunei_span *right, bool is_same)
{
    const struct cunei_thread *first = &right->threads[0];
    struct cunei_steps *steps = &left->steps;
    int rc = 0;

    if (is_same) {
        rc = go_on(profile, left, &right->steps, first);
        count_up(profile, steps, first->end);
        if (left->thread_count == 1)
            steps->first_covered = steps->covered;
    }
    if (!is_same || right->thread_count > 1)
        steps->count = 0;
    if (rc == 0)
        rc = reserve_steps(steps, right->steps.count);
    if (rc < 0)
        return rc;
    if (right->steps.count > 0)
        memcpy(steps->items + steps->count, right->steps.items,
               right->steps.count * sizeof(*steps->items));
    steps->count += right->steps.count;
    steps->since = right->steps.since;
    return 0;
}
