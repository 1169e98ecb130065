// SPDX-License-Identifier: MIT
#include "model/walk/walk_stack.h"

#include <errno.h>

#include "base/vector.h"
#include "model/walk/greenlet_stacks.h"

int cunei_walk_report(struct cunei_walk *walk, struct cunei_walk_step step)
{
    step.packet = walk->packet;
    step.time = walk->last;
    step.frames = walk->frames;
    step.depth = walk->depth;
    if (step.kind != CUNEI_WALK_ORPHAN && walk->depth > 0)
        step.function = walk->frames[walk->depth - 1].function;
    return walk->step(walk->context, &step);
}

/* The innermost function at a depth or below it; NULL: there is none. */
static const struct cunei_walk_frame *function_below(const struct cunei_walk *walk,
                                                     uint32_t depth)
{
    while (depth > 0 && walk->frames[depth - 1].is_region)
        depth--;
    return depth > 0 ? &walk->frames[depth - 1] : NULL;
}

/* How many frames of a function are in a row with one that stands on `depth` frames. */
static uint32_t run_on(const struct cunei_walk *walk, uint32_t depth, uint32_t function)
{
    const struct cunei_walk_frame *below = function_below(walk, depth);

    return below && below->function == function ? below->run + 1 : 1;
}

/* Add a frame; false: there is no room for it, and it is only counted. */
static bool push(struct cunei_walk *walk, struct cunei_walk_frame frame)
{
    if (walk->depth >= CUNEI_DEPTH_MAX ||
        !CUNEI_VECTOR_RESERVE(walk->frames, walk->capacity, walk->depth + 1) ||
        !cunei_open_counts_add(&walk->counts, frame.function)) {
        walk->beyond++;
        return false;
    }
    frame.is_region = cunei_id_kinds_is_region(&walk->kinds, frame.function);
    frame.run = frame.is_region ? 1 : run_on(walk, walk->depth, frame.function);
    walk->frames[walk->depth++] = frame;
    return true;
}

/* Report how the top frame ended, and remove it. */
static int pop(struct cunei_walk *walk, struct cunei_walk_step step)
{
    int rc = cunei_walk_report(walk, step);

    cunei_open_counts_remove(&walk->counts, walk->frames[--walk->depth].function);
    return rc;
}

static uint32_t depth_of(const void *stack)
{
    const struct cunei_walk *walk = stack;
    return walk->depth;
}

static uint32_t function_at(const void *stack, uint32_t depth)
{
    const struct cunei_walk *walk = stack;
    return walk->frames[depth - 1].function;
}

static bool is_region_at(const void *stack, uint32_t depth)
{
    const struct cunei_walk *walk = stack;
    return walk->frames[depth - 1].is_region;
}

static uint32_t run_at(const void *stack, uint32_t depth)
{
    const struct cunei_walk *walk = stack;
    return walk->frames[depth - 1].run;
}

static bool is_open(const void *stack, uint32_t function)
{
    const struct cunei_walk *walk = stack;
    return cunei_open_counts_has(&walk->counts, function);
}

/* The function of a frame becomes known. */
static int name_frame(void *stack, uint32_t depth, uint32_t function)
{
    struct cunei_walk *walk = stack;
    struct cunei_walk_frame *frame = &walk->frames[depth - 1];

    if (frame->function == 0 && function != 0) {
        if (!cunei_open_counts_add(&walk->counts, function))
            return -ENOMEM;
        cunei_open_counts_remove(&walk->counts, 0);
        frame->function = function;
    }
    if (!frame->is_region)
        frame->run = run_on(walk, depth - 1, frame->function);
    return 0;
}

static int leave_top(void *stack, const struct cunei_resync_leave *leave)
{
    const struct cunei_walk_leave *event = (const void *)leave;
    struct cunei_walk *walk = stack;

    int rc = name_frame(walk, walk->depth, leave->function);
    if (rc < 0)
        return rc;
    return pop(walk, (struct cunei_walk_step){.kind = CUNEI_WALK_LEAVE,
                                              .is_yield = event->is_yield,
                                              .is_raised = event->is_raised});
}

static int miss(void *stack, bool is_sync)
{
    return pop(stack, (struct cunei_walk_step){.kind = CUNEI_WALK_MISSED,
                                               .is_correction = is_sync});
}

static int put_aside(void *stack, void *frame, bool is_sync)
{
    struct cunei_walk *walk = stack;

    int rc = pop(walk, (struct cunei_walk_step){.kind = CUNEI_WALK_ASIDE,
                                                .is_correction = is_sync});
    *(struct cunei_walk_frame *)frame = walk->frames[walk->depth];
    return rc;
}

static int put_back(void *stack, const void *frame, bool is_sync)
{
    if (!push(stack, *(const struct cunei_walk_frame *)frame))
        return 0;
    return cunei_walk_report(stack, (struct cunei_walk_step){.kind = CUNEI_WALK_AGAIN,
                                                             .is_correction = is_sync});
}

static void name_aside(void *frame, uint32_t function)
{
    ((struct cunei_walk_frame *)frame)->function = function;
}

static int find(void *stack, uint32_t function)
{
    const struct cunei_walk *walk = stack;

    if (!push(stack,
              (struct cunei_walk_frame){.function = function, .entered = walk->last}))
        return 0;
    return cunei_walk_report(stack, (struct cunei_walk_step){.kind = CUNEI_WALK_FOUND,
                                                             .is_correction = true});
}

static const struct cunei_resync_methods methods = {
    .frame_size = sizeof(struct cunei_walk_frame),
    .depth = depth_of,
    .function = function_at,
    .is_region = is_region_at,
    .run = run_at,
    .is_open = is_open,
    .leave = leave_top,
    .miss = miss,
    .put_aside = put_aside,
    .put_back = put_back,
    .name = name_frame,
    .name_aside = name_aside,
    .find = find,
};

int cunei_walk_enter(struct cunei_walk *walk, uint32_t function, bool is_resumed)
{
    const struct cunei_walk_frame frame = {.function = function,
                                           .is_known = true,
                                           .is_resumed = is_resumed,
                                           .entered = walk->last};

    if (!push(walk, frame))
        return 0;
    return cunei_walk_report(walk, (struct cunei_walk_step){.kind = CUNEI_WALK_ENTER});
}

int cunei_walk_leave(struct cunei_walk *walk, const struct cunei_walk_leave *leave)
{
    uint32_t function = leave->leave.function;

    if (walk->beyond > 0) {
        walk->beyond--;
        return 0;
    }
    uint32_t depth =
        cunei_resync_left_depth(&methods, walk, &leave->leave,
                                cunei_id_kinds_is_region(&walk->kinds, function));
    if (depth > 0)
        return cunei_resync_leave_at(&methods, walk, &leave->leave, depth);
    return cunei_walk_report(walk,
                             (struct cunei_walk_step){.kind = CUNEI_WALK_ORPHAN,
                                                      .function = function,
                                                      .is_raised = leave->is_raised});
}

static int sync_view(struct cunei_walk *walk, const struct cunei_stack_view *view)
{
    walk->beyond = 0;
    return cunei_resync_stack(&methods, walk, &walk->kinds, view);
}

int cunei_walk_sync(struct cunei_walk *walk, const struct cunei_stack *stack)
{
    struct cunei_stack_view view = cunei_stack_view_of_stack(stack, CUNEI_FUNCTION_END);
    return sync_view(walk, &view);
}

/* Keep the frames of the greenlet that ran. */
static int suspend_stack(struct cunei_walk *walk)
{
    if (!walk->greenlets)
        walk->greenlets = cunei_greenlets_new();
    if (!walk->greenlets)
        return -ENOMEM;
    if (walk->depth == 0)
        return 0;
    for (uint32_t i = 0; i < walk->depth; i++)
        cunei_open_counts_remove(&walk->counts, walk->frames[i].function);
    int rc = cunei_greenlets_add(walk->greenlets, walk->greenlet, walk->frames,
                                 walk->depth, walk->last);
    walk->depth = 0;
    return rc;
}

/* The frames of a greenlet are open again. */
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

static bool is_like(const struct cunei_greenlet *greenlet,
                    const struct cunei_stack_view *view)
{
    bool is_same = greenlet && greenlet->depth == view->depth;

    for (uint32_t i = 0; is_same && i < greenlet->depth; i++)
        is_same = greenlet->frames[i].function == cunei_stack_view_function(view, i);
    return is_same;
}

int cunei_walk_switch(struct cunei_walk *walk, const struct cunei_switch *change)
{
    struct cunei_stack_view view =
        cunei_stack_view_of_switch(change, CUNEI_FUNCTION_END);

    int rc =
        cunei_walk_report(walk, (struct cunei_walk_step){.kind = CUNEI_WALK_SWITCH,
                                                         .greenlet = change->greenlet});
    if (rc == 0)
        rc = suspend_stack(walk);
    if (rc != 0)
        return rc;
    walk->greenlet = change->greenlet;
    const struct cunei_greenlet *greenlet =
        cunei_greenlets_find(walk->greenlets, change->greenlet);
    /* The number of the greenlet that ran at first is not known until a switch to it.
     */
    if (!greenlet) {
        greenlet = cunei_greenlets_find(walk->greenlets, 0);
        if (!is_like(greenlet, &view))
            greenlet = NULL;
    }
    if (greenlet)
        resume_stack(walk, greenlet);
    return sync_view(walk, &view);
}

static int report_open(struct cunei_walk *walk, bool is_suspended)
{
    int rc = 0;

    while (rc == 0 && walk->depth > 0)
        rc = pop(walk, (struct cunei_walk_step){.kind = CUNEI_WALK_OPEN,
                                                .is_suspended = is_suspended});
    walk->beyond = 0;
    return rc;
}

int cunei_walk_end_thread(struct cunei_walk *walk)
{
    const struct cunei_greenlet *greenlet;

    walk->packet = NULL;
    int rc = report_open(walk, false);
    while (rc == 0 && walk->greenlets &&
           (greenlet = cunei_greenlets_first(walk->greenlets))) {
        resume_stack(walk, greenlet);
        rc = report_open(walk, true);
    }
    walk->greenlet = 0;
    return rc;
}
