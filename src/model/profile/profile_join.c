// SPDX-License-Identifier: MIT
/* Pieces of a stream that were read independently of each other become one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/facts/call_edges.h"
#include "model/facts/call_tree.h"
#include "model/profile/profile_packet.h"
#include "model/profile/profile_stack.h"
#include "model/profile/suspended.h"
#include "model/profile/task_steps.h"
#include "stack/stack_match.h"

/* What was open on both sides of the boundary. */
struct boundary {
    uint32_t *map; /* owned: for what `right` found, the frame of `left`, or 0 */
    uint32_t found;
    struct cunei_frame *common; /* owned: those, in the order of `right`, from 1 on */
};

static void boundary_fini(struct boundary *boundary)
{
    free(boundary->map);
    free(boundary->common);
}

static int boundary_init(struct boundary *boundary, const struct cunei_profile *profile,
                         const struct cunei_piece *left,
                         const struct cunei_piece *right)
{
    size_t count = right->inherited_count + (size_t)1, here_count = left->depth;
    uint32_t common = 0;

    *boundary = (struct boundary){
        .map = malloc((2 * count + here_count) * sizeof(*boundary->map)),
        .common = malloc(count * sizeof(*boundary->common)),
    };
    if (!boundary->map || !boundary->common)
        return -ENOMEM;
    uint32_t *there = boundary->map + count, *here = there + count;
    for (uint32_t i = 0; i < left->depth; i++)
        here[i] = cunei_slot_known_function(left->frames[i + 1].slot);
    for (uint32_t i = 0; i < right->inherited_count; i++)
        there[i] = cunei_slot_known_function(right->inherited[i]);
    boundary->found = cunei_stack_match(&profile->kinds, here, left->depth, there,
                                        right->inherited_count, boundary->map);
    boundary->common[0] = left->frames[0];
    for (uint32_t i = 0; i < right->inherited_count; i++) {
        if (boundary->map[i] > 0)
            boundary->common[++common] = left->frames[boundary->map[i]];
    }
    return 0;
}

/* `gap` ticks went by while the `depth` frames above the ground were open.  What the
 * frames know of their nodes was true in the profile that they were read into. */
static void account_gap(struct cunei_profile *profile, uint32_t node,
                        const struct cunei_frame *frames, uint32_t depth, uint64_t gap,
                        bool lost)
{
    uint32_t edge = 0, owner = 0;

    for (uint32_t i = 1; i <= depth; i++) {
        uint32_t slot = frames[i].slot, caller = frames[i - 1].slot;
        struct cunei_facts *facts = &profile->functions[slot];
        owner = cunei_slot_is_region(profile, slot) ? owner : slot;
        if (profile->tree)
            node = cunei_tree_child(profile->tree, node, slot);
        /* A recursion counts once. */
        if (profile->edges) {
            edge = cunei_edges_find(profile->edges, caller, slot);
            struct cunei_edge *pair = &profile->edges->items[edge];
            pair->inclusive += pair->open++ > 0 ? 0 : gap;
            pair->total += facts->open > 0 ? 0 : gap;
        }
        if (facts->open++ == 0) {
            facts->total += gap;
            facts->surplus -= gap;
        }
    }
    for (uint32_t i = 1; i <= depth; i++) {
        uint32_t slot = frames[i].slot, caller = frames[i - 1].slot;
        profile->functions[slot].open = 0;
        if (profile->edges) {
            uint32_t index = cunei_edges_find(profile->edges, caller, slot);
            profile->edges->items[index].open = 0;
        }
    }
    if (profile->edges && !lost)
        profile->edges->items[edge].self += gap;

    if (!lost)
        profile->functions[owner].self += gap;
    if (profile->tree && lost)
        profile->tree->nodes[node].gap += gap;
    else if (profile->tree)
        profile->tree->nodes[node].self += gap;
}

/* Frames that `right` saw end: `left` knows when they began, or passes them on. */
static int resolve_closings(struct cunei_profile *profile, struct cunei_piece *left,
                            const struct cunei_piece *right,
                            const struct boundary *boundary)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < right->closing_count; i++) {
        struct cunei_closing closing = right->closings[i];
        if (closing.position >= right->inherited_count ||
            boundary->map[closing.position] == 0)
            continue;
        const struct cunei_frame *frame =
            &left->frames[boundary->map[closing.position]];
        uint64_t entered = frame->entered & ~CUNEI_FRAME_WATCHED;
        uint32_t origin = cunei_frame_origin(frame);
        if (closing.slot == 0)
            closing.slot = frame->slot;
        closing.position = origin - 1;
        if (!cunei_frame_is_unknown(frame))
            rc = cunei_profile_stack_sample(
                profile, closing.slot,
                closing.time > entered ? closing.time - entered : 0);
        else if (origin > 0)
            rc = cunei_profile_stack_add_closing(left, closing);
    }
    return rc;
}

/* A frame that is open at the end of `right`, as it is at the end of both. */
static struct cunei_frame join_frame(const struct cunei_piece *left,
                                     const struct cunei_piece *right,
                                     const struct boundary *boundary, uint32_t index)
{
    struct cunei_frame frame = right->frames[index];
    uint32_t origin = cunei_frame_origin(&frame), from = 0;

    if (origin == 0 || origin > right->inherited_count)
        return frame;
    if (boundary)
        from = boundary->map[origin - 1];
    frame.entered = from > 0 ? left->frames[from].entered : CUNEI_FRAME_UNKNOWN;
    if (frame.slot == 0 && from > 0)
        frame.slot = left->frames[from].slot;
    return frame;
}

/* What stays open; without a boundary, on another thread. */
static void join_frames(struct cunei_piece *left, struct cunei_piece *right,
                        const struct boundary *boundary)
{
    for (uint32_t i = 1; i <= right->depth; i++)
        right->frames[i] = join_frame(left, right, boundary, i);
    struct cunei_frame *frames = left->frames;
    uint32_t capacity = left->capacity;
    left->frames = right->frames;
    left->capacity = right->capacity;
    left->depth = right->depth;
    right->frames = frames;
    right->capacity = capacity;
}

static void join_thread(struct cunei_thread *left, struct cunei_thread *right)
{
    cunei_thread_set_name(left, right->name, strlen(right->name));
    left->ended = right->ended;
    left->end = right->end;
    if (right->cpu_end) {
        left->cpu_end_ns = right->cpu_end_ns;
        left->cpu_end = right->cpu_end;
    }
    left->events += right->events;
    left->calls += right->calls;
    left->packets += right->packets;
    free(left->open);
    left->open = right->open;
    left->open_count = right->open_count;
    left->open_depth = right->open_depth;
    right->open = NULL;
}

/* Frames that `right` did not find any more, from the top; see
 * cunei_profile_stack_lose. */
static int lose_frames(struct cunei_profile *profile, struct cunei_piece *left,
                       const struct cunei_piece *right, const struct boundary *boundary,
                       uint64_t time)
{
    int rc = 0;

    /* Frames that it found are not lost. */
    for (uint32_t i = 0; i < right->inherited_count; i++) {
        if (boundary->map[i] > 0)
            left->frames[boundary->map[i]].level = 0;
    }
    for (uint32_t i = left->depth; rc == 0 && i > 0; i--) {
        const struct cunei_frame *frame = &left->frames[i];
        if (cunei_frame_is_watched(frame) && frame->level > 0 &&
            !cunei_slot_is_region(profile, frame->slot))
            rc = cunei_steps_end(&profile->tasks, &left->steps,
                                 cunei_profile_stack_step(left, frame, frame->slot),
                                 time, CUNEI_ENDING_UNSEEN);
    }
    return rc;
}

/* The collections of the thread; one that was under way continues. */
static void join_collections(struct cunei_piece *left, const struct cunei_piece *right,
                             bool lost)
{
    bool is_whole = right->thread_count == 1;

    cunei_gc_pauses_join(&left->threads[left->thread_count - 1].collections,
                         &left->collecting, &right->threads[0].collections,
                         is_whole ? &right->collecting : &right->first_collecting,
                         lost);
    if (left->thread_count == 1)
        left->first_collecting = left->collecting;
    if (!is_whole)
        left->collecting = right->collecting;
}

/* Append the steps of `right`; `is_same`: its first thread is the last one of `left`.
 */
static int join_steps(struct cunei_profile *profile, struct cunei_piece *left,
                      const struct cunei_piece *right, bool is_same)
{
    const struct cunei_thread *first = &right->threads[0];
    int rc = 0;

    if (is_same)
        rc = cunei_steps_continue(&profile->tasks, &left->steps, &right->steps,
                                  left->thread_count == 1, first->begin, first->end);
    if (!is_same || right->thread_count > 1)
        cunei_steps_drop(&left->steps);
    return rc == 0 ? cunei_steps_append(&left->steps, &right->steps) : rc;
}

/* The thread that `left` ends with continues in `right`. */
static int join_boundary(struct cunei_profile *profile, struct cunei_piece *left,
                         struct cunei_piece *right, bool lost)
{
    struct cunei_thread *first = &right->threads[0];
    uint32_t ground = cunei_profile_stack_ground(profile, first);
    uint64_t gap = first->begin > left->last ? first->begin - left->last : 0;
    struct boundary boundary;

    int rc = boundary_init(&boundary, profile, left, right);
    if (rc < 0)
        goto out;
    if (lost)
        account_gap(profile, ground, boundary.common, boundary.found, gap, true);
    else
        account_gap(profile, ground, left->frames, left->depth, gap, false);
    profile->gaps += lost;
    if (!lost && !right->first_renewed) {
        profile->unclosed += left->depth - boundary.found + left->beyond;
        profile->appeared += right->inherited_count - boundary.found;
    }
    rc = resolve_closings(profile, left, right, &boundary);
    if (rc == 0)
        rc = lose_frames(profile, left, right, &boundary,
                         lost ? left->last : first->begin);
    if (rc == 0)
        rc = join_steps(profile, left, right, true);
    join_collections(left, right, lost);
    if (rc == 0) {
        join_frames(left, right, right->thread_count == 1 ? &boundary : NULL);
        join_thread(&left->threads[left->thread_count - 1], first);
    }
out:
    boundary_fini(&boundary);
    return rc;
}

int cunei_profile_join(struct cunei_profile *profile, struct cunei_piece *left,
                       struct cunei_piece *right)
{
    size_t skip = 0;
    int rc = 0;

    if (left->packets == 0 || right->packets == 0) {
        if (right->packets > 0) {
            cunei_piece_fini(left);
            *left = *right;
            *right = (struct cunei_piece){0};
        }
        cunei_piece_fini(right);
        return 0;
    }

    const struct cunei_thread *before = &left->threads[left->thread_count - 1];
    if (before->serial == right->threads[0].serial &&
        before->vtid == right->threads[0].vtid) {
        bool lost =
            !cunei_piece_is_next(left, right->first_sequence, right->first_discarded);
        rc = join_boundary(profile, left, right, lost);
        skip = 1;
    } else {
        rc = cunei_piece_finish(left);
        if (rc == 0)
            rc = join_steps(profile, left, right, false);
        if (rc == 0)
            join_frames(left, right, NULL);
        if (left->thread_count == 1)
            left->first_collecting = left->collecting;
        left->collecting = right->collecting;
    }
    if (rc == 0)
        rc = cunei_suspended_join(profile->functions, profile->slot_count, &left->waits,
                                  &right->waits);
    if (rc == 0)
        rc = cunei_piece_reserve_threads(left, right->thread_count - skip);
    if (rc == 0) {
        memcpy(left->threads + left->thread_count, right->threads + skip,
               (right->thread_count - skip) * sizeof(*left->threads));
        left->thread_count += right->thread_count - skip;
        right->thread_count = skip;
        left->gap.dropped += right->gap.dropped;
        left->gap.missing += right->gap.missing;
        cunei_piece_add_gap(left, right->first_sequence, right->first_discarded);
        left->packets += right->packets;
        left->last_sequence = right->last_sequence;
        left->discarded = right->discarded;
        left->last = right->last;
        left->beyond = right->beyond;
    }
    cunei_piece_fini(right);
    return rc;
}
