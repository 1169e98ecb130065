// SPDX-License-Identifier: MIT
#include "model/profile/profile_stack.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "model/facts/call_edges.h"
#include "model/facts/call_tree.h"
#include "model/profile/suspended.h"
#include "model/profile/task_steps.h"

void cunei_profile_stack_pass(struct cunei_profile *profile, struct cunei_piece *piece,
                              uint64_t time)
{
    const struct cunei_frame *top = &piece->frames[piece->depth];
    uint64_t passed = time - piece->last;

    profile->functions[top->owner].self += passed;
    if (profile->tree)
        profile->tree->nodes[top->node].self += passed;
    if (profile->edges)
        profile->edges->items[top->edge].self += passed;
    piece->last = time;
}

uint32_t cunei_profile_stack_ground(const struct cunei_profile *profile,
                                    const struct cunei_thread *thread)
{
    return profile->has_threads
               ? cunei_tree_child(profile->tree, 0, CUNEI_TREE_THREAD | thread->serial)
               : 0;
}

bool cunei_profile_stack_reserve(struct cunei_piece *piece)
{
    if (piece->depth + 1 < piece->capacity)
        return true;
    if (piece->capacity > CUNEI_DEPTH_MAX)
        return false;
    uint32_t capacity = piece->capacity ? 2 * piece->capacity : 256;
    if (capacity > CUNEI_DEPTH_MAX)
        capacity = CUNEI_DEPTH_MAX + 1; /* one for the ground */
    struct cunei_frame *frames = realloc(piece->frames, capacity * sizeof(*frames));
    if (!frames)
        return false;
    piece->frames = frames;
    piece->capacity = capacity;
    return true;
}

int cunei_profile_stack_sample(struct cunei_profile *profile, uint32_t slot,
                               uint64_t ticks)
{
    struct cunei_facts *facts = &profile->functions[slot];
    uint64_t ns = cunei_tick_scale_ns(&profile->scale, ticks);

    if (ns > facts->max_ns)
        facts->max_ns = ns;
    facts->surplus += ticks;
    return cunei_histogram_add(&facts->histogram, ns);
}

int cunei_profile_stack_add_closing(struct cunei_piece *piece,
                                    struct cunei_closing closing)
{
    if (!CUNEI_VECTOR_RESERVE(piece->closings, piece->closing_capacity,
                              piece->closing_count + 1))
        return -ENOMEM;
    piece->closings[piece->closing_count++] = closing;
    return 0;
}

void cunei_profile_stack_place(const struct cunei_profile *profile,
                               struct cunei_frame *frame)
{
    const struct cunei_frame *below = frame - 1;
    bool is_region = cunei_slot_is_region(profile, frame->slot);
    bool is_same = frame->slot == below->owner;

    frame->owner = is_region ? below->owner : frame->slot;
    frame->run = is_region ? below->run : is_same ? below->run + 1 : 1;
    frame->level = below->level + !is_region;
}

int cunei_profile_stack_open(struct cunei_profile *profile, struct cunei_piece *piece,
                             uint32_t slot, uint64_t entered)
{
    struct cunei_facts *facts = &profile->functions[slot];

    if (!cunei_profile_stack_reserve(piece))
        return -ENOMEM;
    const struct cunei_frame *below = &piece->frames[piece->depth++];
    struct cunei_frame *frame = &piece->frames[piece->depth];
    *frame = (struct cunei_frame){.entered = entered, .slot = slot};
    cunei_profile_stack_place(profile, frame);
    if (profile->tree)
        frame->node = cunei_tree_child(profile->tree, below->node, slot);
    if (profile->edges) {
        frame->edge = cunei_edges_find(profile->edges, below->slot, slot);
        cunei_edges_open(profile->edges, frame->edge, piece->last);
    }
    if (facts->open++ == 0) {
        facts->opened_at = piece->last;
        facts->edge = frame->edge;
    }
    return 0;
}

void cunei_profile_stack_count(struct cunei_profile *profile,
                               const struct cunei_piece *piece, bool is_call)
{
    const struct cunei_frame *top = &piece->frames[piece->depth], *below = top - 1;
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

int cunei_profile_stack_enter(struct cunei_profile *profile, struct cunei_piece *piece,
                              uint32_t slot, bool is_call)
{
    struct cunei_facts *facts = &profile->functions[slot];

    if (piece->beyond > 0 || !cunei_profile_stack_reserve(piece)) {
        piece->beyond++;
        facts->calls += is_call;
        facts->resumes += !is_call;
    } else {
        uint64_t watched =
            cunei_slot_is_region(profile, slot) ? 0 : CUNEI_FRAME_WATCHED;
        int rc = cunei_profile_stack_open(profile, piece, slot, piece->last | watched);
        if (rc < 0)
            return rc;
        cunei_profile_stack_count(profile, piece, is_call);
    }
    return is_call ? 0
                   : cunei_suspended_read(profile->functions, &piece->waits, slot,
                                          false, piece->last);
}

static void account_total(struct cunei_profile *profile, struct cunei_facts *facts,
                          uint64_t time)
{
    uint64_t total = time - facts->opened_at;

    facts->total += total;
    facts->surplus -= total;
    if (profile->edges)
        profile->edges->items[facts->edge].total += total;
}

void cunei_profile_stack_drop(struct cunei_profile *profile, struct cunei_piece *piece)
{
    const struct cunei_frame *top = &piece->frames[piece->depth];
    struct cunei_facts *facts = &profile->functions[top->slot];

    if (--facts->open == 0)
        account_total(profile, facts, piece->last);
    if (profile->edges)
        cunei_edges_close(profile->edges, top->edge, piece->last);
    piece->depth--;
}

int cunei_profile_stack_end_step(struct cunei_profile *profile,
                                 struct cunei_piece *piece,
                                 const struct cunei_frame *frame, uint32_t slot,
                                 enum cunei_ending ending)
{
    if (!cunei_frame_is_watched(frame) || cunei_slot_is_region(profile, frame->slot))
        return 0;
    return cunei_steps_end(&profile->tasks, &piece->steps,
                           cunei_profile_stack_step(piece, frame, slot), piece->last,
                           ending);
}

int cunei_profile_stack_lose(struct cunei_profile *profile, struct cunei_piece *piece)
{
    const struct cunei_frame top = piece->frames[piece->depth];

    cunei_profile_stack_drop(profile, piece);
    return cunei_profile_stack_end_step(profile, piece, &top, top.slot,
                                        CUNEI_ENDING_UNSEEN);
}

int cunei_profile_stack_sample_top(struct cunei_profile *profile,
                                   struct cunei_piece *piece, uint32_t slot)
{
    const struct cunei_frame *top = &piece->frames[piece->depth];
    uint32_t origin = cunei_frame_origin(top);

    if (!cunei_frame_is_unknown(top))
        return cunei_profile_stack_sample(
            profile, slot, piece->last - (top->entered & ~CUNEI_FRAME_WATCHED));
    if (origin > 0)
        return cunei_profile_stack_add_closing(
            piece, (struct cunei_closing){piece->last, origin - 1, slot});
    return 0;
}

void cunei_profile_stack_seal(struct cunei_profile *profile,
                              const struct cunei_piece *piece)
{
    for (uint32_t i = 1; i <= piece->depth; i++) {
        struct cunei_facts *facts = &profile->functions[piece->frames[i].slot];
        if (facts->open > 0)
            account_total(profile, facts, piece->last);
        facts->open = 0;
        if (profile->edges)
            cunei_edges_close(profile->edges, piece->frames[i].edge, piece->last);
    }
}

void cunei_profile_stack_reopen(struct cunei_profile *profile,
                                const struct cunei_piece *piece)
{
    for (uint32_t i = 1; i <= piece->depth; i++) {
        const struct cunei_frame *frame = &piece->frames[i];
        struct cunei_facts *facts = &profile->functions[frame->slot];
        if (facts->open++ == 0) {
            facts->opened_at = piece->last;
            facts->edge = frame->edge;
        }
        if (profile->edges)
            cunei_edges_open(profile->edges, frame->edge, piece->last);
    }
}
