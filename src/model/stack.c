// SPDX-License-Identifier: MIT
#include "model/stack.h"

#include <errno.h>
#include <stdlib.h>

#include "model/edges.h"
#include "model/tree.h"

void cunei_stack_pass(struct cunei_profile *profile, struct cunei_span *span,
                      uint64_t time)
{
    const struct cunei_frame *top = &span->frames[span->depth];
    uint64_t passed = time - span->last;

    profile->functions[top->slot].self += passed;
    if (profile->tree)
        profile->tree->nodes[top->node].self += passed;
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

/* A frame whose entry nobody saw. */
static int open_frame(struct cunei_profile *profile, struct cunei_span *span,
                      uint32_t slot, uint64_t time)
{
    struct cunei_facts *facts = &profile->functions[slot];

    if (!cunei_stack_reserve(span))
        return -ENOMEM;
    struct cunei_frame *below = &span->frames[span->depth++];
    struct cunei_frame frame = {
        .entered = CUNEI_TIME_UNKNOWN,
        .slot = slot,
        .run = slot == below->slot ? below->run + 1 : 1,
    };
    if (profile->tree)
        frame.node = cunei_tree_child(profile->tree, below->node, slot);
    if (facts->open++ == 0) {
        facts->opened_at = time;
        if (profile->edges)
            facts->edge = cunei_edges_find(profile->edges, below->slot, slot);
    }
    below[1] = frame;
    return 0;
}

static void account_total(struct cunei_profile *profile, struct cunei_facts *facts,
                          uint64_t time)
{
    facts->total += time - facts->opened_at;
    if (profile->edges)
        profile->edges->items[facts->edge].total += time - facts->opened_at;
}

/* Remove the top frame without saying how long it took. */
static void drop_frame(struct cunei_profile *profile, struct cunei_span *span,
                       uint64_t time)
{
    struct cunei_facts *facts = &profile->functions[span->frames[span->depth].slot];

    if (--facts->open == 0)
        account_total(profile, facts, time);
    span->depth--;
    if (span->kept > span->depth)
        span->kept = span->depth;
}

/* The top frame is left, which is one of `slot` even if that was not known so far. */
static int close_frame(struct cunei_profile *profile, struct cunei_span *span,
                       uint32_t slot, uint64_t time, bool unwind)
{
    const struct cunei_frame *top = &span->frames[span->depth];
    int rc = 0;

    profile->functions[slot].raised += unwind;
    if (top->entered != CUNEI_TIME_UNKNOWN)
        rc = cunei_stack_sample(profile, slot, time - top->entered);
    else if (span->depth <= span->kept)
        rc = cunei_stack_add_closing(
            span, (struct cunei_closing){time, span->depth - 1, slot});
    drop_frame(profile, span, time);
    return rc;
}

/*
 * How many frames of the function stand on top; `run` where the frames below are not
 * known and it may well be so.
 */
static uint64_t count_run(const struct cunei_span *span, uint32_t slot, uint64_t run)
{
    const struct cunei_frame *top = &span->frames[span->depth];
    uint32_t count = top->slot == slot ? top->run : 0;
    uint32_t below = span->depth - count;

    if (count < run && below > 0 && span->frames[below].slot == 0)
        return run;
    return count;
}

int cunei_stack_leave(struct cunei_profile *profile, struct cunei_span *span,
                      uint32_t slot, uint64_t time, bool unwind, uint64_t run)
{
    uint64_t count = run ? count_run(span, slot, run) : 0;

    if (span->beyond > 0) {
        span->beyond--;
        return 0;
    }
    if (unwind && run > 0) {
        if (count < run) {
            profile->orphans++;
            return 0;
        }
        for (; count > run; count--) {
            profile->unclosed++;
            drop_frame(profile, span, time);
        }
        return close_frame(profile, span, slot, time, true);
    }

    if (profile->functions[slot].open == 0) {
        bool hidden = span->depth > 0 && span->frames[span->depth].slot == 0;
        if (hidden)
            return close_frame(profile, span, slot, time, unwind);
        profile->orphans++;
        return 0;
    }
    while (span->depth > 1 && span->frames[span->depth].slot != slot) {
        profile->unclosed++;
        drop_frame(profile, span, time);
    }
    return close_frame(profile, span, slot, time, unwind);
}

static uint32_t slot_of(const struct cunei_profile *profile, uint32_t function)
{
    uint32_t slot = function - (CUNEI_FUNCTION_FIRST - 1);
    return function >= CUNEI_FUNCTION_FIRST && slot < profile->slot_count ? slot : 0;
}

/* What a `stack` event says: `hidden` frames of unknown functions, then these. */
struct view {
    const uint32_t *functions;
    uint32_t hidden;
    uint32_t depth; /* with the hidden ones */
};

static struct view view_of(const struct cunei_stack *stack)
{
    if (!stack)
        return (struct view){0};
    uint32_t padding = stack->count > 0 && stack->functions[0] == 0;
    uint32_t count = stack->count - padding;
    uint32_t hidden = stack->omitted;
    if (count > CUNEI_DEPTH_MAX)
        count = CUNEI_DEPTH_MAX;
    if (hidden > CUNEI_DEPTH_MAX - count)
        hidden = CUNEI_DEPTH_MAX - count;
    return (struct view){stack->functions + padding, hidden, hidden + count};
}

static uint32_t slot_at(const struct cunei_profile *profile, const struct view *view,
                        uint32_t position)
{
    if (position < view->hidden)
        return 0;
    return slot_of(profile, view->functions[position - view->hidden]);
}

/* How many frames from the bottom both know. */
static uint32_t common_depth(const struct cunei_profile *profile,
                             const struct cunei_span *span, const struct view *view)
{
    uint32_t depth = view->hidden < span->depth ? view->hidden : span->depth;

    for (; depth < span->depth && depth < view->depth; depth++) {
        uint32_t here = span->frames[depth + 1].slot;
        uint32_t there = slot_at(profile, view, depth);
        if (here != there && here != 0 && there != 0)
            break;
    }
    return depth;
}

/* Give their functions to the lowest `depth` frames that had none so far. */
static void name_frames(struct cunei_profile *profile, struct cunei_span *span,
                        const struct view *view, uint32_t depth, uint64_t time)
{
    for (uint32_t i = view->hidden; i < depth; i++) {
        struct cunei_frame *frame = &span->frames[i + 1];
        uint32_t slot = slot_at(profile, view, i);
        if (frame->slot == 0 && slot != 0) {
            struct cunei_facts *facts = &profile->functions[slot];
            frame->slot = slot;
            profile->functions[0].open--;
            if (facts->open++ == 0) {
                facts->opened_at = time;
                if (profile->edges)
                    facts->edge =
                        cunei_edges_find(profile->edges, frame[-1].slot, slot);
            }
        }
        frame->run = frame->slot == frame[-1].slot ? frame[-1].run + 1 : 1;
    }
}

/* The first that a thread says: nothing before it is known. */
static int begin_stack(struct cunei_profile *profile, struct cunei_span *span,
                       const struct view *view, uint64_t time)
{
    span->begun = true;
    span->last = time;
    for (uint32_t i = 0; i < view->depth; i++) {
        int rc = open_frame(profile, span, slot_at(profile, view, i), time);
        if (rc < 0)
            return rc;
    }
    if (span->thread_count > 1)
        return 0;

    /* Only a span's first thread can have begun in the span before it. */
    span->inherited = malloc((view->depth + 1) * sizeof(*span->inherited));
    if (!span->inherited)
        return -ENOMEM;
    for (uint32_t i = 0; i < view->depth; i++)
        span->inherited[i] = span->frames[i + 1].slot;
    span->inherited_count = view->depth;
    span->kept = view->depth;
    return 0;
}

int cunei_stack_sync(struct cunei_profile *profile, struct cunei_span *span,
                     const struct cunei_stack *stack, uint64_t time)
{
    struct cunei_thread *thread = &span->threads[span->thread_count - 1];
    struct view view = view_of(stack);
    bool lost = span->lost;
    int rc = 0;

    span->lost = false;
    if (!span->begun) {
        thread->begin = time;
        return begin_stack(profile, span, &view, time);
    }

    uint32_t common = common_depth(profile, span, &view);
    if (!lost) {
        cunei_stack_pass(profile, span, time);
        profile->unclosed += span->depth - common + span->beyond;
        profile->appeared += view.depth - common;
    }
    /* Where events were lost, what is not open any more is taken to have ended at once,
     * and what went on below the rest is unknown. */
    while (span->depth > common)
        drop_frame(profile, span, span->last);
    if (lost && profile->tree)
        profile->tree->nodes[span->frames[common].node].gap += time - span->last;
    profile->gaps += lost;
    span->beyond = 0;
    span->last = time;
    if (profile->functions[0].open > 0)
        name_frames(profile, span, &view, common, time);
    for (uint32_t i = common; rc == 0 && i < view.depth; i++)
        rc = open_frame(profile, span, slot_at(profile, &view, i), time);
    return rc;
}

void cunei_stack_seal(struct cunei_profile *profile, const struct cunei_span *span)
{
    for (uint32_t i = 1; i <= span->depth; i++) {
        struct cunei_facts *facts = &profile->functions[span->frames[i].slot];
        if (facts->open > 0)
            account_total(profile, facts, span->last);
        facts->open = 0;
    }
}
