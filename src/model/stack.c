// SPDX-License-Identifier: MIT
#include "model/stack.h"

#include <errno.h>
#include <stdlib.h>

#include "model/edges.h"
#include "model/steps.h"
#include "model/tree.h"
#include "model/waits.h"

void cunei_stack_pass(struct cunei_profile *profile, struct cunei_span *span,
                      uint64_t time)
{
    const struct cunei_frame *top = &span->frames[span->depth];
    uint64_t passed = time - span->last;

    profile->functions[top->slot].self += passed;
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

/* One more frame; `entered` as it is kept in it. */
static int open_frame(struct cunei_profile *profile, struct cunei_span *span,
                      uint32_t slot, uint64_t entered, uint64_t time)
{
    struct cunei_facts *facts = &profile->functions[slot];

    if (!cunei_stack_reserve(span))
        return -ENOMEM;
    struct cunei_frame *below = &span->frames[span->depth++];
    struct cunei_frame frame = {
        .entered = entered,
        .slot = slot,
        .run = slot == below->slot ? below->run + 1 : 1,
    };
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

/* Count the entry or resumption of the top frame. */
static void count_entry(struct cunei_profile *profile, const struct cunei_span *span,
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
        int rc = open_frame(profile, span, slot, time | CUNEI_FRAME_WATCHED, time);
        if (rc < 0)
            return rc;
        count_entry(profile, span, is_call);
    }
    return is_call ? 0 : cunei_waits_read(profile, span, slot, false, time);
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
    const struct cunei_frame *top = &span->frames[span->depth];
    struct cunei_facts *facts = &profile->functions[top->slot];

    if (--facts->open == 0)
        account_total(profile, facts, time);
    if (profile->edges)
        cunei_edges_close(profile->edges, top->edge, time);
    span->depth--;
    if (span->kept > span->depth)
        span->kept = span->depth;
}

/* Remove the top frame, which ended without telling. */
static int lose_frame(struct cunei_profile *profile, struct cunei_span *span,
                      uint64_t time)
{
    const struct cunei_frame *top = &span->frames[span->depth];
    uint32_t slot = top->slot;
    bool is_watched = cunei_frame_is_watched(top);

    drop_frame(profile, span, time);
    if (!is_watched)
        return 0;
    return cunei_steps_end(profile, span, span->depth, slot, time, CUNEI_ENDING_UNSEEN);
}

/* Say how long the top frame's stretch took, which is one of `slot` even if that was
 * not known so far. */
static int sample_frame(struct cunei_profile *profile, struct cunei_span *span,
                        uint32_t slot, uint64_t time)
{
    uint64_t entered = span->frames[span->depth].entered;

    if (entered != CUNEI_TIME_UNKNOWN)
        return cunei_stack_sample(profile, slot,
                                  time - (entered & ~CUNEI_FRAME_WATCHED));
    if (span->depth <= span->kept)
        return cunei_stack_add_closing(
            span, (struct cunei_closing){time, span->depth - 1, slot});
    return 0;
}

/* The top frame is left. */
static int close_frame(struct cunei_profile *profile, struct cunei_span *span,
                       const struct cunei_leave *leave)
{
    bool is_watched = cunei_frame_is_watched(&span->frames[span->depth]);
    enum cunei_ending ending =
        leave->is_yield ? CUNEI_ENDING_YIELD : CUNEI_ENDING_LEAVE;

    if (leave->is_unwind && !leave->is_close)
        ending = CUNEI_ENDING_RAISE;
    profile->functions[leave->slot].raised += leave->is_unwind;
    int rc = sample_frame(profile, span, leave->slot, leave->time);
    drop_frame(profile, span, leave->time);
    if (rc == 0 && is_watched)
        rc = cunei_steps_end(profile, span, span->depth, leave->slot, leave->time,
                             ending);
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

/* The leave behind an `unwind` that counted frames. */
static int unwind_run(struct cunei_profile *profile, struct cunei_span *span,
                      const struct cunei_leave *leave)
{
    uint64_t count = count_run(span, leave->slot, leave->run);
    int rc = 0;

    if (count < leave->run) {
        profile->orphans++;
        return 0;
    }
    for (; rc == 0 && count > leave->run; count--) {
        profile->unclosed++;
        rc = lose_frame(profile, span, leave->time);
    }
    return rc < 0 ? rc : close_frame(profile, span, leave);
}

int cunei_stack_leave(struct cunei_profile *profile, struct cunei_span *span,
                      const struct cunei_leave *leave)
{
    int rc = 0;

    if (span->beyond > 0) {
        span->beyond--;
        return 0;
    }
    if (leave->is_unwind && leave->run > 0)
        return unwind_run(profile, span, leave);

    if (profile->functions[leave->slot].open == 0) {
        bool hidden = span->depth > 0 && span->frames[span->depth].slot == 0;
        if (hidden)
            return close_frame(profile, span, leave);
        profile->orphans++;
        return 0;
    }
    while (rc == 0 && span->depth > 1 &&
           span->frames[span->depth].slot != leave->slot) {
        profile->unclosed++;
        rc = lose_frame(profile, span, leave->time);
    }
    return rc < 0 ? rc : close_frame(profile, span, leave);
}

/* What a `stack` or `switch` says: `hidden` frames of unknown functions, then these. */
struct view {
    const uint32_t *functions;
    uint32_t hidden;
    uint32_t depth; /* with the hidden ones */
};

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
        int rc = open_frame(profile, span, slot_at(profile, view, i),
                            CUNEI_TIME_UNKNOWN, time);
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
    struct view view = {0};
    bool lost = span->lost;
    int rc = 0;

    if (stack)
        view = view_of(stack->functions, stack->count, stack->omitted);
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
    while (rc == 0 && span->depth > common)
        rc = lose_frame(profile, span, span->last);
    if (lost && profile->tree)
        profile->tree->nodes[span->frames[common].node].gap += time - span->last;
    profile->gaps += lost;
    span->beyond = 0;
    span->last = time;
    if (profile->functions[0].open > 0)
        name_frames(profile, span, &view, common, time);
    for (uint32_t i = common; rc == 0 && i < view.depth; i++)
        rc = open_frame(profile, span, slot_at(profile, &view, i), CUNEI_TIME_UNKNOWN,
                        time);
    return rc;
}

/* The top frame is suspended, with all that is below it. */
static int suspend_frame(struct cunei_profile *profile, struct cunei_span *span,
                         uint64_t time)
{
    uint32_t slot = span->frames[span->depth].slot;

    int rc = sample_frame(profile, span, slot, time);
    drop_frame(profile, span, time);
    if (rc == 0 && slot != 0)
        rc = cunei_waits_read(profile, span, slot, true, time);
    return rc;
}

static int resume_frame(struct cunei_profile *profile, struct cunei_span *span,
                        uint32_t slot, uint64_t time)
{
    int rc = open_frame(profile, span, slot, time | CUNEI_FRAME_WATCHED, time);
    if (rc < 0 || slot == 0)
        return rc;
    count_entry(profile, span, false);
    return cunei_waits_read(profile, span, slot, false, time);
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
