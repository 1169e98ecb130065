// SPDX-License-Identifier: MIT
#include "model/profile_packet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "model/call_edges.h"
#include "model/call_tree.h"
#include "model/profile_stack.h"
#include "model/suspended.h"
#include "model/task_steps.h"
#include "stack/stack_match.h"

void cunei_piece_fini(struct cunei_piece *piece)
{
    for (size_t i = 0; i < piece->thread_count; i++)
        free(piece->threads[i].open);
    free(piece->threads);
    free(piece->inherited);
    free(piece->closings);
    free(piece->frames);
    cunei_suspended_fini(&piece->waits);
    cunei_steps_fini(&piece->steps);
    *piece = (struct cunei_piece){0};
}

/* Keep what the thread leaves open, as long as it is the last one. */
int cunei_piece_finish(struct cunei_piece *piece)
{
    if (piece->thread_count == 0 || piece->depth == 0)
        return 0;
    struct cunei_thread *thread = &piece->threads[piece->thread_count - 1];
    uint32_t count = piece->depth < CUNEI_OPEN_MAX ? piece->depth : CUNEI_OPEN_MAX;
    uint32_t *open = malloc(count * sizeof(*open));
    if (!open)
        return -ENOMEM;
    const struct cunei_frame *first = &piece->frames[piece->depth - count + 1];
    for (uint32_t i = 0; i < count; i++)
        open[i] = cunei_slot_known_function(first[i].slot);
    free(thread->open);
    thread->open = open;
    thread->open_count = count;
    thread->open_depth = piece->depth;
    piece->depth = 0;
    return 0;
}

static int reserve_threads(struct cunei_piece *piece, size_t more)
{
    return CUNEI_VECTOR_RESERVE(piece->threads, piece->thread_capacity,
                                piece->thread_count + more)
               ? 0
               : -ENOMEM;
}

static int begin_thread(struct cunei_profile *profile, struct cunei_piece *piece,
                        const struct cunei_packet *packet)
{
    int rc = reserve_threads(piece, 1);
    if (rc == 0 && piece->thread_count > 0) {
        cunei_profile_stack_seal(profile, piece);
        cunei_steps_seal(&profile->tasks, &piece->steps, piece->thread_count == 1,
                         piece->last);
        cunei_steps_drop(&piece->steps);
        rc = cunei_piece_finish(piece);
    }
    if (rc == 0 && !cunei_profile_stack_reserve(piece))
        rc = -ENOMEM;
    if (rc < 0)
        return rc;

    if (piece->thread_count == 1)
        piece->first_collecting = piece->collecting;
    piece->collecting = (struct cunei_gc_open_pause){0};
    piece->threads[piece->thread_count++] = (struct cunei_thread){
        .serial = packet->thread,
        .vtid = packet->vtid,
        .cpu_begin_ns = packet->cpu_begin_ns,
    };
    piece->frames[0] = (struct cunei_frame){.entered = CUNEI_FRAME_UNKNOWN};
    piece->beyond = 0;
    piece->last = 0;
    piece->lost = false;
    piece->renewed = false;
    piece->begun = false;
    return 0;
}

static bool is_next(const struct cunei_piece *piece, uint64_t sequence,
                    uint64_t discarded)
{
    return sequence == piece->last_sequence + 1 && discarded == piece->discarded;
}

static uint64_t missing_before(const struct cunei_piece *piece, uint64_t sequence)
{
    return sequence > piece->last_sequence ? sequence - piece->last_sequence - 1 : 0;
}

/* A packet's name is cut short: whether it may be what is left of the whole. */
static bool is_cut_of(const char *name, size_t size, const char *whole)
{
    return size == cunei_text_cut(whole, strlen(whole), CUNEI_PACKET_THREAD_NAME) &&
           memcmp(name, whole, size) == 0;
}

/* A name that is known in full stays. */
static void name_thread(struct cunei_thread *thread, const char *name, size_t size)
{
    if (is_cut_of(name, size, thread->name))
        return;
    memset(thread->name, 0, sizeof(thread->name));
    memcpy(thread->name, name, size);
}

int cunei_piece_begin_packet(struct cunei_profile *profile, struct cunei_piece *piece,
                             const struct cunei_packet *packet, bool has_events)
{
    bool first = piece->packets == 0;
    const struct cunei_thread *last =
        piece->thread_count ? &piece->threads[piece->thread_count - 1] : NULL;

    if (first && !has_events)
        return 0;
    bool renewed = packet->flags & CUNEI_PACKET_RENEWED;
    if (first) {
        piece->first_sequence = packet->sequence;
        piece->first_discarded = packet->events_discarded;
        piece->first_renewed = renewed;
    } else {
        piece->lost |= !is_next(piece, packet->sequence, packet->events_discarded);
        piece->missing += missing_before(piece, packet->sequence);
    }
    piece->packets++;
    piece->last_sequence = packet->sequence;
    piece->discarded = packet->events_discarded;
    if (!has_events)
        return 0;

    if (!last || last->serial != packet->thread || last->vtid != packet->vtid) {
        int rc = begin_thread(profile, piece, packet);
        if (rc < 0)
            return rc;
    }
    piece->renewed |= renewed;
    struct cunei_thread *thread = &piece->threads[piece->thread_count - 1];
    name_thread(thread, packet->thread_name,
                strnlen(packet->thread_name, CUNEI_PACKET_THREAD_NAME));
    if (piece->lost) {
        piece->collecting.is_seen = true; /* whatever it was */
        piece->collecting.is_open = false;
    }
    thread->packets++;
    thread->ended = packet->flags & CUNEI_PACKET_LAST;
    if (packet->cpu_end_ns > packet->cpu_begin_ns) {
        thread->cpu_end_ns = packet->cpu_end_ns;
        thread->cpu_end = packet->timestamp_end;
    }
    return 0;
}

int cunei_profile_seal(struct cunei_profile *profile, struct cunei_piece *piece)
{
    if (piece->thread_count == 0)
        return 0;
    cunei_profile_stack_seal(profile, piece);
    cunei_steps_seal(&profile->tasks, &piece->steps, piece->thread_count == 1,
                     piece->last);
    return cunei_suspended_seal(profile->functions, profile->slot_count, &piece->waits);
}

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

/* `gap` ticks went by while the `depth` frames above the ground were open. */
static void account_gap(struct cunei_profile *profile, const struct cunei_frame *frames,
                        uint32_t depth, uint64_t gap, bool lost)
{
    uint32_t node = 0, edge = 0, owner = 0;

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
        facts->total += facts->open++ > 0 ? 0 : gap;
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
    name_thread(left, right->name, strlen(right->name));
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
    uint64_t gap = first->begin > left->last ? first->begin - left->last : 0;
    struct boundary boundary;

    int rc = boundary_init(&boundary, profile, left, right);
    if (rc < 0)
        goto out;
    if (lost)
        account_gap(profile, boundary.common, boundary.found, gap, true);
    else
        account_gap(profile, left->frames, left->depth, gap, false);
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
        bool lost = !is_next(left, right->first_sequence, right->first_discarded);
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
        rc = reserve_threads(left, right->thread_count - skip);
    if (rc == 0) {
        memcpy(left->threads + left->thread_count, right->threads + skip,
               (right->thread_count - skip) * sizeof(*left->threads));
        left->thread_count += right->thread_count - skip;
        right->thread_count = skip;
        left->missing += right->missing + missing_before(left, right->first_sequence);
        left->packets += right->packets;
        left->last_sequence = right->last_sequence;
        left->discarded = right->discarded;
        left->last = right->last;
        left->beyond = right->beyond;
    }
    cunei_piece_fini(right);
    return rc;
}
