// SPDX-License-Identifier: MIT
#include "model/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/greenlets.h"
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

static int miss(struct cunei_walk *walk, const struct cunei_packet *packet,
                bool is_correction)
{
    return pop(walk, packet,
               (struct cunei_walk_step){.kind = CUNEI_WALK_MISSED,
                                        .is_correction = is_correction});
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
        rc = miss(walk, packet, false);
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

/* What a `stack` or `switch` says is open. */
struct view {
    const uint32_t *functions;
    uint32_t count;
    uint32_t hidden; /* frames below them */
};

static struct view view_of(const uint32_t *functions, uint32_t count, uint32_t omitted)
{
    uint32_t padding = count > 0 && functions[0] == 0;
    return (struct view){functions + padding, count - padding,
                         omitted < CUNEI_DEPTH_MAX ? omitted : 0};
}

static uint32_t function_at(const struct view *view, uint32_t position)
{
    uint32_t function =
        position < view->hidden ? 0 : view->functions[position - view->hidden];
    return function < CUNEI_FUNCTION_END ? function : 0;
}

/* Drop what is not open any more, add what is. */
static int sync_stack(struct cunei_walk *walk, const struct cunei_packet *packet,
                      const struct view *view)
{
    uint32_t depth = view->hidden + view->count;
    uint32_t common = view->hidden < walk->depth ? view->hidden : walk->depth;
    int rc = 0;

    walk->beyond = 0;
    while (common < walk->depth && common < depth) {
        uint32_t function = function_at(view, common);
        if (walk->frames[common].function == 0 && !rename_frame(walk, common, function))
            return -ENOMEM;
        if (walk->frames[common].function != function)
            break;
        common++;
    }
    while (rc == 0 && walk->depth > common)
        rc = miss(walk, packet, true);
    for (uint32_t i = common; rc == 0 && i < depth; i++) {
        struct cunei_walk_frame frame = {.function = function_at(view, i)};
        if (push(walk, frame))
            rc = say(walk, packet,
                     (struct cunei_walk_step){.kind = CUNEI_WALK_FOUND,
                                              .is_correction = true});
    }
    return rc;
}

/* Put what runs aside. */
static int suspend_stack(struct cunei_walk *walk)
{
    if (!walk->greenlets)
        walk->greenlets = cunei_greenlets_new();
    if (!walk->greenlets)
        return -ENOMEM;
    if (walk->depth == 0)
        return 0;
    for (uint32_t i = 0; i < walk->depth; i++)
        walk->counts[walk->frames[i].function]--;
    int rc = cunei_greenlets_add(walk->greenlets, walk->greenlet, walk->frames,
                                 walk->depth, walk->last);
    walk->depth = 0;
    return rc;
}

/* Go on with a stack that was put aside. */
static void resume_stack(struct cunei_walk *walk, const struct cunei_greenlet *greenlet)
{
    for (uint32_t i = 0; i < greenlet->depth; i++) {
        struct cunei_walk_frame frame = greenlet->frames[i];
        frame.suspended += walk->last - greenlet->since;
        if (!push(walk, frame))
            break;
    }
    cunei_greenlets_remove(walk->greenlets, greenlet->number);
}

static bool is_like(const struct cunei_greenlet *greenlet, const struct view *view)
{
    bool is_same = greenlet && greenlet->depth == view->hidden + view->count;

    for (uint32_t i = 0; is_same && i < greenlet->depth; i++)
        is_same = greenlet->frames[i].function == function_at(view, i);
    return is_same;
}

static int switch_stack(struct cunei_walk *walk, const struct cunei_packet *packet,
                        const struct cunei_switch *change)
{
    uint32_t omitted = change->omitted < CUNEI_SWITCH_HIDDEN_MAX
                           ? change->omitted
                           : CUNEI_SWITCH_HIDDEN_MAX;
    struct view view = view_of(change->functions, change->count, omitted);

    int rc = say(walk, packet,
                 (struct cunei_walk_step){.kind = CUNEI_WALK_SWITCH,
                                          .greenlet = change->greenlet});
    if (rc == 0)
        rc = suspend_stack(walk);
    if (rc != 0)
        return rc;
    walk->greenlet = change->greenlet;
    const struct cunei_greenlet *greenlet =
        cunei_greenlets_find(walk->greenlets, change->greenlet);
    /* The number of the one that ran at first is told when it is switched to again. */
    if (!greenlet) {
        greenlet = cunei_greenlets_find(walk->greenlets, 0);
        if (!is_like(greenlet, &view))
            greenlet = NULL;
    }
    if (greenlet)
        resume_stack(walk, greenlet);
    return sync_stack(walk, packet, &view);
}

static int leave_open(struct cunei_walk *walk, const struct cunei_packet *packet,
                      bool is_suspended)
{
    int rc = 0;

    while (rc == 0 && walk->depth > 0)
        rc = pop(walk, packet,
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
        resume_stack(walk, greenlet);
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
        rc = say(walk, packet, (struct cunei_walk_step){.kind = CUNEI_WALK_THREAD});
    if (rc == 0 && is_same && !is_next) {
        if (packet->timestamp_begin > walk->last)
            walk->last = packet->timestamp_begin;
        rc = say(walk, packet, (struct cunei_walk_step){.kind = CUNEI_WALK_LOST});
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
    const struct cunei_stack *stack = (const void *)at;
    struct view view;
    uint64_t time = cunei_record_time(at[0], packet->timestamp_begin);
    uint32_t class = cunei_record_class(at[0]);
    enum cunei_phase phase = cunei_record_phase(at[0]);
    size_t size = cunei_event_words(at, left);

    walk->last = time > walk->last ? time : walk->last;
    if (size == 0)
        return 0;
    switch (class) {
    case CUNEI_CLASS_STACK:
        view = view_of(stack->functions, stack->count, stack->omitted);
        *rc = sync_stack(walk, packet, &view);
        return size;
    case CUNEI_CLASS_SWITCH:
        *rc = switch_stack(walk, packet, (const void *)at);
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
        *rc = say(walk, packet,
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
