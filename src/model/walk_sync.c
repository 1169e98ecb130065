// SPDX-License-Identifier: MIT
/* What a `stack` or a `switch` makes of the frames of a walk. */
#include <errno.h>
#include <stdlib.h>

#include "model/greenlet_stacks.h"
#include "model/profile.h"
#include "model/stack_match.h"
#include "model/walk_stack.h"

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

/* What is open by the walk, and by a `stack`. */
struct meeting {
    uint32_t *here, *there; /* owned */
    uint32_t *map;          /* where each of the latter is in the former, from 1 */
    struct cunei_walk_frame *aside; /* owned: as they are put aside, by place */
};

static int meeting_init(struct meeting *meeting, const struct cunei_walk *walk,
                        const struct view *view)
{
    size_t depth = (size_t)view->hidden + view->count, count = walk->depth;

    *meeting = (struct meeting){
        .here = malloc((count + 2 * depth + 1) * sizeof(*meeting->here)),
        .aside = malloc((count + 1) * sizeof(*meeting->aside)),
    };
    if (!meeting->here || !meeting->aside)
        return -ENOMEM;
    meeting->there = meeting->here + count;
    meeting->map = meeting->there + depth;
    for (uint32_t i = 0; i < count; i++)
        meeting->here[i] = walk->frames[i].function;
    for (uint32_t i = 0; i < depth; i++)
        meeting->there[i] = function_at(view, i);
    (void)cunei_match(&walk->kinds, meeting->here, (uint32_t)count, meeting->there,
                      (uint32_t)depth, meeting->map);
    return 0;
}

/* What does not stand where it stood is put aside; what is not open any more ends. */
static int leave_place(struct cunei_walk *walk, const struct cunei_packet *packet,
                       struct meeting *meeting, uint32_t common, uint32_t depth)
{
    int rc = 0;

    for (uint32_t i = common; i < depth; i++) {
        if (meeting->map[i] > 0)
            meeting->here[meeting->map[i] - 1] = UINT32_MAX;
    }
    while (rc == 0 && walk->depth > common) {
        if (meeting->here[walk->depth - 1] == UINT32_MAX)
            rc = cunei_walk_put_aside(walk, packet, &meeting->aside[walk->depth - 1],
                                      true);
        else
            rc = cunei_walk_miss(walk, packet, true);
    }
    return rc;
}

/* The same as below where a region is open: it may stand elsewhere than it did. */
static int sync_regions(struct cunei_walk *walk, const struct cunei_packet *packet,
                        const struct view *view)
{
    uint32_t depth = view->hidden + view->count, common = 0;
    struct meeting meeting;

    int rc = meeting_init(&meeting, walk, view);
    while (rc == 0 && common < depth && meeting.map[common] == common + 1) {
        if (walk->frames[common].function == 0 &&
            !cunei_walk_rename(walk, common, meeting.there[common]))
            rc = -ENOMEM;
        common++;
    }
    if (rc == 0)
        rc = leave_place(walk, packet, &meeting, common, depth);
    for (uint32_t i = common; rc == 0 && i < depth; i++) {
        struct cunei_walk_frame frame = {.function = meeting.there[i],
                                         .entered = walk->last};
        if (meeting.map[i] > 0) {
            struct cunei_walk_frame *aside = &meeting.aside[meeting.map[i] - 1];
            aside->function = aside->function ? aside->function : frame.function;
            rc = cunei_walk_put_back(walk, packet, aside, true);
        } else if (cunei_walk_push(walk, frame))
            rc = cunei_walk_say(walk, packet,
                                (struct cunei_walk_step){.kind = CUNEI_WALK_FOUND,
                                                         .is_correction = true});
    }
    free(meeting.here);
    free(meeting.aside);
    return rc;
}

static bool has_regions(const struct cunei_walk *walk, const struct view *view)
{
    bool has = cunei_match_has_regions(&walk->kinds, view->functions, view->count);

    for (uint32_t i = 0; walk->kinds.items && !has && i < walk->depth; i++)
        has = walk->frames[i].is_region;
    return has;
}

static int sync_view(struct cunei_walk *walk, const struct cunei_packet *packet,
                     const struct view *view)
{
    uint32_t depth = view->hidden + view->count;
    uint32_t common = view->hidden < walk->depth ? view->hidden : walk->depth;
    int rc = 0;

    walk->beyond = 0;
    if (has_regions(walk, view))
        return sync_regions(walk, packet, view);
    while (common < walk->depth && common < depth) {
        uint32_t function = function_at(view, common);
        if (walk->frames[common].function == 0 &&
            !cunei_walk_rename(walk, common, function))
            return -ENOMEM;
        if (walk->frames[common].function != function)
            break;
        common++;
    }
    while (rc == 0 && walk->depth > common)
        rc = cunei_walk_miss(walk, packet, true);
    for (uint32_t i = common; rc == 0 && i < depth; i++) {
        struct cunei_walk_frame frame = {.function = function_at(view, i),
                                         .entered = walk->last};
        if (cunei_walk_push(walk, frame))
            rc = cunei_walk_say(walk, packet,
                                (struct cunei_walk_step){.kind = CUNEI_WALK_FOUND,
                                                         .is_correction = true});
    }
    return rc;
}

int cunei_walk_sync(struct cunei_walk *walk, const struct cunei_packet *packet,
                    const struct cunei_stack *stack)
{
    struct view view = view_of(stack->functions, stack->count, stack->omitted);
    return sync_view(walk, packet, &view);
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

void cunei_walk_resume_stack(struct cunei_walk *walk,
                             const struct cunei_greenlet *greenlet)
{
    for (uint32_t i = 0; i < greenlet->depth; i++) {
        struct cunei_walk_frame frame = greenlet->frames[i];
        frame.suspended += walk->last - greenlet->since;
        if (!cunei_walk_push(walk, frame))
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

int cunei_walk_switch(struct cunei_walk *walk, const struct cunei_packet *packet,
                      const struct cunei_switch *change)
{
    uint32_t omitted = change->omitted < CUNEI_SWITCH_HIDDEN_MAX
                           ? change->omitted
                           : CUNEI_SWITCH_HIDDEN_MAX;
    struct view view = view_of(change->functions, change->count, omitted);

    int rc = cunei_walk_say(walk, packet,
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
        cunei_walk_resume_stack(walk, greenlet);
    return sync_view(walk, packet, &view);
}
