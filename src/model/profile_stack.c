// SPDX-License-Identifier: MIT
#include "model/profile_stack.h"

#include <errno.h>
#include <stdlib.h>

#include "model/call_edges.h"
#include "model/call_tree.h"
#include "model/suspended.h"
#include "model/task_steps.h"

void cunei_stack_pass(struct cunei_profile *profile, struct cunei_span *span,
                      uint64_t time)
{
    const struct cunei_frame *top = &span->frames[span->depth];
    uint64_t passed = time - span->last;

    profile->functions[top->owner].self += passed;
    if (profile->tree)
        profile->tree->nodes[top->node].self += passed;
    if (profile->edges)
        profile->edges->items[top->edge].self += passed;
    span->last = time;
}

bool cunei_stack_reserve(struct cunei_span *span)
{
    if (span->depth + 1 < span->capacity)
        return true;
    if (span->capacity > CUNEI_DEPTH_MAX)
        return false;
    uint32_t capacity = span->capacity ? 2 * span->capacity : 256;
    if (capacity > CUNEI_DEPTH_MAX)
        capacity = CUNEI_DEPTH_MAX + 1; /* one for the ground */
    struct cunei_frame *frames = realloc(span->frames, capacity * sizeof(*frames));
    if (!frames)
        return false;
    span->frames = frames;
    span->capacity = capacity;
    return true;
}

int cunei_stack_sample(struct cunei_profile *profile, uint32_t slot, uint64_t ticks)
{
    struct cunei_facts *facts = &profile->functions[slot];
    uint64_t ns =
        (uint64_t)((unsigned __int128)ticks * profile->multiplier >> profile->shift);

    if (ns > facts->max_ns)
        facts->max_ns = ns;
    return cunei_histogram_add(&facts->histogram, ns);
}

int cunei_stack_add_closing(struct cunei_span *span, struct cunei_closing closing)
{
    if (span->closing_count == span->closing_capacity) {
        uint32_t capacity = span->closing_capacity ? 2 * span->closing_capacity : 16;
        struct cunei_closing *closings =
            realloc(span->closings, capacity * sizeof(*closings));
        if (!closings)
            return -ENOMEM;
        span->closings = closings;
        span->closing_capacity = capacity;
    }
    span->closings[span->closing_count++] = closing;
    return 0;
}

/* A frame on top of another, but for its time and place. */
static struct cunei_frame frame_above(const struct cunei_profile *profile,
                                      const struct cunei_frame *below, uint32_t slot)
{
    if (cunei_slot_is_region(profile, slot))
        return (struct cunei_frame){.slot = slot,
                                    .run = below->run,
                                    .owner = below->owner,
                                    .level = below->level};
    return (struct cunei_frame){
        .slot = slot,
        .run = slot == below->owner ? below->run + 1 : 1,
        .owner = slot,
        .level = below->level + 1,
    };
}

int cunei_stack_open(struct cunei_profile *profile, struct cunei_span *span,
                     uint32_t slot, uint64_t entered, uint64_t time)
{
    struct cunei_facts *facts = &profile->functions[slot];

    if (!cunei_stack_reserve(span))
        return -ENOMEM;
    struct cunei_frame *below = &span->frames[span->depth++];
    struct cunei_frame frame = frame_above(profile, below, slot);
    frame.entered = entered;
    if (profile->tree)
        frame.node = cunei_tree_child(profile->tree, below->node, slot);
    if (profile->edges) {
        frame.edge = cunei_edges_find(profile->edges, below->slot, slot);
        cunei_edges_open(profile->edges, frame.edge, time);
    }
    if (facts->open++ == 0) {
        facts->opened_at = time;
        facts->edge = frame.edge;
    }
    below[1] = frame;
    return 0;
}

void cunei_stack_count(struct cunei_profile *profile, const struct cunei_span *span,
                       bool is_call)
{
    const struct cunei_frame *top = &span->frames[span->depth], *below = top - 1;
    struct cunei_facts *facts = &profile->functions[top->slot];

    facts->calls += is_call;
    facts->resumes += !is_call;
    facts->recursive += is_call && facts->open > 1;
    facts->nested += !is_call && facts->open > 1;
    if (profile->tree) {
        struct cunei_node *node = &profile->tree->nodes[top->node];
        if (node->slot == top->slot) {
            node->calls += is_call;
            node->resumes += !is_call;
            node->recursive += is_call && top->node == below->node;
        }
    }
    if (profile->edges) {
        struct cunei_edge *edge = &profile->edges->items[top->edge];
        edge->calls += is_call;
        edge->resumes += !is_call;
        edge->recursive += edge->open > 1;
    }
}

int cunei_stack_enter(struct cunei_profile *profile, struct cunei_span *span,
                      uint32_t slot, bool is_call, uint64_t time)
{
    struct cunei_facts *facts = &profile->functions[slot];

    if (span->beyond > 0 || !cunei_stack_reserve(span)) {
        span->beyond++;
        facts->calls += is_call;
        facts->resumes += !is_call;
    } else {
        uint64_t watched =
            cunei_slot_is_region(profile, slot) ? 0 : CUNEI_FRAME_WATCHED;
        int rc = cunei_stack_open(profile, span, slot, time | watched, time);
        if (rc < 0)
            return rc;
        cunei_stack_count(profile, span, is_call);
    }
    return is_call ? 0 : cunei_suspended_read(profile, span, slot, false, time);
}

static void account_total(struct cunei_profile *profile, struct cunei_facts *facts,
                          uint64_t time)
{
    facts->total += time - facts->opened_at;
    if (profile->edges)
        profile->edges->items[facts->edge].total += time - facts->opened_at;
}

void cunei_stack_drop(struct cunei_profile *profile, struct cunei_span *span,
                      uint64_t time)
{
    const struct cunei_frame *top = &span->frames[span->depth];
    struct cunei_facts *facts = &profile->functions[top->slot];

    if (--facts->open == 0)
        account_total(profile, facts, time);
    if (profile->edges)
        cunei_edges_close(profile->edges, top->edge, time);
    span->depth--;
}

/* A frame ended, of which a step may be. */
static int end_step(struct cunei_profile *profile, struct cunei_span *span,
                    const struct cunei_frame *frame, uint32_t slot, uint64_t time,
                    enum cunei_ending ending)
{
    if (!cunei_frame_is_watched(frame) || cunei_slot_is_region(profile, frame->slot))
        return 0;
    return cunei_steps_end(profile, span, frame->level - 1, slot, time, ending);
}

int cunei_stack_lose(struct cunei_profile *profile, struct cunei_span *span,
                     uint64_t time)
{
    const struct cunei_frame top = span->frames[span->depth];

    cunei_stack_drop(profile, span, time);
    return end_step(profile, span, &top, top.slot, time, CUNEI_ENDING_UNSEEN);
}

int cunei_stack_sample_top(struct cunei_profile *profile, struct cunei_span *span,
                           uint32_t slot, uint64_t time)
{
    const struct cunei_frame *top = &span->frames[span->depth];
    uint32_t origin = cunei_frame_origin(top);

    if (!cunei_frame_is_unknown(top))
        return cunei_stack_sample(profile, slot,
                                  time - (top->entered & ~CUNEI_FRAME_WATCHED));
    if (origin > 0)
        return cunei_stack_add_closing(span,
                                       (struct cunei_closing){time, origin - 1, slot});
    return 0;
}

/* The top frame is left. */
static int close_frame(struct cunei_profile *profile, struct cunei_span *span,
                       const struct cunei_leave *leave)
{
    const struct cunei_frame top = span->frames[span->depth];
    enum cunei_ending ending =
        leave->is_yield ? CUNEI_ENDING_YIELD : CUNEI_ENDING_LEAVE;

    if (leave->is_unwind && !leave->is_close)
        ending = CUNEI_ENDING_RAISE;
    profile->functions[leave->slot].raised += leave->is_unwind;
    int rc = cunei_stack_sample_top(profile, span, leave->slot, leave->time);
    cunei_stack_drop(profile, span, leave->time);
    if (rc == 0)
        rc = end_step(profile, span, &top, leave->slot, leave->time, ending);
    return rc;
}

static bool is_region_at(const struct cunei_profile *profile,
                         const struct cunei_span *span, uint32_t depth)
{
    return cunei_slot_is_region(profile, span->frames[depth].slot);
}

/* The depth of the function that is innermost from a depth on downwards. */
static uint32_t function_below(const struct cunei_profile *profile,
                               const struct cunei_span *span, uint32_t depth)
{
    while (depth > 0 && is_region_at(profile, span, depth))
        depth--;
    return depth;
}

/*
 * The frame at a depth is left.  What is above it is put aside for that: all of it
 * where a region ends, regions where a function does, which was not seen to end
 * the functions that it called.
 */
static int leave_below(struct cunei_profile *profile, struct cunei_span *span,
                       const struct cunei_leave *leave, uint32_t depth)
{
    bool is_region = is_region_at(profile, span, depth);
    uint32_t above = span->depth - depth, kept = 0;
    int rc = 0;

    struct cunei_frame *aside = malloc((above + 1) * sizeof(*aside));
    if (!aside)
        return -ENOMEM;
    while (rc == 0 && span->depth > depth) {
        if (is_region || is_region_at(profile, span, span->depth)) {
            aside[kept++] = span->frames[span->depth];
            cunei_stack_drop(profile, span, leave->time);
            continue;
        }
        profile->unclosed++;
        rc = cunei_stack_lose(profile, span, leave->time);
    }
    if (rc == 0)
        rc = close_frame(profile, span, leave);
    while (rc == 0 && kept > 0) {
        kept--;
        rc = cunei_stack_open(profile, span, aside[kept].slot, aside[kept].entered,
                              leave->time);
    }
    free(aside);
    return rc;
}

static int leave_at(struct cunei_profile *profile, struct cunei_span *span,
                    const struct cunei_leave *leave, uint32_t depth)
{
    return depth == span->depth ? close_frame(profile, span, leave)
                                : leave_below(profile, span, leave, depth);
}

/*
 * The depth of the frame that the leave behind an `unwind` is of, which counted those
 * of its function; 0: there are not so many.  Where the frames below are not known, it
 * may well be so.
 */
static uint32_t unwound_depth(const struct cunei_profile *profile,
                              const struct cunei_span *span,
                              const struct cunei_leave *leave)
{
    uint32_t depth = function_below(profile, span, span->depth), top = depth;
    uint64_t count = depth > 0 && span->frames[depth].slot == leave->slot
                         ? span->frames[depth].run
                         : 0;

    for (uint64_t i = count; i > leave->run; i--)
        depth = function_below(profile, span, depth - 1);
    if (count >= leave->run)
        return depth;
    for (uint64_t i = count; i > 0; i--)
        depth = function_below(profile, span, depth - 1);
    return depth > 0 && span->frames[depth].slot == 0 ? top : 0;
}

int cunei_stack_leave(struct cunei_profile *profile, struct cunei_span *span,
                      const struct cunei_leave *leave)
{
    bool is_region = cunei_slot_is_region(profile, leave->slot);
    uint32_t depth = span->depth;

    if (span->beyond > 0) {
        span->beyond--;
        return 0;
    }
    if (leave->is_unwind && leave->run > 0 && !is_region)
        depth = unwound_depth(profile, span, leave);
    else if (profile->functions[leave->slot].open > 0)
        while (depth > 1 && span->frames[depth].slot != leave->slot)
            depth--;
    else {
        depth = is_region ? 0 : function_below(profile, span, depth);
        if (depth > 0 && span->frames[depth].slot != 0)
            depth = 0;
    }
    if (depth == 0) {
        profile->orphans++;
        return 0;
    }
    return leave_at(profile, span, leave, depth);
}

void cunei_stack_seal(struct cunei_profile *profile, const struct cunei_span *span)
{
    for (uint32_t i = 1; i <= span->depth; i++) {
        struct cunei_facts *facts = &profile->functions[span->frames[i].slot];
        if (facts->open > 0)
            account_total(profile, facts, span->last);
        facts->open = 0;
        if (profile->edges)
            cunei_edges_close(profile->edges, span->frames[i].edge, span->last);
    }
}
