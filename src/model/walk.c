// SPDX-License-Identifier: MIT
#include "model/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/greenlet_stacks.h"
#include "model/walk_stack.h"

struct leave {
    uint32_t function;
    bool is_yield, is_raised;
    uint64_t run; /* 0: unknown */
};

/* The depth of the frame that is left; 0: it is not open. */
static uint32_t left_depth(const struct cunei_walk *walk, const struct leave *leave)
{
    bool is_region = cunei_id_kinds_is_region(&walk->kinds, leave->function);
    uint32_t depth =
        is_region ? walk->depth : cunei_walk_function_below(walk, walk->depth);
    const struct cunei_walk_frame *top = depth > 0 ? &walk->frames[depth - 1] : NULL;

    if (!top)
        return 0;
    if (top->function == 0 && !is_region)
        return depth; /* of a deep stack that was not told in full */
    if (leave->run == 0 || is_region)
        return top->function == leave->function
                   ? depth
                   : cunei_walk_find(walk, leave->function);
    if (top->function != leave->function || top->run < leave->run)
        return 0;
    for (uint64_t i = top->run; i > leave->run; i--)
        depth = cunei_walk_function_below(walk, depth - 1);
    return depth;
}

/*
 * Leave the frame at a depth, whatever is above it: a function takes what it called
 * with it, but no regions, and a region takes nothing.
 */
static int leave_below(struct cunei_walk *walk, const struct cunei_packet *packet,
                       uint32_t depth, struct cunei_walk_step step)
{
    bool is_region = walk->frames[depth - 1].is_region;
    uint32_t kept = 0;
    int rc = 0;

    struct cunei_walk_frame *aside = malloc((walk->depth - depth + 1) * sizeof(*aside));
    if (!aside)
        return -ENOMEM;
    while (rc == 0 && walk->depth > depth) {
        if (is_region || walk->frames[walk->depth - 1].is_region)
            rc = cunei_walk_put_aside(walk, packet, &aside[kept++], false);
        else
            rc = cunei_walk_miss(walk, packet, false);
    }
    if (rc == 0)
        rc = cunei_walk_pop(walk, packet, step);
    while (rc == 0 && kept > 0)
        rc = cunei_walk_put_back(walk, packet, &aside[--kept], false);
    free(aside);
    return rc;
}

static int leave(struct cunei_walk *walk, const struct cunei_packet *packet,
                 const struct leave *leave)
{
    if (walk->beyond > 0) {
        walk->beyond--;
        return 0;
    }
    uint32_t depth = left_depth(walk, leave);
    if (depth == 0)
        return cunei_walk_say(walk, packet,
                              (struct cunei_walk_step){.kind = CUNEI_WALK_ORPHAN,
                                                       .function = leave->function,
                                                       .is_raised = leave->is_raised});
    if (!cunei_walk_rename(walk, depth - 1, leave->function))
        return -ENOMEM;
    const struct cunei_walk_step step = {.kind = CUNEI_WALK_LEAVE,
                                         .is_yield = leave->is_yield,
                                         .is_raised = leave->is_raised};
    return depth == walk->depth ? cunei_walk_pop(walk, packet, step)
                                : leave_below(walk, packet, depth, step);
}

static int enter(struct cunei_walk *walk, const struct cunei_packet *packet,
                 uint32_t function, bool is_resumed)
{
    const struct cunei_walk_frame frame = {.function = function,
                                           .is_known = true,
                                           .is_resumed = is_resumed,
                                           .entered = walk->last};

    if (!cunei_walk_push(walk, frame))
        return 0;
    return cunei_walk_say(walk, packet,
                          (struct cunei_walk_step){.kind = CUNEI_WALK_ENTER});
}

static int leave_open(struct cunei_walk *walk, const struct cunei_packet *packet,
                      bool is_suspended)
{
    int rc = 0;

    while (rc == 0 && walk->depth > 0)
        rc = cunei_walk_pop(walk, packet,
                            (struct cunei_walk_step){.kind = CUNEI_WALK_OPEN,
                                                     .is_suspended = is_suspended});
    walk->beyond = 0;
    return rc;
}

/* The story of the thread so far is over. */
static int end_thread(struct cunei_walk *walk, const struct cunei_packet *packet)
{
    const struct cunei_greenlet *greenlet;

    int rc = leave_open(walk, packet, false);
    while (rc == 0 && walk->greenlets &&
           (greenlet = cunei_greenlets_first(walk->greenlets))) {
        cunei_walk_resume_stack(walk, greenlet);
        rc = leave_open(walk, packet, true);
    }
    walk->greenlet = 0;
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
    walk->line = (struct cunei_line){0};
    if (rc == 0 && !is_same)
        rc = cunei_walk_say(walk, packet,
                            (struct cunei_walk_step){.kind = CUNEI_WALK_THREAD});
    if (rc == 0 && is_same && !is_next) {
        if (packet->timestamp_begin > walk->last)
            walk->last = packet->timestamp_begin;
        rc = cunei_walk_say(walk, packet,
                            (struct cunei_walk_step){.kind = CUNEI_WALK_LOST});
    }
    return rc;
}

/* The event, or a line in full where it is one that is not. */
static const uint64_t *complete_line(struct cunei_walk *walk, uint32_t class,
                                     const uint64_t *at)
{
    if (class == CUNEI_CLASS_LINE)
        walk->line = *(const struct cunei_line *)(const void *)at;
    if (!cunei_class_is_near(class))
        return at;
    walk->near = cunei_line_near(at[0], &walk->line);
    return &walk->near.record;
}

/* One event; how many words it takes, or 0 where that cannot be told. */
static size_t read_event(struct cunei_walk *walk, const struct cunei_packet *packet,
                         const uint64_t *at, size_t left, struct leave *unwind, int *rc)
{
    uint64_t time = cunei_record_time(at[0], packet->timestamp_begin);
    uint32_t class = cunei_record_class(at[0]);
    enum cunei_phase phase = cunei_record_phase(at[0]);
    size_t size = cunei_event_words(at, left);

    walk->last = time > walk->last ? time : walk->last;
    if (size == 0)
        return 0;
    switch (class) {
    case CUNEI_CLASS_STACK:
        *rc = cunei_walk_sync(walk, packet, (const void *)at);
        return size;
    case CUNEI_CLASS_SWITCH:
        *rc = cunei_walk_switch(walk, packet, (const void *)at);
        return size;
    case CUNEI_CLASS_UNWIND:
        *unwind = (struct leave){.is_raised = true, .run = at[1]};
        return size;
    case CUNEI_CLASS_CALL:
        if (at[1] >= CUNEI_FUNCTION_END)
            return 0;
        class = (uint32_t)at[1];
        break;
    default:
        break;
    }
    if (class < CUNEI_FUNCTION_FIRST) {
        *rc = cunei_walk_say(
            walk, packet,
            (struct cunei_walk_step){.kind = CUNEI_WALK_EVENT,
                                     .event = complete_line(walk, class, at)});
        return size;
    }
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
    cunei_greenlets_free(walk->greenlets);
    walk->greenlets = NULL;
    walk->frames = NULL;
    walk->counts = NULL;
    walk->count_capacity = 0;
    walk->depth = 0;
    walk->capacity = 0;
}
