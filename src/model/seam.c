// SPDX-License-Identifier: MIT
/* What lies between the pieces of a story. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/story.h"

static int close_step(struct cunei_seam *seam, uint64_t time)
{
    uint64_t task = seam->steps.items[--seam->steps.count].task;
    return seam->methods->step(seam->context, task, time, false);
}

/* End the stretches of the frames from an index on. */
static int close_from(struct cunei_seam *seam, uint32_t index, uint64_t time,
                      enum cunei_stretch_end how)
{
    struct cunei_story_edge *last = &seam->last;
    struct cunei_story_steps *steps = &seam->steps;
    int rc = 0;

    while (rc == 0 && last->count > index) {
        uint32_t function = last->functions[--last->count];
        if (!(function & CUNEI_STORY_TOLD))
            continue;
        rc = seam->methods->close(seam->context, function & ~CUNEI_STORY_TOLD, time,
                                  how);
        while (rc == 0 && steps->count > 0 &&
               steps->items[steps->count - 1].depth >= seam->depth)
            rc = close_step(seam, time);
        seam->depth--;
    }
    return rc;
}

static bool is_same_thread(const struct cunei_packet *a, const struct cunei_packet *b)
{
    return a->thread == b->thread && a->vtid == b->vtid;
}

/* What was lost between two pieces of a thread's story. */
static int pass_gap(struct cunei_seam *seam, const struct cunei_story_edge *next)
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

/* The stretches that the piece found open, and what the seam has open: the same. */
static int pass_stretches(struct cunei_seam *seam, const struct cunei_story_edge *next)
{
    struct cunei_story_edge *last = &seam->last;
    uint32_t common = 0;

    while (common < last->count && common < next->count &&
           last->functions[common] == next->functions[common])
        common++;
    int rc = close_from(seam, common, next->time, CUNEI_END_UNSEEN);
    for (uint32_t i = common; rc == 0 && i < next->count; i++) {
        uint32_t function = next->functions[i];
        rc = cunei_story_edge_add(last, function);
        if (rc < 0 || !(function & CUNEI_STORY_TOLD))
            continue;
        seam->depth++;
        rc = seam->methods->open(seam->context, function & ~CUNEI_STORY_TOLD,
                                 next->time, CUNEI_BEGIN_FOUND);
    }
    return rc;
}

/* Steps that began before the piece, and ended in it. */
static int pass_steps(struct cunei_seam *seam, const struct cunei_story *piece)
{
    struct cunei_story_steps *steps = &seam->steps;
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

static int take_edge(struct cunei_seam *seam, const struct cunei_story *piece)
{
    struct cunei_story_edge *last = &seam->last;
    struct cunei_story_steps *steps = &seam->steps;
    uint32_t step_count = steps->count + piece->steps.count;
    int rc = 0;

    last->count = 0;
    for (uint32_t i = 0; rc == 0 && i < piece->last.count; i++)
        rc = cunei_story_edge_add(last, piece->last.functions[i]);
    seam->depth = piece->depth;
    memcpy(&last->packet, &piece->last.packet, sizeof(last->packet));
    last->time = piece->last.time;
    if (rc < 0 || piece->steps.count == 0)
        return rc;
    if (step_count > steps->capacity) {
        struct cunei_story_step *grown =
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

int cunei_seam_pass(struct cunei_seam *seam, const struct cunei_story *piece)
{
    const struct cunei_story_edge *first = &piece->first;
    int rc = 0;

    if (!piece->has_first)
        return 0;
    if (seam->has_thread && is_same_thread(&seam->last.packet, &first->packet)) {
        rc = seam->methods->thread(seam->context, &first->packet, first->time, false);
        if (rc == 0)
            rc = pass_gap(seam, first);
    } else {
        rc = cunei_seam_end(seam);
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

int cunei_seam_end(struct cunei_seam *seam)
{
    int rc = 0;

    /* The seam's thread is the one that the last piece began with. */
    if (seam->has_thread && seam->last.count > 0)
        rc = seam->methods->thread(seam->context, &seam->last.packet, seam->last.time,
                                   false);
    if (rc == 0)
        rc = close_from(seam, 0, seam->last.time, CUNEI_END_OPEN);
    seam->steps.count = 0;
    return rc;
}

void cunei_seam_fini(struct cunei_seam *seam)
{
    free(seam->last.functions);
    free(seam->steps.items);
    *seam = (struct cunei_seam){0};
}
