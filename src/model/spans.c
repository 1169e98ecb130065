// SPDX-License-Identifier: MIT
#include "model/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cunei_spans_edge_add(struct cunei_spans_edge *edge, uint32_t function)
{
    if (edge->count == edge->capacity) {
        uint32_t capacity = edge->capacity ? 2 * edge->capacity : 64;
        uint32_t *grown = realloc(edge->functions, capacity * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        edge->functions = grown;
        edge->capacity = capacity;
    }
    edge->functions[edge->count++] = function;
    return 0;
}

static int begin_step(struct cunei_spans *story, uint64_t time)
{
    struct cunei_spans_steps *steps = &story->steps;

    story->has_task = false;
    if (!story->methods->step)
        return 0;
    if (steps->count == steps->capacity) {
        uint32_t capacity = steps->capacity ? 2 * steps->capacity : 8;
        struct cunei_spans_step *grown =
            realloc(steps->items, capacity * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        steps->items = grown;
        steps->capacity = capacity;
    }
    steps->items[steps->count++] =
        (struct cunei_spans_step){.task = story->task, .depth = story->depth};
    return story->methods->step(story->context, story->task, time, true);
}

static int open_stretch(struct cunei_spans *story, struct cunei_walk_frame *frame,
                        uint64_t time, enum cunei_span_event_begin how)
{
    int rc = 0;

    /* One of a deep stack, that was not told in full. */
    if (frame->function < CUNEI_FUNCTION_FIRST)
        return 0;
    frame->mark = true;
    story->depth++;
    /* The step is around the stretch that it begins with. */
    if (story->has_task)
        rc = begin_step(story, time);
    return rc == 0 ? story->methods->open(story->context, frame->function, time, how)
                   : rc;
}

static int close_stretch(struct cunei_spans *story, struct cunei_walk_frame *frame,
                         uint64_t time, enum cunei_span_event_end how)
{
    struct cunei_spans_steps *steps = &story->steps;
    int rc;

    if (!frame->mark)
        return 0;
    frame->mark = false;
    rc = story->methods->close(story->context, frame->function, time, how);
    while (rc == 0 && steps->count > 0 &&
           steps->items[steps->count - 1].depth >= story->depth)
        rc = story->methods->step(story->context, steps->items[--steps->count].task,
                                  time, false);
    if (story->depth-- == story->inherited && story->inherited > 0)
        story->closings[--story->inherited] = time;
    return rc;
}

/* Begin the stretches of frames that are open, up to a depth, and have none. */
static int catch_up(struct cunei_spans *story, struct cunei_walk_frame *frames,
                    uint32_t depth)
{
    int rc = 0;

    story->is_behind = false;
    for (uint32_t i = 0; rc == 0 && i < depth; i++) {
        if (!frames[i].mark)
            rc = open_stretch(story, &frames[i], story->since, CUNEI_BEGIN_SWITCH);
    }
    return rc;
}

/* All that is open ends here, but in the program it does not. */
static int close_all(struct cunei_spans *story, const struct cunei_walk_step *step,
                     uint64_t time, enum cunei_span_event_end how)
{
    int rc = 0;

    for (uint32_t i = step->depth; rc == 0 && i > 0; i--)
        rc = close_stretch(story, &step->frames[i - 1], time, how);
    return rc;
}

/* What the packet finds open belongs to spans that the join begins. */
static int adopt(struct cunei_spans *story, struct cunei_walk_frame *frame)
{
    frame->mark = frame->function >= CUNEI_FUNCTION_FIRST;
    int rc = cunei_spans_edge_add(&story->first, frame->mark ? frame->function : 0);
    if (rc < 0 || !frame->mark)
        return rc;
    story->depth++;
    return story->methods->adopt
               ? story->methods->adopt(story->context, frame->function)
               : 0;
}

static int stop_adopting(struct cunei_spans *story)
{
    story->is_adopting = false;
    story->inherited = story->depth;
    if (story->inherited == 0)
        return 0;
    story->closings = malloc(story->inherited * sizeof(*story->closings));
    if (!story->closings)
        return -ENOMEM;
    story->closing_count = story->inherited;
    memset(story->closings, 0xff, story->inherited * sizeof(*story->closings));
    return 0;
}

static int begin_thread(struct cunei_spans *story, const struct cunei_walk_step *step)
{
    bool is_begin = story->has_first || story->is_whole;

    story->depth = 0;
    story->steps.count = 0;
    story->has_task = false;
    story->is_behind = false;
    if (!is_begin) {
        story->has_first = true;
        story->is_adopting = true;
        memcpy(&story->first.packet, step->packet, sizeof(story->first.packet));
        story->first.time = step->time;
    }
    return story->methods->thread(story->context, step->packet, step->time, is_begin);
}

static int tell_event(struct cunei_spans *story, const struct cunei_walk_step *step)
{
    uint32_t class = cunei_record_class(step->event[0]);
    bool is_inside = step->depth > 0 && step->frames[step->depth - 1].mark;

    if (class == CUNEI_CLASS_TASK) {
        story->has_task = true;
        story->task = ((const struct cunei_task *)(const void *)step->event)->task;
    }
    if (!story->methods->event ||
        ((class == CUNEI_CLASS_ARGUMENT || class == CUNEI_CLASS_LINE) && !is_inside))
        return 0;
    return story->methods->event(story->context, step->event, step->time);
}

static int tell_lost(struct cunei_spans *story, const struct cunei_walk_step *step)
{
    uint64_t before = story->discarded, after = step->packet->events_discarded;

    if (!story->methods->lost)
        return 0;
    return story->methods->lost(story->context, step->time,
                                after > before ? after - before : 0);
}

static int tell_switch(struct cunei_spans *story, const struct cunei_walk_step *step)
{
    int rc = close_all(story, step, step->time, CUNEI_END_SWITCH);

    story->is_behind = true;
    story->since = step->time;
    return rc;
}

static int tell_end(struct cunei_spans *story, const struct cunei_walk_step *step)
{
    enum cunei_span_event_end how = step->kind == CUNEI_WALK_OPEN     ? CUNEI_END_OPEN
                                    : step->kind == CUNEI_WALK_MISSED ? CUNEI_END_UNSEEN
                                    : step->is_yield                  ? CUNEI_END_YIELD
                                    : step->is_raised                 ? CUNEI_END_RAISE
                                                      : CUNEI_END_RETURN;

    return close_stretch(story, &step->frames[step->depth - 1], step->time, how);
}

static int tell_begin(struct cunei_spans *story, const struct cunei_walk_step *step)
{
    struct cunei_walk_frame *frame = &step->frames[step->depth - 1];
    const enum cunei_span_event_begin how = step->kind == CUNEI_WALK_FOUND
                                                ? CUNEI_BEGIN_FOUND
                                            : frame->is_resumed ? CUNEI_BEGIN_RESUME
                                                                : CUNEI_BEGIN_CALL;

    return open_stretch(story, frame, step->time, how);
}

static int tell(struct cunei_spans *story, const struct cunei_walk_step *step)
{
    switch (step->kind) {
    case CUNEI_WALK_ENTER:
    case CUNEI_WALK_FOUND:
        return tell_begin(story, step);
    case CUNEI_WALK_LEAVE:
    case CUNEI_WALK_MISSED:
    case CUNEI_WALK_OPEN:
        return tell_end(story, step);
    case CUNEI_WALK_LOST:
        return tell_lost(story, step);
    case CUNEI_WALK_ORPHAN:
        return story->methods->orphan
                   ? story->methods->orphan(story->context, step->function, step->time)
                   : 0;
    case CUNEI_WALK_SWITCH:
        return tell_switch(story, step);
    case CUNEI_WALK_ASIDE:
        return close_stretch(story, &step->frames[step->depth - 1], step->time,
                             CUNEI_END_SWITCH);
    case CUNEI_WALK_AGAIN:
        return open_stretch(story, &step->frames[step->depth - 1], step->time,
                            CUNEI_BEGIN_SWITCH);
    case CUNEI_WALK_EVENT:
        return tell_event(story, step);
    default:
        return 0;
    }
}

/* Whether a frame begins with the step: it has no stretch until that is told. */
static bool is_begin(const struct cunei_walk_step *step)
{
    return step->kind == CUNEI_WALK_ENTER || step->kind == CUNEI_WALK_FOUND ||
           step->kind == CUNEI_WALK_AGAIN;
}

static int tell_step(void *context, const struct cunei_walk_step *step)
{
    struct cunei_spans *story = context;
    uint32_t depth = step->depth - is_begin(step);
    int rc = 0;

    if (step->kind == CUNEI_WALK_THREAD)
        return begin_thread(story, step);
    if (story->is_adopting) {
        if (step->kind == CUNEI_WALK_FOUND)
            return adopt(story, &step->frames[step->depth - 1]);
        rc = stop_adopting(story);
        if (rc != 0)
            return rc;
    }
    if (step->is_suspended)
        return 0;
    /* Until it is known what really is open, nothing is begun. */
    if (story->is_behind && step->is_correction)
        return 0;
    if (story->is_behind && step->kind != CUNEI_WALK_LOST)
        rc = catch_up(story, step->frames, depth);
    return rc == 0 ? tell(story, step) : rc;
}

int cunei_spans_packet(struct cunei_spans *story, const struct cunei_packet *packet,
                       const uint64_t *words, size_t word_count)
{
    if (word_count == 0)
        return 0;
    story->walk.step = tell_step;
    story->walk.context = story;
    story->walk.kinds = story->kinds;
    memcpy(&story->last.packet, packet, sizeof(story->last.packet));
    int rc = cunei_walk_packet(&story->walk, packet, words, word_count);
    story->discarded = packet->events_discarded;
    if (rc == 0 && story->is_adopting)
        rc = stop_adopting(story);
    /* The next packet may be another piece's. */
    if (rc == 0 && story->is_behind)
        rc = catch_up(story, story->walk.frames, story->walk.depth);
    return rc;
}

int cunei_spans_end(struct cunei_spans *story)
{
    struct cunei_walk *walk = &story->walk;
    int rc = 0;

    if (story->is_whole)
        return cunei_walk_end(walk);
    story->last.time = walk->last;
    for (uint32_t i = 0; rc == 0 && i < walk->depth; i++)
        rc = cunei_spans_edge_add(&story->last,
                                  walk->frames[i].mark ? walk->frames[i].function : 0);
    return rc;
}

void cunei_spans_fini(struct cunei_spans *story)
{
    cunei_walk_fini(&story->walk);
    free(story->first.functions);
    free(story->last.functions);
    free(story->closings);
    free(story->steps.items);
    *story = (struct cunei_spans){0};
}
