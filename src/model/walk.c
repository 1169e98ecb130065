// SPDX-License-Identifier: MIT
#include "model/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile.h"

static int say(struct cunei_walk *walk, const struct cunei_packet *packet,
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

/* Add a frame, or count it where there is no room. */
static bool push(struct cunei_walk *walk, struct cunei_walk_frame frame)
{
    struct cunei_walk_frame *place = reserve(walk);

    if (!place || !reserve_count(walk, frame.function)) {
        walk->beyond++;
        return false;
    }
    const struct cunei_walk_frame *below = walk->depth > 0 ? place - 1 : NULL;
    frame.run = below && below->function == frame.function ? below->run + 1 : 1;
    *place = frame;
    walk->depth++;
    walk->counts[frame.function]++;
    return true;
}

/* Say of the top frame how it ended, and remove it. */
static int pop(struct cunei_walk *walk, const struct cunei_packet *packet,
               struct cunei_walk_step step)
{
    int rc = say(walk, packet, step);

    walk->counts[walk->frames[--walk->depth].function]--;
    return rc;
}

static int miss(struct cunei_walk *walk, const struct cunei_packet *packet)
{
    return pop(walk, packet, (struct cunei_walk_step){.kind = CUNEI_WALK_MISSED});
}

/* Where the topmost frame of the function is, from 1; 0: nowhere. */
static uint32_t find(const struct cunei_walk *walk, uint32_t function)
{
    uint32_t depth = is_open(walk, function) ? walk->depth : 0;

    while (depth > 0 && walk->frames[depth - 1].function != function)
        depth--;
    return depth;
}

/* The function of a frame becomes known. */
static bool rename_frame(struct cunei_walk *walk, uint32_t index, uint32_t function)
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

struct leave {
    uint32_t function;
    bool is_yield, is_raised;
    uint64_t run; /* 0: unknown */
};

static int leave(struct cunei_walk *walk, const struct cunei_packet *packet,
                 const struct leave *leave)
{
    const struct cunei_walk_frame *top =
        walk->depth > 0 ? &walk->frames[walk->depth - 1] : NULL;
    uint32_t keep = 0; /* the depth of the frame that is left */
    int rc = 0;

    if (walk->beyond > 0) {
        walk->beyond--;
        return 0;
    }
    if (top && top->function == 0)
        keep = walk->depth; /* of a deep stack that was not told in full */
    else if (leave->run == 0)
        keep = top && top->function == leave->function ? walk->depth
                                                       : find(walk, leave->function);
    else if (top && top->function == leave->function && top->run >= leave->run)
        keep = walk->depth - (uint32_t)(top->run - leave->run);
    if (keep == 0)
        return say(walk, packet,
                   (struct cunei_walk_step){.kind = CUNEI_WALK_ORPHAN,
                                            .function = leave->function,
                                            .is_raised = leave->is_raised});
    while (rc == 0 && walk->depth > keep)
        rc = miss(walk, packet);
    if (rc != 0)
        return rc;
    if (!rename_frame(walk, keep - 1, leave->function))
        return -ENOMEM;
    return pop(walk, packet,
               (struct cunei_walk_step){.kind = CUNEI_WALK_LEAVE,
                                        .is_yield = leave->is_yield,
                                        .is_raised = leave->is_raised});
}

static int enter(struct cunei_walk *walk, const struct cunei_packet *packet,
                 uint32_t function, bool is_resumed)
{
    const struct cunei_walk_frame frame = {.function = function,
                                           .is_known = true,
                                           .is_resumed = is_resumed,
                                           .entered = walk->last};

    if (!push(walk, frame))
        return 0;
    return say(walk, packet, (struct cunei_walk_step){.kind = CUNEI_WALK_ENTER});
}

/* A `stack` event: drop what is not open any more, add what is. */
static int sync_stack(struct cunei_walk *walk, const struct cunei_packet *packet,
                      const struct cunei_stack *stack)
{
    uint32_t padding = stack->count > 0 && stack->functions[0] == 0;
    uint32_t count = stack->count - padding;
    uint32_t hidden = stack->omitted < CUNEI_DEPTH_MAX ? stack->omitted : 0;
    const uint32_t *functions = stack->functions + padding;
    uint32_t common = hidden < walk->depth ? hidden : walk->depth;
    int rc = 0;

    walk->beyond = 0;
    while (common < walk->depth && common - hidden < count) {
        uint32_t function = functions[common - hidden];
        if (walk->frames[common].function == 0 && function < CUNEI_FUNCTION_END &&
            !rename_frame(walk, common, function))
            return -ENOMEM;
        if (walk->frames[common].function != function)
            break;
        common++;
    }
    while (rc == 0 && walk->depth > common)
        rc = miss(walk, packet);
    for (uint32_t i = common; rc == 0 && i < hidden + count; i++) {
        uint32_t function = i < hidden ? 0 : functions[i - hidden];
        function = function < CUNEI_FUNCTION_END ? function : 0;
        if (push(walk, (struct cunei_walk_frame){.function = function}))
            rc = say(walk, packet, (struct cunei_walk_step){.kind = CUNEI_WALK_FOUND});
    }
    return rc;
}

/* The story of the thread so far is over. */
static int end_thread(struct cunei_walk *walk, const struct cunei_packet *packet)
{
    int rc = 0;

    while (rc == 0 && walk->depth > 0)
        rc = pop(walk, packet, (struct cunei_walk_step){.kind = CUNEI_WALK_OPEN});
    walk->beyond = 0;
    return rc;
}

static int begin_packet(struct cunei_walk *walk, const struct cunei_packet *packet)
{
    bool is_same = walk->has_packet && walk->thread == packet->thread &&
                   walk->vtid == packet->vtid;
    bool is_next = packet->sequence == walk->sequence + 1 &&
                   packet->events_discarded == walk->discarded;
    int rc = 0;

    if (walk->has_packet && !is_same)
        rc = end_thread(walk, NULL);
    if (!is_same)
        walk->last = packet->timestamp_begin;
    walk->has_packet = true;
    walk->thread = packet->thread;
    walk->vtid = packet->vtid;
    walk->sequence = packet->sequence;
    walk->discarded = packet->events_discarded;
    if (rc == 0 && !is_same)
        rc = say(walk, packet, (struct cunei_walk_step){.kind = CUNEI_WALK_THREAD});
    if (rc == 0 && is_same && !is_next) {
        if (packet->timestamp_begin > walk->last)
            walk->last = packet->timestamp_begin;
        rc = say(walk, packet, (struct cunei_walk_step){.kind = CUNEI_WALK_LOST});
    }
    return rc;
}

/* One event; how many words it takes, or 0 where that cannot be told. */
static size_t read_event(struct cunei_walk *walk, const struct cunei_packet *packet,
                         const uint64_t *at, size_t left, struct leave *unwind, int *rc)
{
    const struct cunei_stack *stack = (const void *)at;
    uint64_t time = cunei_record_time(at[0], packet->timestamp_begin);
    uint32_t class = cunei_record_class(at[0]);
    enum cunei_phase phase = cunei_record_phase(at[0]);
    size_t size = 1;

    walk->last = time > walk->last ? time : walk->last;
    switch (class) {
    case CUNEI_CLASS_STACK:
        if (left < 2 || stack->count % 2 != 0 || stack->count / 2 > left - 2)
            return 0;
        *rc = sync_stack(walk, packet, stack);
        return 2 + stack->count / 2;
    case CUNEI_CLASS_UNWIND:
        if (left < 2)
            return 0;
        *unwind = (struct leave){.is_raised = true, .run = at[1]};
        return 2;
    case CUNEI_CLASS_CALL:
        if (left < 2 || at[1] >= CUNEI_FUNCTION_END)
            return 0;
        class = (uint32_t)at[1];
        size = 2;
        break;
    default:
        break;
    }
    if (class < CUNEI_FUNCTION_FIRST)
        return cunei_event_words(at, left);
    if (phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME)
        *rc = enter(walk, packet, class, phase == CUNEI_PHASE_RESUME);
    else {
        unwind->function = class;
        unwind->is_yield = phase == CUNEI_PHASE_YIELD;
        *rc = leave(walk, packet, unwind);
    }
    *unwind = (struct leave){0};
    return size;
}

int cunei_walk_packet(struct cunei_walk *walk, const struct cunei_packet *packet,
                      const uint64_t *words, size_t word_count)
{
    struct leave unwind = {0};
    size_t at = 0;

    if (word_count == 0)
        return 0;
    int rc = begin_packet(walk, packet);
    while (rc == 0 && at < word_count) {
        size_t size =
            read_event(walk, packet, words + at, word_count - at, &unwind, &rc);
        if (size == 0)
            break;
        at += size;
    }
    return rc;
}

int cunei_walk_end(struct cunei_walk *walk)
{
    return end_thread(walk, NULL);
}

void cunei_walk_fini(struct cunei_walk *walk)
{
    free(walk->frames);
    free(walk->counts);
    walk->frames = NULL;
    walk->counts = NULL;
    walk->count_capacity = 0;
    walk->depth = 0;
    walk->capacity = 0;
}
