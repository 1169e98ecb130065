// SPDX-License-Identifier: MIT
#include "model/profile/task_steps.h"

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
static struct cunei_task_facts *task_of(struct cunei_tasks *tasks,
                                        const struct cunei_step *step)
{
    uint32_t index = cunei_tasks_find(tasks, step->task);
    return tasks->count > 0 ? &tasks->items[index] : NULL;
}

/* Time passes up to `time`; `covered` only matters on the piece's first thread. */
static void pass(struct cunei_tasks *tasks, struct cunei_steps *steps, uint64_t time)
{
    if (steps->count > 0) {
        struct cunei_task_facts *task = task_of(tasks, &steps->items[steps->count - 1]);
        if (task)
            task->run += time - steps->since;
        steps->covered += time - steps->since;
    }
    steps->since = time;
}

static void count_busy(struct cunei_tasks *tasks, struct cunei_step *step,
                       uint64_t time, enum cunei_ending ending)
{
    struct cunei_task_facts *task = task_of(tasks, step);

    if (task) {
        task->busy += time - step->counted;
        cunei_tasks_see(task, time,
                        ending == CUNEI_ENDING_LEAVE || ending == CUNEI_ENDING_RAISE,
                        ending == CUNEI_ENDING_RAISE);
    }
    step->counted = time;
}

static void remove_step(struct cunei_tasks *tasks, struct cunei_steps *steps,
                        uint32_t index, uint64_t time, enum cunei_ending ending)
{
    struct cunei_step *step = &steps->items[index];

    count_busy(tasks, step, time, ending);
    memmove(step, step + 1, (steps->count - index - 1) * sizeof(*step));
    steps->count--;
}

/* End the innermost step at the place; time has passed. */
static void end_step(struct cunei_tasks *tasks, struct cunei_steps *steps,
                     const struct cunei_end *end)
{
    for (uint32_t i = steps->count; i > 0; i--) {
        const struct cunei_step *step = &steps->items[i - 1];
        if (step->position == end->position && step->slot == end->slot) {
            remove_step(tasks, steps, i - 1, end->time, end->ending);
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

int cunei_steps_end(struct cunei_tasks *tasks, struct cunei_steps *steps,
                    struct cunei_steps_place place, uint64_t time,
                    enum cunei_ending ending)
{
    pass(tasks, steps, time);
    const struct cunei_end end = {time, steps->covered, place.position, place.slot,
                                  ending};
    end_step(tasks, steps, &end);
    return place.is_first ? keep_end(steps, &end) : 0;
}

int cunei_steps_begin(struct cunei_tasks *tasks, struct cunei_steps *steps,
                      struct cunei_steps_place place, uint64_t task,
                      bool continues_step, uint64_t time)
{
    uint32_t index = cunei_tasks_find(tasks, task);
    if (tasks->count > 0)
        cunei_tasks_begin(&tasks->items[index], place.slot, continues_step, time);
    /* No two steps are at the same place: the end of the one before is missing. */
    int rc = cunei_steps_end(tasks, steps, place, time, CUNEI_ENDING_UNSEEN);
    if (rc < 0 || steps->count == STEPS_MAX)
        return rc;
    if (!CUNEI_VECTOR_RESERVE(steps->items, steps->capacity, steps->count + 1))
        return -ENOMEM;
    steps->items[steps->count++] = (struct cunei_step){
        .task = task, .position = place.position, .slot = place.slot, .counted = time};
    return 0;
}

/* Count all that runs up to `time`. */
static void count_up(struct cunei_tasks *tasks, struct cunei_steps *steps,
                     uint64_t time)
{
    pass(tasks, steps, time);
    for (uint32_t i = 0; i < steps->count; i++)
        count_busy(tasks, &steps->items[i], time, CUNEI_ENDING_UNSEEN);
}

void cunei_steps_seal(struct cunei_tasks *tasks, struct cunei_steps *steps,
                      bool is_first, uint64_t time)
{
    count_up(tasks, steps, time);
    if (is_first)
        steps->first_covered = steps->covered;
}

void cunei_steps_drop(struct cunei_steps *steps)
{
    steps->count = 0;
}

/* A step continues until the next piece has an end for it; it does not run while one of
 * that piece's own steps does. */
int cunei_steps_continue(struct cunei_tasks *tasks, struct cunei_steps *steps,
                         const struct cunei_steps *right, bool is_first, uint64_t begin,
                         uint64_t end)
{
    uint64_t covered = 0;
    int rc = 0;

    pass(tasks, steps, begin);
    for (uint32_t i = 0; rc == 0 && i <= right->end_count; i++) {
        bool is_last = i == right->end_count;
        struct cunei_end ended = is_last ? (struct cunei_end){0} : right->ends[i];
        uint64_t own = (is_last ? right->first_covered : ended.covered) - covered;

        /* `since` moves by what the steps of `right` took, which is not theirs. */
        bool is_idle = steps->count == 0;
        steps->since += is_idle ? 0 : own;
        pass(tasks, steps, is_last ? end : ended.time);
        steps->covered += own;
        covered += own;
        if (is_last)
            break;
        end_step(tasks, steps, &ended);
        ended.covered = steps->covered;
        if (is_first)
            rc = keep_end(steps, &ended);
    }
    cunei_steps_seal(tasks, steps, is_first, end);
    return rc;
}

int cunei_steps_append(struct cunei_steps *steps, const struct cunei_steps *right)
{
    if (!CUNEI_VECTOR_RESERVE(steps->items, steps->capacity,
                              steps->count + right->count))
        return -ENOMEM;
    if (right->count > 0)
        memcpy(steps->items + steps->count, right->items,
               right->count * sizeof(*steps->items));
    steps->count += right->count;
    steps->since = right->since;
    return 0;
}
