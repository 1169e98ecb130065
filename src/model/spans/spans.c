// SPDX-License-Identifier: MIT
#include "model/spans/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "model/spans/spans_data.h"
#include "model/walk/walk.h"

int cunei_spans_edge_add(struct cunei_spans_edge *edge, uint32_t function)
{
    if (!CUNEI_VECTOR_RESERVE(edge->functions, edge->capacity, edge->count + 1))
        return -ENOMEM;
    edge->functions[edge->count++] = function;
    return 0;
}

static int begin_step(struct cunei_spans *spans, uint64_t time)
{
    struct cunei_spans_steps *steps = &spans->steps;

    spans->has_task = false;
    if (!spans->methods->step)
        return 0;
    if (!CUNEI_VECTOR_RESERVE(steps->items, steps->capacity, steps->count + 1))
        return -ENOMEM;
    steps->items[steps->count++] =
        (struct cunei_spans_step){.task = spans->task, .depth = spans->depth};
    return spans->methods->step(spans->context, spans->task, time, true);
}

static int open_span(struct cunei_spans *spans, struct cunei_walk_frame *frame,
                     uint64_t time, enum cunei_span_begin how)
{
    int rc = 0;

    /* A frame of a deep stack, whose function the `stack` omitted. */
    if (frame->function < CUNEI_FUNCTION_FIRST)
        return 0;
    frame->mark = true;
    spans->depth++;
    /* The step is around the span that it begins with. */
    if (spans->has_task)
        rc = begin_step(spans, time);
    return rc == 0 ? spans->methods->open(spans->context, frame->function, time, how)
                   : rc;
}

static int close_span(struct cunei_spans *spans, struct cunei_walk_frame *frame,
                      uint64_t time, enum cunei_span_end how)
{
    struct cunei_spans_steps *steps = &spans->steps;
    int rc;

    if (!frame->mark)
        return 0;
    frame->mark = false;
    rc = spans->methods->close(spans->context, frame->function, time, how);
    while (rc == 0 && steps->count > 0 &&
           steps->items[steps->count - 1].depth >= spans->depth)
        rc = spans->methods->step(spans->context, steps->items[--steps->count].task,
                                  time, false);
    if (spans->depth-- == spans->inherited && spans->inherited > 0)
        spans->closings[--spans->inherited] = time;
    return rc;
}

/* Begin the spans of frames that are open, up to a depth, and have none. */
static int catch_up(struct cunei_spans *spans, struct cunei_walk_frame *frames,
                    uint32_t depth)
{
    int rc = 0;

    spans->is_behind = false;
    for (uint32_t i = 0; rc == 0 && i < depth; i++) {
        if (!frames[i].mark)
            rc = open_span(spans, &frames[i], spans->since, CUNEI_BEGIN_SWITCH);
    }
    return rc;
}

/* All that is open ends here, but in the program it does not. */
static int close_all(struct cunei_spans *spans, const struct cunei_walk_step *step,
                     uint64_t time, enum cunei_span_end how)
{
    int rc = 0;

    for (uint32_t i = step->depth; rc == 0 && i > 0; i--)
        rc = close_span(spans, &step->frames[i - 1], time, how);
    return rc;
}

/* What the packet finds open belongs to spans that the join begins. */
static int adopt(struct cunei_spans *spans, struct cunei_walk_frame *frame)
{
    frame->mark = frame->function >= CUNEI_FUNCTION_FIRST;
    int rc = cunei_spans_edge_add(&spans->first, frame->mark ? frame->function : 0);
    if (rc < 0 || !frame->mark)
        return rc;
    spans->depth++;
    return spans->methods->adopt
               ? spans->methods->adopt(spans->context, frame->function)
               : 0;
}

static int stop_adopting(struct cunei_spans *spans)
{
    spans->is_adopting = false;
    spans->inherited = spans->depth;
    if (spans->inherited == 0)
        return 0;
    spans->closings = malloc(spans->inherited * sizeof(*spans->closings));
    if (!spans->closings)
        return -ENOMEM;
    spans->closing_count = spans->inherited;
    memset(spans->closings, 0xff, spans->inherited * sizeof(*spans->closings));
    return 0;
}

static int begin_thread(struct cunei_spans *spans, const struct cunei_walk_step *step)
{
    bool is_begin = spans->has_first || spans->is_whole;

    spans->depth = 0;
    spans->steps.count = 0;
    spans->has_task = false;
    spans->is_behind = false;
    if (!is_begin) {
        spans->has_first = true;
        spans->is_adopting = true;
        memcpy(&spans->first.packet, step->packet, sizeof(spans->first.packet));
        spans->first.time = step->time;
    }
    return spans->methods->thread(spans->context, step->packet, step->time, is_begin);
}

static int report_event(struct cunei_spans *spans, const struct cunei_walk_step *step)
{
    uint32_t class = cunei_record_class(step->event[0]);
    bool is_inside = step->depth > 0 && step->frames[step->depth - 1].mark;

    if (class == CUNEI_CLASS_TASK) {
        spans->has_task = true;
        spans->task = ((const struct cunei_task *)(const void *)step->event)->task;
    }
    if (!spans->methods->event ||
        ((class == CUNEI_CLASS_ARGUMENT || class == CUNEI_CLASS_LINE) && !is_inside))
        return 0;
    return spans->methods->event(spans->context, step->event, step->time);
}

static int report_lost(struct cunei_spans *spans, const struct cunei_walk_step *step)
{
    uint64_t before = spans->discarded, after = step->packet->events_discarded;

    if (!spans->methods->lost)
        return 0;
    return spans->methods->lost(spans->context, step->time,
                                after > before ? after - before : 0);
}

static int end_all_spans(struct cunei_spans *spans, const struct cunei_walk_step *step)
{
    int rc = close_all(spans, step, step->time, CUNEI_END_SWITCH);

    spans->is_behind = true;
    spans->since = step->time;
    return rc;
}

static int end_span(struct cunei_spans *spans, const struct cunei_walk_step *step)
{
    enum cunei_span_end how = step->kind == CUNEI_WALK_OPEN     ? CUNEI_END_OPEN
                              : step->kind == CUNEI_WALK_MISSED ? CUNEI_END_UNSEEN
                              : step->is_yield                  ? CUNEI_END_YIELD
                              : step->is_raised                 ? CUNEI_END_RAISE
                                                                : CUNEI_END_RETURN;

    return close_span(spans, &step->frames[step->depth - 1], step->time, how);
}

static int begin_span(struct cunei_spans *spans, const struct cunei_walk_step *step)
{
    struct cunei_walk_frame *frame = &step->frames[step->depth - 1];
    const enum cunei_span_begin how = step->kind == CUNEI_WALK_FOUND ? CUNEI_BEGIN_FOUND
                                      : frame->is_resumed ? CUNEI_BEGIN_RESUME
                                                          : CUNEI_BEGIN_CALL;

    return open_span(spans, frame, step->time, how);
}

static int handle_step(struct cunei_spans *spans, const struct cunei_walk_step *step)
{
    switch (step->kind) {
    case CUNEI_WALK_ENTER:
    case CUNEI_WALK_FOUND:
        return begin_span(spans, step);
    case CUNEI_WALK_LEAVE:
    case CUNEI_WALK_MISSED:
    case CUNEI_WALK_OPEN:
        return end_span(spans, step);
    case CUNEI_WALK_LOST:
        return report_lost(spans, step);
    case CUNEI_WALK_ORPHAN:
        return spans->methods->orphan
                   ? spans->methods->orphan(spans->context, step->function, step->time)
                   : 0;
    case CUNEI_WALK_SWITCH:
        return end_all_spans(spans, step);
    case CUNEI_WALK_ASIDE:
        return close_span(spans, &step->frames[step->depth - 1], step->time,
                          CUNEI_END_SWITCH);
    case CUNEI_WALK_AGAIN:
        return open_span(spans, &step->frames[step->depth - 1], step->time,
                         CUNEI_BEGIN_SWITCH);
    case CUNEI_WALK_EVENT:
        return report_event(spans, step);
    default:
        return 0;
    }
}

/* Whether a frame begins with the step: it has no span before. */
static bool is_begin(const struct cunei_walk_step *step)
{
    return step->kind == CUNEI_WALK_ENTER || step->kind == CUNEI_WALK_FOUND ||
           step->kind == CUNEI_WALK_AGAIN;
}

static int take_step(void *context, const struct cunei_walk_step *step)
{
    struct cunei_spans *spans = context;
    uint32_t depth = step->depth - is_begin(step);
    int rc = 0;

    if (step->kind == CUNEI_WALK_THREAD)
        return begin_thread(spans, step);
    if (spans->is_adopting) {
        if (step->kind == CUNEI_WALK_FOUND)
            return adopt(spans, &step->frames[step->depth - 1]);
        rc = stop_adopting(spans);
        if (rc != 0)
            return rc;
    }
    if (step->is_suspended)
        return 0;
    /* Until it is known what really is open, nothing is begun. */
    if (spans->is_behind && step->is_correction)
        return 0;
    if (spans->is_behind && step->kind != CUNEI_WALK_LOST)
        rc = catch_up(spans, step->frames, depth);
    return rc == 0 ? handle_step(spans, step) : rc;
}

int cunei_spans_packet(struct cunei_spans *spans, const struct cunei_packet *packet,
                       const uint64_t *words, size_t word_count)
{
    if (word_count == 0)
        return 0;
    memcpy(&spans->last.packet, packet, sizeof(spans->last.packet));
    int rc = cunei_walk_packet(spans->walk, packet, words, word_count);
    spans->discarded = packet->events_discarded;
    if (rc == 0 && spans->is_adopting)
        rc = stop_adopting(spans);
    /* The next packet may be another piece's. */
    if (rc == 0 && spans->is_behind) {
        uint32_t depth = 0;
        struct cunei_walk_frame *frames = cunei_walk_frames(spans->walk, &depth);
        rc = catch_up(spans, frames, depth);
    }
    return rc;
}

int cunei_spans_end(struct cunei_spans *spans)
{
    uint32_t depth = 0;
    const struct cunei_walk_frame *frames = cunei_walk_frames(spans->walk, &depth);
    int rc = 0;

    if (spans->is_whole)
        return cunei_walk_end(spans->walk);
    spans->last.time = cunei_walk_time(spans->walk);
    for (uint32_t i = 0; rc == 0 && i < depth; i++)
        rc =
            cunei_spans_edge_add(&spans->last, frames[i].mark ? frames[i].function : 0);
    return rc;
}

struct cunei_spans *cunei_spans_new(const struct cunei_spans_options *options)
{
    struct cunei_spans *spans = calloc(1, sizeof(*spans));

    if (!spans)
        return NULL;
    spans->methods = options->methods;
    spans->context = options->context;
    spans->is_whole = options->is_whole;
    spans->walk = cunei_walk_new(take_step, spans, options->kinds);
    if (spans->walk)
        return spans;
    free(spans);
    return NULL;
}

void cunei_spans_free(struct cunei_spans *spans)
{
    if (!spans)
        return;
    cunei_walk_free(spans->walk);
    free(spans->first.functions);
    free(spans->last.functions);
    free(spans->closings);
    free(spans->steps.items);
    free(spans);
}
