// SPDX-License-Identifier: MIT
#include "model/walk_stack.h"

#include <stdlib.h>
#include <string.h>

#include "model/profile.h"

int cunei_walk_say(struct cunei_walk *walk, const struct cunei_packet *packet,
                   struct cunei_walk_step step)
{
    step.packet = packet;
    step.time = walk->last;
    step.frames = walk->frames;
    step.depth = walk->depth;
    if (step.kind != CUNEI_WALK_ORPHAN && walk->depth > 0)
        step.function = walk->frames[walk->depth - 1].function;
    return walk->step(walk->context, &step);
}

/* The place for one more frame; NULL: there is none to be had. */
static struct cunei_walk_frame *reserve(struct cunei_walk *walk)
{
    if (walk->depth < walk->capacity)
        return &walk->frames[walk->depth];
    if (walk->capacity >= CUNEI_DEPTH_MAX)
        return NULL;
    uint32_t capacity = walk->capacity ? 2 * walk->capacity : 256;
    struct cunei_walk_frame *frames = realloc(walk->frames, capacity * sizeof(*frames));
    if (!frames)
        return NULL;
    walk->frames = frames;
    walk->capacity = capacity;
    return &frames[walk->depth];
}

/* Room to count the frames of a function. */
static bool reserve_count(struct cunei_walk *walk, uint32_t function)
{
    uint32_t capacity = walk->count_capacity ? walk->count_capacity : 4096;

    while (capacity <= function)
        capacity *= 2;
    if (walk->counts && capacity == walk->count_capacity)
        return true;
    uint32_t *counts = calloc(capacity, sizeof(*counts));
    if (!counts)
        return false;
    if (walk->counts)
        memcpy(counts, walk->counts, walk->count_capacity * sizeof(*counts));
    free(walk->counts);
    walk->counts = counts;
    walk->count_capacity = capacity;
    return true;
}

static bool is_open(const struct cunei_walk *walk, uint32_t function)
{
    return function < walk->count_capacity && walk->counts[function] > 0;
}

uint32_t cunei_walk_function_below(const struct cunei_walk *walk, uint32_t depth)
{
    while (depth > 0 && walk->frames[depth - 1].is_region)
        depth--;
    return depth;
}

bool cunei_walk_push(struct cunei_walk *walk, struct cunei_walk_frame frame)
{
    struct cunei_walk_frame *place = reserve(walk);

    if (!place || !reserve_count(walk, frame.function)) {
        walk->beyond++;
        return false;
    }
    frame.is_region = cunei_id_kinds_is_region(&walk->kinds, frame.function);
    uint32_t below = frame.is_region ? 0 : cunei_walk_function_below(walk, walk->depth);
    frame.run = below > 0 && walk->frames[below - 1].function == frame.function
                    ? walk->frames[below - 1].run + 1
                    : 1;
    *place = frame;
    walk->depth++;
    walk->counts[frame.function]++;
    return true;
}

int cunei_walk_pop(struct cunei_walk *walk, const struct cunei_packet *packet,
                   struct cunei_walk_step step)
{
    int rc = cunei_walk_say(walk, packet, step);

    walk->counts[walk->frames[--walk->depth].function]--;
    return rc;
}

int cunei_walk_miss(struct cunei_walk *walk, const struct cunei_packet *packet,
                    bool is_correction)
{
    return cunei_walk_pop(walk, packet,
                          (struct cunei_walk_step){.kind = CUNEI_WALK_MISSED,
                                                   .is_correction = is_correction});
}

uint32_t cunei_walk_find(const struct cunei_walk *walk, uint32_t function)
{
    uint32_t depth = is_open(walk, function) ? walk->depth : 0;

    while (depth > 0 && walk->frames[depth - 1].function != function)
        depth--;
    return depth;
}

bool cunei_walk_rename(struct cunei_walk *walk, uint32_t index, uint32_t function)
{
    if (walk->frames[index].function == function)
        return true;
    if (!reserve_count(walk, function))
        return false;
    walk->counts[walk->frames[index].function]--;
    walk->counts[function]++;
    walk->frames[index].function = function;
    return true;
}

int cunei_walk_put_aside(struct cunei_walk *walk, const struct cunei_packet *packet,
                         struct cunei_walk_frame *aside, bool is_correction)
{
    int rc = cunei_walk_pop(walk, packet,
                            (struct cunei_walk_step){.kind = CUNEI_WALK_ASIDE,
                                                     .is_correction = is_correction});

    *aside = walk->frames[walk->depth];
    return rc;
}

int cunei_walk_put_back(struct cunei_walk *walk, const struct cunei_packet *packet,
                        const struct cunei_walk_frame *aside, bool is_correction)
{
    if (!cunei_walk_push(walk, *aside))
        return 0;
    return cunei_walk_say(walk, packet,
                          (struct cunei_walk_step){.kind = CUNEI_WALK_AGAIN,
                                                   .is_correction = is_correction});
}
