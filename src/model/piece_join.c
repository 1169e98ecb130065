// SPDX-License-Identifier: MIT
/* What lies between the pieces of a story. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/spans.h"
#include "stack/stack_match.h"

static int close_step(struct cunei_piece_join *seam, uint64_t time)
{
    uint64_t task = seam->steps.items[--seam->steps.count].task;
    return seam->methods->step(seam->context, task, time, false);
}

/* End the stretch of the top frame. */
static int close_top(struct cunei_piece_join *seam, uint64_t time,
                     enum cunei_span_event_end how)
{
    struct cunei_spans_steps *steps = &seam->steps;
    uint32_t function = seam->last.functions[--seam->last.count];

    if (!(function & CUNEI_STORY_TOLD))
        return 0;
    int rc =
        seam->methods->close(seam->context, function & ~CUNEI_STORY_TOLD, time, how);
    while (rc == 0 && steps->count > 0 &&
           steps->items[steps->count - 1].depth >= seam->depth)
        rc = close_step(seam, time);
    seam->depth--;
    return rc;
}

static bool is_same_thread(const struct cunei_packet *a, const struct cunei_packet *b)
{
    return a->thread == b->thread && a->vtid == b->vtid;
}

/* What was lost between two pieces of a thread's story. */
static int pass_gap(struct cunei_piece_join *seam, const struct cunei_spans_edge *next)
{
    const struct cunei_packet *before = &seam->last.packet, *after = &next->packet;
    if (!seam->methods->lost || (after->sequence == before->sequence + 1 &&
                                 after->events_discarded == before->events_discarded))
        return 0;
    return seam->methods->lost(seam->context, next->time,
                               after->events_discarded > before->events_discarded
                                   ? after->events_discarded - before->events_discarded
                                   : 0);
}

/*
 * Of what is above the frames that both have: which of it goes on, at another place,
 * because regions do not stand where they stood.  `map` as cunei_match fills it, with
 * places above `common`; those that go on lose their mark of being told in `here`.
 */
static void match_edges(const struct cunei_piece_join *seam,
                        const struct cunei_spans_edge *next, uint32_t common,
                        uint32_t *here, uint32_t *map)
{
    const struct cunei_spans_edge *last = &seam->last;
    uint32_t here_count = last->count - common, count = next->count - common;
    uint32_t *there = map + count;

    for (uint32_t i = 0; i < here_count; i++)
        here[i] = last->functions[common + i] & ~CUNEI_STORY_TOLD;
    for (uint32_t i = 0; i < count; i++)
        there[i] = next->functions[common + i] & ~CUNEI_STORY_TOLD;
    (void)cunei_stack_match(&seam->kinds, here, here_count, there, count, map);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = map[i];
        if (place > 0 &&
            last->functions[common + place - 1] != next->functions[common + i])
            map[i] = 0;
        else if (place > 0)
            here[place - 1] = UINT32_MAX;
    }
}

static int pass_places(struct cunei_piece_join *seam,
                       const struct cunei_spans_edge *next, uint32_t common,
                       const uint32_t *here, const uint32_t *map)
{
    struct cunei_spans_edge *last = &seam->last;
    int rc = 0;

    while (rc == 0 && last->count > common) {
        bool goes_on = here[last->count - common - 1] == UINT32_MAX;
        rc = close_top(seam, next->time, goes_on ? CUNEI_END_SWITCH : CUNEI_END_UNSEEN);
    }
    for (uint32_t i = common; rc == 0 && i < next->count; i++) {
        uint32_t function = next->functions[i];
        rc = cunei_spans_edge_add(last, function);
        if (rc < 0 || !(function & CUNEI_STORY_TOLD))
            continue;
        seam->depth++;
        rc = seam->methods->open(
            seam->context, function & ~CUNEI_STORY_TOLD, next->time,
            map[i - common] > 0 ? CUNEI_BEGIN_SWITCH : CUNEI_BEGIN_FOUND);
    }
    return rc;
}

static bool has_regions(const struct cunei_piece_join *seam,
                        const struct cunei_spans_edge *edge)
{
    bool has = false;

    for (uint32_t i = 0; seam->kinds.items && !has && i < edge->count; i++)
        has = cunei_id_kinds_is_region(&seam->kinds,
                                       edge->functions[i] & ~CUNEI_STORY_TOLD);
    return has;
}

/* The stretches that the piece found open, and what the seam has open: the same. */
static int pass_stretches(struct cunei_piece_join *seam,
                          const struct cunei_spans_edge *next)
{
    const struct cunei_spans_edge *last = &seam->last;
    uint32_t common = 0;

    while (common < last->count && common < next->count &&
           last->functions[common] == next->functions[common])
        common++;
    size_t here_count = last->count - common, count = next->count - common;
    uint32_t *here = calloc(here_count + 2 * count + 1, sizeof(*here));
    if (!here)
        return -ENOMEM;
    if (has_regions(seam, last) || has_regions(seam, next))
        match_edges(seam, next, common, here, here + here_count);
    int rc = pass_places(seam, next, common, here, here + here_count);
    free(here);
    return rc;
}

/* Steps that began before the piece, and ended in it. */
static int pass_steps(struct cunei_piece_join *seam, const struct cunei_spans *piece)
{
    struct cunei_spans_steps *steps = &seam->steps;
    int rc = 0;

    while (rc == 0 && steps->count > 0) {
        uint32_t depth = steps->items[steps->count - 1].depth;
        /* The piece knows nothing of the stretch. */
        uint64_t time = piece->first.time;
        if (depth <= piece->closing_count)
            time = piece->closings[depth - 1];
        if (time == UINT64_MAX)
            break;
        rc = close_step(seam, time);
    }
    return rc;
}

static int take_edge(struct cunei_piece_join *seam, const struct cunei_spans *piece)
{
    struct cunei_spans_edge *last = &seam->last;
    struct cunei_spans_steps *steps = &seam->steps;
    uint32_t step_count = steps->count + piece->steps.count;
    int rc = 0;

    last->count = 0;
    for (uint32_t i = 0; rc == 0 && i < piece->last.count; i++)
        rc = cunei_spans_edge_add(last, piece->last.functions[i]);
    seam->depth = piece->depth;
    memcpy(&last->packet, &piece->last.packet, sizeof(last->packet));
    last->time = piece->last.time;
    if (rc < 0 || piece->steps.count == 0)
        return rc;
    if (step_count > steps->capacity) {
        struct cunei_spans_step *grown =
            realloc(steps->items, step_count * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        steps->items = grown;
        steps->capacity = step_count;
    }
    memcpy(steps->items + steps->count, piece->steps.items,
           piece->steps.count * sizeof(*steps->items));
    steps->count = step_count;
    return 0;
}

int cunei_piece_join_pass(struct cunei_piece_join *seam,
                          const struct cunei_spans *piece)
{
    const struct cunei_spans_edge *first = &piece->first;
    int rc = 0;

    if (!piece->has_first)
        return 0;
    if (seam->has_thread && is_same_thread(&seam->last.packet, &first->packet)) {
        rc = seam->methods->thread(seam->context, &first->packet, first->time, false);
        if (rc == 0)
            rc = pass_gap(seam, first);
    } else {
        rc = cunei_piece_join_end(seam);
        if (rc == 0)
            rc =
                seam->methods->thread(seam->context, &first->packet, first->time, true);
    }
    seam->has_thread = true;
    if (rc == 0)
        rc = pass_stretches(seam, first);
    if (rc == 0)
        rc = pass_steps(seam, piece);
    return rc == 0 ? take_edge(seam, piece) : rc;
}

int cunei_piece_join_end(struct cunei_piece_join *seam)
{
    int rc = 0;

    /* The seam's thread is the one that the last piece began with. */
    if (seam->has_thread && seam->last.count > 0)
        rc = seam->methods->thread(seam->context, &seam->last.packet, seam->last.time,
                                   false);
    while (rc == 0 && seam->last.count > 0)
        rc = close_top(seam, seam->last.time, CUNEI_END_OPEN);
    seam->steps.count = 0;
    return rc;
}

void cunei_piece_join_fini(struct cunei_piece_join *seam)
{
    free(seam->last.functions);
    free(seam->steps.items);
    *seam = (struct cunei_piece_join){0};
}
