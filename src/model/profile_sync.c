// SPDX-License-Identifier: MIT
/* What a `stack` or a `switch` makes of the stack. */
#include <errno.h>
#include <stdlib.h>

#include "model/call_edges.h"
#include "model/call_tree.h"
#include "model/profile_stack.h"
#include "model/suspended.h"
#include "stack/stack_match.h"

/* What a `stack` or `switch` says: `hidden` frames of unknown functions, then these. */
struct view {
    const uint32_t *functions;
    uint32_t hidden;
    uint32_t depth; /* with the hidden ones */
};

/* 0: not known. */
static uint32_t function_of(uint32_t slot)
{
    return slot ? cunei_slot_function(slot) : 0;
}

static struct view view_of(const uint32_t *functions, uint32_t count, uint32_t omitted)
{
    uint32_t padding = count > 0 && functions[0] == 0;
    uint32_t hidden = omitted;

    count -= padding;
    if (count > CUNEI_DEPTH_MAX)
        count = CUNEI_DEPTH_MAX;
    if (hidden > CUNEI_DEPTH_MAX - count)
        hidden = CUNEI_DEPTH_MAX - count;
    return (struct view){functions + padding, hidden, hidden + count};
}

static uint32_t slot_at(const struct cunei_profile *profile, const struct view *view,
                        uint32_t position)
{
    if (position < view->hidden)
        return 0;
    return cunei_slot_of(profile, view->functions[position - view->hidden]);
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
            if (profile->edges) {
                cunei_edges_close(profile->edges, frame->edge, time);
                frame->edge = cunei_edges_find(profile->edges, frame[-1].slot, slot);
                cunei_edges_open(profile->edges, frame->edge, time);
            }
            if (facts->open++ == 0) {
                facts->opened_at = time;
                facts->edge = frame->edge;
            }
        }
        frame->owner = frame->slot;
        frame->run = frame->slot == frame[-1].slot ? frame[-1].run + 1 : 1;
    }
}

/* The first that a thread says: nothing before it is known. */
static int begin_stack(struct cunei_profile *profile, struct cunei_span *span,
                       const struct view *view, uint64_t time)
{
    bool is_first = span->thread_count == 1;

    span->begun = true;
    span->last = time;
    for (uint32_t i = 0; i < view->depth; i++) {
        uint32_t origin = is_first ? i + 1 : 0;
        int rc = cunei_stack_open(profile, span, slot_at(profile, view, i),
                                  CUNEI_FRAME_UNKNOWN | origin, time);
        if (rc < 0)
            return rc;
    }
    if (!is_first)
        return 0;

    /* Only a span's first thread can have begun in the span before it. */
    span->inherited = malloc((view->depth + 1) * sizeof(*span->inherited));
    if (!span->inherited)
        return -ENOMEM;
    for (uint32_t i = 0; i < view->depth; i++)
        span->inherited[i] = span->frames[i + 1].slot;
    span->inherited_count = view->depth;
    return 0;
}

/* Frames that a span had open, and what a `stack` says of them. */
struct meeting {
    struct cunei_frame *frames; /* owned: those that the span had, … */
    uint32_t count;
    uint32_t *here, *there; /* owned: … their functions, those of the stack … */
    uint32_t *map;          /* … and a frame, from 1, for each of the latter; or 0 */
    uint32_t found;         /* so many of them are not 0 */
};

static void meeting_fini(struct meeting *meeting)
{
    free(meeting->frames);
    free(meeting->here);
}

static int meeting_init(struct meeting *meeting, const struct cunei_profile *profile,
                        const struct cunei_span *span, const struct view *view)
{
    size_t count = span->depth + 1, depth = view->depth + 1;

    *meeting = (struct meeting){
        .count = span->depth,
        .frames = malloc(count * sizeof(*meeting->frames)),
        .here = malloc((count + 2 * depth) * sizeof(*meeting->here)),
    };
    if (!meeting->frames || !meeting->here)
        return -ENOMEM;
    meeting->there = meeting->here + count;
    meeting->map = meeting->there + depth;
    for (uint32_t i = 0; i < span->depth; i++) {
        meeting->frames[i] = span->frames[i + 1];
        meeting->here[i] = function_of(span->frames[i + 1].slot);
    }
    for (uint32_t i = 0; i < view->depth; i++)
        meeting->there[i] = function_of(slot_at(profile, view, i));
    meeting->found = cunei_stack_match(&profile->kinds, meeting->here, span->depth,
                                       meeting->there, view->depth, meeting->map);
    return 0;
}

/* Remove all frames; those that did not meet end here, unseen. */
static int clear_frames(struct cunei_profile *profile, struct cunei_span *span,
                        const struct meeting *meeting, uint32_t depth)
{
    int rc = 0;

    for (uint32_t i = 0; i < depth; i++) {
        if (meeting->map[i] > 0)
            meeting->here[meeting->map[i] - 1] = UINT32_MAX;
    }
    while (rc == 0 && span->depth > 0) {
        if (meeting->here[span->depth - 1] == UINT32_MAX)
            cunei_stack_drop(profile, span, span->last);
        else
            rc = cunei_stack_lose(profile, span, span->last);
    }
    return rc;
}

/* Open what met, and what the stack has beside it if that is wanted. */
static int open_frames(struct cunei_profile *profile, struct cunei_span *span,
                       const struct meeting *meeting, const struct view *view,
                       bool is_all, uint64_t time)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < view->depth; i++) {
        const struct cunei_frame *frame =
            meeting->map[i] > 0 ? &meeting->frames[meeting->map[i] - 1] : NULL;
        uint32_t slot = slot_at(profile, view, i);
        if (!frame && is_all)
            rc = cunei_stack_open(profile, span, slot, CUNEI_FRAME_UNKNOWN, time);
        else if (frame)
            rc = cunei_stack_open(profile, span, slot ? slot : frame->slot,
                                  frame->entered, time);
    }
    return rc;
}

/*
 * The same as below where regions are open: they may stand elsewhere than they did, so
 * that all frames are put aside, and those that are still open put back.
 */
static int sync_regions(struct cunei_profile *profile, struct cunei_span *span,
                        const struct view *view, bool lost, bool renewed, uint64_t time)
{
    struct meeting meeting;

    int rc = meeting_init(&meeting, profile, span, view);
    if (rc < 0)
        goto out;
    if (!lost)
        cunei_stack_pass(profile, span, time);
    if (!lost && !renewed) {
        profile->unclosed += span->depth - meeting.found + span->beyond;
        profile->appeared += view->depth - meeting.found;
    }
    rc = clear_frames(profile, span, &meeting, view->depth);
    if (rc == 0 && lost) {
        rc = open_frames(profile, span, &meeting, view, false, span->last);
        if (profile->tree)
            profile->tree->nodes[span->frames[span->depth].node].gap +=
                time - span->last;
        while (rc == 0 && span->depth > 0)
            cunei_stack_drop(profile, span, time);
    }
    profile->gaps += lost;
    span->beyond = 0;
    span->last = time;
    if (rc == 0)
        rc = open_frames(profile, span, &meeting, view, true, time);
out:
    meeting_fini(&meeting);
    return rc;
}

/* Whether a region is open, or says to be. */
static bool has_regions(const struct cunei_profile *profile,
                        const struct cunei_span *span, const struct view *view)
{
    bool has = false;

    if (!profile->kinds.items)
        return false;
    for (uint32_t i = 1; !has && i <= span->depth; i++)
        has = cunei_slot_is_region(profile, span->frames[i].slot);
    return has || cunei_stack_has_regions(&profile->kinds, view->functions,
                                          view->depth - view->hidden);
}

int cunei_stack_sync(struct cunei_profile *profile, struct cunei_span *span,
                     const struct cunei_stack *stack, uint64_t time)
{
    struct cunei_thread *thread = &span->threads[span->thread_count - 1];
    struct view view = {0};
    bool lost = span->lost, renewed = span->renewed;
    int rc = 0;

    if (stack)
        view = view_of(stack->functions, stack->count, stack->omitted);
    span->lost = span->renewed = false;
    if (!span->begun) {
        thread->begin = time;
        return begin_stack(profile, span, &view, time);
    }
    if (has_regions(profile, span, &view))
        return sync_regions(profile, span, &view, lost, renewed, time);

    uint32_t common = common_depth(profile, span, &view);
    if (!lost)
        cunei_stack_pass(profile, span, time);
    if (!lost && !renewed) {
        profile->unclosed += span->depth - common + span->beyond;
        profile->appeared += view.depth - common;
    }
    /* Where events were lost, what is not open any more is taken to have ended at once,
     * and what went on below the rest is unknown. */
    while (rc == 0 && span->depth > common)
        rc = cunei_stack_lose(profile, span, span->last);
    if (lost && profile->tree)
        profile->tree->nodes[span->frames[common].node].gap += time - span->last;
    profile->gaps += lost;
    span->beyond = 0;
    span->last = time;
    if (profile->functions[0].open > 0)
        name_frames(profile, span, &view, common, time);
    for (uint32_t i = common; rc == 0 && i < view.depth; i++)
        rc = cunei_stack_open(profile, span, slot_at(profile, &view, i),
                              CUNEI_FRAME_UNKNOWN, time);
    return rc;
}

/* The top frame is suspended, with all that is below it. */
static int suspend_frame(struct cunei_profile *profile, struct cunei_span *span,
                         uint64_t time)
{
    uint32_t slot = span->frames[span->depth].slot;

    int rc = cunei_stack_sample_top(profile, span, slot, time);
    cunei_stack_drop(profile, span, time);
    if (rc == 0 && slot != 0)
        rc = cunei_suspended_read(profile, span, slot, true, time);
    return rc;
}

static int resume_frame(struct cunei_profile *profile, struct cunei_span *span,
                        uint32_t slot, uint64_t time)
{
    int rc = cunei_stack_open(profile, span, slot, time | CUNEI_FRAME_WATCHED, time);
    if (rc < 0 || slot == 0)
        return rc;
    cunei_stack_count(profile, span, false);
    return cunei_suspended_read(profile, span, slot, false, time);
}

int cunei_stack_switch(struct cunei_profile *profile, struct cunei_span *span,
                       const struct cunei_switch *change, uint64_t time)
{
    uint32_t omitted = change->omitted < CUNEI_SWITCH_HIDDEN_MAX
                           ? change->omitted
                           : CUNEI_SWITCH_HIDDEN_MAX;
    struct view view = view_of(change->functions, change->count, omitted);
    int rc = 0;

    cunei_stack_pass(profile, span, time);
    while (rc == 0 && span->depth > 0)
        rc = suspend_frame(profile, span, time);
    for (uint32_t i = 0; rc == 0 && i < view.depth; i++)
        rc = resume_frame(profile, span, slot_at(profile, &view, i), time);
    span->beyond = 0;
    profile->switches++;
    return rc;
}
