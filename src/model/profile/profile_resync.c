// SPDX-License-Identifier: MIT
#include "model/profile/profile_resync.h"

#include <errno.h>
#include <stdlib.h>

#include "model/facts/call_edges.h"
#include "model/facts/call_tree.h"
#include "model/profile/profile_stack.h"
#include "model/profile/suspended.h"
#include "model/profile/task_steps.h"
#include "stack/resync.h"

/* The stack of a piece, and how a `stack` event changes it. */
struct change {
    struct cunei_profile *profile;
    struct cunei_piece *piece;
    uint64_t time;
    bool is_lost;  /* events were, before it */
    bool is_first; /* of its thread */
    bool counts;   /* frames that appear or vanish should not be */
};

/* A leave, with the frame's function as the kernel compares it. */
struct leave {
    struct cunei_resync_leave leave;
    const struct cunei_leave *event;
};

static uint32_t depth_of(const void *stack)
{
    const struct change *change = stack;
    return change->piece->depth;
}

static uint32_t function_at(const void *stack, uint32_t depth)
{
    const struct change *change = stack;
    return cunei_slot_known_function(change->piece->frames[depth].slot);
}

static bool is_region_at(const void *stack, uint32_t depth)
{
    const struct change *change = stack;
    return cunei_slot_is_region(change->profile, change->piece->frames[depth].slot);
}

static uint32_t run_at(const void *stack, uint32_t depth)
{
    const struct change *change = stack;
    return change->piece->frames[depth].run;
}

static bool is_open(const void *stack, uint32_t function)
{
    const struct change *change = stack;
    uint32_t slot = cunei_slot_of(change->profile, function);
    return change->profile->functions[slot].open > 0;
}

/* The top frame is left. */
static int leave_top(void *stack, const struct cunei_resync_leave *leave)
{
    const struct cunei_leave *event =
        ((const struct leave *)(const void *)leave)->event;
    const struct change *change = stack;
    struct cunei_profile *profile = change->profile;
    struct cunei_piece *piece = change->piece;
    const struct cunei_frame top = piece->frames[piece->depth];
    enum cunei_ending ending =
        event->is_yield ? CUNEI_ENDING_YIELD : CUNEI_ENDING_LEAVE;

    if (event->is_unwind && !event->is_close)
        ending = CUNEI_ENDING_RAISE;
    profile->functions[event->slot].raised += event->is_unwind;
    int rc = cunei_profile_stack_sample_top(profile, piece, event->slot);
    cunei_profile_stack_drop(profile, piece);
    if (rc == 0)
        rc = cunei_profile_stack_end_step(profile, piece, &top, event->slot, ending);
    return rc;
}

static int miss(void *stack, bool is_sync)
{
    const struct change *change = stack;

    change->profile->unclosed += !is_sync || change->counts;
    return cunei_profile_stack_lose(change->profile, change->piece);
}

static int put_aside(void *stack, void *frame, bool is_sync)
{
    const struct change *change = stack;

    (void)is_sync;
    *(struct cunei_frame *)frame = change->piece->frames[change->piece->depth];
    cunei_profile_stack_drop(change->profile, change->piece);
    return 0;
}

static int put_back(void *stack, const void *frame, bool is_sync)
{
    const struct cunei_frame *aside = frame;
    const struct change *change = stack;

    (void)is_sync;
    return cunei_profile_stack_open(change->profile, change->piece, aside->slot,
                                    aside->entered);
}

/* The function of a frame becomes known; its place in the tree stays. */
static void name_slot(struct cunei_profile *profile, struct cunei_frame *frame,
                      uint32_t slot, uint64_t time)
{
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

static int name_frame(void *stack, uint32_t depth, uint32_t function)
{
    const struct change *change = stack;
    struct cunei_frame *frame = &change->piece->frames[depth];
    uint32_t slot = cunei_slot_of(change->profile, function);

    if (frame->slot == 0 && slot != 0)
        name_slot(change->profile, frame, slot, change->piece->last);
    cunei_profile_stack_place(change->profile, frame);
    return 0;
}

static void name_aside(void *frame, uint32_t function)
{
    ((struct cunei_frame *)frame)->slot = function - (CUNEI_FUNCTION_FIRST - 1);
}

/* Where events were lost, the frames that ended are taken to have ended at once, and
 * what ran above the others until now is unknown. */
static int settle(void *stack)
{
    const struct change *change = stack;
    struct cunei_profile *profile = change->profile;
    struct cunei_piece *piece = change->piece;

    if (change->is_lost && profile->tree)
        profile->tree->nodes[piece->frames[piece->depth].node].gap +=
            change->time - piece->last;
    piece->last = change->time;
    return 0;
}

static int find(void *stack, uint32_t function)
{
    const struct change *change = stack;
    struct cunei_piece *piece = change->piece;
    /* Only a piece's first thread can have begun in the piece before it. */
    bool is_inherited = change->is_first && piece->thread_count == 1;
    uint32_t origin = is_inherited ? piece->depth + 1 : 0;

    change->profile->appeared += change->counts;
    return cunei_profile_stack_open(change->profile, piece,
                                    cunei_slot_of(change->profile, function),
                                    CUNEI_FRAME_UNKNOWN | origin);
}

static const struct cunei_resync_methods methods = {
    .frame_size = sizeof(struct cunei_frame),
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
    .settle = settle,
    .find = find,
};

int cunei_profile_leave(struct cunei_profile *profile, struct cunei_piece *piece,
                        const struct cunei_leave *event)
{
    struct change change = {.profile = profile, .piece = piece};
    const struct leave leave = {.leave = {cunei_slot_function(event->slot), event->run},
                                .event = event};

    if (piece->beyond > 0) {
        piece->beyond--;
        return 0;
    }
    uint32_t depth = cunei_resync_left_depth(
        &methods, &change, &leave.leave, cunei_slot_is_region(profile, event->slot));
    if (depth == 0) {
        profile->orphans++;
        return 0;
    }
    return cunei_resync_leave_at(&methods, &change, &leave.leave, depth);
}

/* Ids from here on have no slot. */
static uint32_t function_end(const struct cunei_profile *profile)
{
    return cunei_slot_function(profile->slot_count);
}

/* Remember what the piece's first thread found open. */
static int inherit(struct cunei_piece *piece)
{
    piece->inherited = malloc((piece->depth + (size_t)1) * sizeof(*piece->inherited));
    if (!piece->inherited)
        return -ENOMEM;
    for (uint32_t i = 0; i < piece->depth; i++)
        piece->inherited[i] = piece->frames[i + 1].slot;
    piece->inherited_count = piece->depth;
    return 0;
}

int cunei_profile_sync(struct cunei_profile *profile, struct cunei_piece *piece,
                       const struct cunei_stack *stack, uint64_t time)
{
    struct change change = {.profile = profile,
                            .piece = piece,
                            .time = time,
                            .is_lost = piece->begun && piece->lost,
                            .is_first = !piece->begun,
                            .counts = piece->begun && !piece->lost && !piece->renewed};
    struct cunei_stack_view view = {0};

    if (stack)
        view = cunei_stack_view_of_stack(stack, function_end(profile));
    if (change.is_first)
        piece->threads[piece->thread_count - 1].begin = piece->last = time;
    else if (!change.is_lost)
        cunei_profile_stack_pass(profile, piece, time);
    profile->unclosed += change.counts ? piece->beyond : 0;
    profile->gaps += change.is_lost;
    piece->lost = piece->renewed = false;
    piece->begun = true;
    piece->beyond = 0;
    int rc = cunei_resync_stack(&methods, &change, &profile->kinds, &view);
    return rc == 0 && change.is_first && piece->thread_count == 1 ? inherit(piece) : rc;
}

/* The top frame is suspended, with all that is below it. */
static int suspend_frame(struct cunei_profile *profile, struct cunei_piece *piece)
{
    uint32_t slot = piece->frames[piece->depth].slot;

    int rc = cunei_profile_stack_sample_top(profile, piece, slot);
    cunei_profile_stack_drop(profile, piece);
    if (rc == 0 && slot != 0)
        rc = cunei_suspended_read(profile->functions, &piece->waits, slot, true,
                                  piece->last);
    return rc;
}

static int resume_frame(struct cunei_profile *profile, struct cunei_piece *piece,
                        uint32_t slot)
{
    int rc = cunei_profile_stack_open(profile, piece, slot,
                                      piece->last | CUNEI_FRAME_WATCHED);
    if (rc < 0 || slot == 0)
        return rc;
    cunei_profile_stack_count(profile, piece, false);
    return cunei_suspended_read(profile->functions, &piece->waits, slot, false,
                                piece->last);
}

int cunei_profile_switch(struct cunei_profile *profile, struct cunei_piece *piece,
                         const struct cunei_switch *event, uint64_t time)
{
    struct cunei_stack_view view =
        cunei_stack_view_of_switch(event, function_end(profile));
    int rc = 0;

    cunei_profile_stack_pass(profile, piece, time);
    while (rc == 0 && piece->depth > 0)
        rc = suspend_frame(profile, piece);
    for (uint32_t i = 0; rc == 0 && i < view.depth; i++)
        rc = resume_frame(profile, piece,
                          cunei_slot_of(profile, cunei_stack_view_function(&view, i)));
    piece->beyond = 0;
    profile->switches++;
    return rc;
}
