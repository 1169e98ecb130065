// SPDX-License-Identifier: MIT
#include "model/spans/piece_join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "model/spans/spans_data.h"
#include "stack/resync.h"

struct cunei_piece_join {
    const struct cunei_spans_methods *methods;
    void *context;
    struct cunei_id_kinds kinds;
    struct cunei_spans_edge last;   /* what the piece before left open … */
    struct cunei_spans_steps steps; /* … and its steps of tasks */
    uint32_t depth;                 /* spans that are open */
    uint64_t time;                  /* of the border that is passed */
    bool has_thread;
};

static int close_step(struct cunei_piece_join *join, uint64_t time)
{
    uint64_t task = join->steps.items[--join->steps.count].task;
    return join->methods->step(join->context, task, time, false);
}

/* Remove the top frame, and end the span that it has if its function is known. */
static int close_top(struct cunei_piece_join *join, uint64_t time,
                     enum cunei_span_end how)
{
    struct cunei_spans_steps *steps = &join->steps;
    uint32_t function = join->last.functions[--join->last.count];

    if (function == 0)
        return 0;
    int rc = join->methods->close(join->context, function, time, how);
    while (rc == 0 && steps->count > 0 &&
           steps->items[steps->count - 1].depth >= join->depth)
        rc = close_step(join, time);
    join->depth--;
    return rc;
}

static int open_top(struct cunei_piece_join *join, uint32_t function,
                    enum cunei_span_begin how)
{
    int rc = cunei_spans_edge_add(&join->last, function);
    if (rc < 0 || function == 0)
        return rc;
    join->depth++;
    return join->methods->open(join->context, function, join->time, how);
}

static bool is_same_thread(const struct cunei_packet *a, const struct cunei_packet *b)
{
    return a->thread == b->thread && a->vtid == b->vtid;
}

/* What was lost between two pieces of a thread's spans. */
static int pass_gap(struct cunei_piece_join *join, const struct cunei_spans_edge *next)
{
    const struct cunei_packet *before = &join->last.packet, *after = &next->packet;
    if (!join->methods->lost || (after->sequence == before->sequence + 1 &&
                                 after->events_discarded == before->events_discarded))
        return 0;
    return join->methods->lost(join->context, next->time,
                               after->events_discarded > before->events_discarded
                                   ? after->events_discarded - before->events_discarded
                                   : 0);
}

static uint32_t depth_of(const void *stack)
{
    const struct cunei_piece_join *join = stack;
    return join->last.count;
}

static uint32_t function_at(const void *stack, uint32_t depth)
{
    const struct cunei_piece_join *join = stack;
    return join->last.functions[depth - 1];
}

static bool is_region_at(const void *stack, uint32_t depth)
{
    const struct cunei_piece_join *join = stack;
    return cunei_id_kinds_is_region(&join->kinds, join->last.functions[depth - 1]);
}

static int miss(void *stack, bool is_sync)
{
    struct cunei_piece_join *join = stack;

    (void)is_sync;
    return close_top(join, join->time, CUNEI_END_UNSEEN);
}

static int put_aside(void *stack, void *frame, bool is_sync)
{
    struct cunei_piece_join *join = stack;

    (void)is_sync;
    *(uint32_t *)frame = join->last.functions[join->last.count - 1];
    return close_top(join, join->time, CUNEI_END_SWITCH);
}

static int put_back(void *stack, const void *frame, bool is_sync)
{
    (void)is_sync;
    return open_top(stack, *(const uint32_t *)frame, CUNEI_BEGIN_SWITCH);
}

static int find(void *stack, uint32_t function)
{
    return open_top(stack, function, CUNEI_BEGIN_FOUND);
}

/* A frame of an unknown function has no span, so it is not one that has. */
static const struct cunei_resync_methods resync_methods = {
    .frame_size = sizeof(uint32_t),
    .is_exact = true,
    .depth = depth_of,
    .function = function_at,
    .is_region = is_region_at,
    .miss = miss,
    .put_aside = put_aside,
    .put_back = put_back,
    .find = find,
};

/* Make the open spans those that the piece found open. */
static int pass_spans(struct cunei_piece_join *join,
                      const struct cunei_spans_edge *next)
{
    const struct cunei_stack_view view = {
        .functions = next->functions, .depth = next->count, .end = CUNEI_FUNCTION_END};

    join->time = next->time;
    return cunei_resync_stack(&resync_methods, join, &join->kinds, &view);
}

/* Steps that began before the piece, and ended in it. */
static int pass_steps(struct cunei_piece_join *join, const struct cunei_spans *piece)
{
    struct cunei_spans_steps *steps = &join->steps;
    int rc = 0;

    while (rc == 0 && steps->count > 0) {
        uint32_t depth = steps->items[steps->count - 1].depth;
        /* The piece knows nothing of the span. */
        uint64_t time = piece->first.time;
        if (depth <= piece->closing_count)
            time = piece->closings[depth - 1];
        if (time == UINT64_MAX)
            break;
        rc = close_step(join, time);
    }
    return rc;
}

static int take_edge(struct cunei_piece_join *join, const struct cunei_spans *piece)
{
    struct cunei_spans_edge *last = &join->last;
    struct cunei_spans_steps *steps = &join->steps;
    uint32_t step_count = steps->count + piece->steps.count;
    int rc = 0;

    last->count = 0;
    for (uint32_t i = 0; rc == 0 && i < piece->last.count; i++)
        rc = cunei_spans_edge_add(last, piece->last.functions[i]);
    join->depth = piece->depth;
    memcpy(&last->packet, &piece->last.packet, sizeof(last->packet));
    last->time = piece->last.time;
    if (rc < 0 || piece->steps.count == 0)
        return rc;
    if (!CUNEI_VECTOR_RESERVE(steps->items, steps->capacity, step_count))
        return -ENOMEM;
    memcpy(steps->items + steps->count, piece->steps.items,
           piece->steps.count * sizeof(*steps->items));
    steps->count = step_count;
    return 0;
}

int cunei_piece_join_pass(struct cunei_piece_join *join,
                          const struct cunei_spans *piece)
{
    const struct cunei_spans_edge *first = &piece->first;
    int rc = 0;

    if (!piece->has_first)
        return 0;
    if (join->has_thread && is_same_thread(&join->last.packet, &first->packet)) {
        rc = join->methods->thread(join->context, &first->packet, first->time, false);
        if (rc == 0)
            rc = pass_gap(join, first);
    } else {
        rc = cunei_piece_join_end(join);
        if (rc == 0)
            rc =
                join->methods->thread(join->context, &first->packet, first->time, true);
    }
    join->has_thread = true;
    if (rc == 0)
        rc = pass_spans(join, first);
    if (rc == 0)
        rc = pass_steps(join, piece);
    return rc == 0 ? take_edge(join, piece) : rc;
}

int cunei_piece_join_end(struct cunei_piece_join *join)
{
    int rc = 0;

    /* The join's thread is the one that the last piece began with. */
    if (join->has_thread && join->last.count > 0)
        rc = join->methods->thread(join->context, &join->last.packet, join->last.time,
                                   false);
    while (rc == 0 && join->last.count > 0)
        rc = close_top(join, join->last.time, CUNEI_END_OPEN);
    join->steps.count = 0;
    return rc;
}

struct cunei_piece_join *cunei_piece_join_new(const struct cunei_spans_methods *methods,
                                              void *context,
                                              struct cunei_id_kinds kinds)
{
    struct cunei_piece_join *join = malloc(sizeof(*join));

    if (join)
        *join = (struct cunei_piece_join){
            .methods = methods, .context = context, .kinds = kinds};
    return join;
}

void cunei_piece_join_free(struct cunei_piece_join *join)
{
    if (!join)
        return;
    free(join->last.functions);
    free(join->steps.items);
    free(join);
}
