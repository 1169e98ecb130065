// SPDX-License-Identifier: MIT
#include "model/walk/walk.h"

#include <stdlib.h>

#include "model/walk/greenlet_stacks.h"
#include "model/walk/walk_stack.h"

struct cunei_walk *cunei_walk_new(int (*step)(void *context,
                                              const struct cunei_walk_step *step),
                                  void *context, struct cunei_id_kinds kinds)
{
    struct cunei_walk *walk = malloc(sizeof(*walk));

    if (walk)
        *walk = (struct cunei_walk){.step = step, .context = context, .kinds = kinds};
    return walk;
}

void cunei_walk_free(struct cunei_walk *walk)
{
    if (!walk)
        return;
    free(walk->frames);
    free(walk->counts.items);
    cunei_greenlets_free(walk->greenlets);
    free(walk);
}

static int begin_packet(struct cunei_walk *walk, const struct cunei_packet *packet)
{
    bool is_same = walk->has_packet && walk->thread == packet->thread &&
                   walk->vtid == packet->vtid;
    bool is_next = packet->sequence == walk->sequence + 1 &&
                   packet->events_discarded == walk->discarded;
    int rc = 0;

    if (walk->has_packet && !is_same)
        rc = cunei_walk_end_thread(walk);
    if (!is_same)
        walk->last = packet->timestamp_begin;
    walk->has_packet = true;
    walk->packet = packet;
    walk->thread = packet->thread;
    walk->vtid = packet->vtid;
    walk->sequence = packet->sequence;
    walk->discarded = packet->events_discarded;
    walk->line = (struct cunei_line){0};
    walk->leave = (struct cunei_walk_leave){0};
    if (rc == 0 && !is_same)
        rc = cunei_walk_report(walk,
                               (struct cunei_walk_step){.kind = CUNEI_WALK_THREAD});
    if (rc == 0 && is_same && !is_next) {
        if (packet->timestamp_begin > walk->last)
            walk->last = packet->timestamp_begin;
        rc = cunei_walk_report(walk, (struct cunei_walk_step){.kind = CUNEI_WALK_LOST});
    }
    return rc;
}

/* The event, or a line in full where it is one that is not. */
static const uint64_t *complete_line(struct cunei_walk *walk, uint32_t class,
                                     const uint64_t *at)
{
    if (class == CUNEI_CLASS_LINE)
        walk->line = *(const struct cunei_line *)(const void *)at;
    if (!cunei_class_is_near(class))
        return at;
    walk->near = cunei_line_near(at[0], &walk->line);
    return &walk->near.record;
}

/* A function is entered or left. */
static int read_call(struct cunei_walk *walk, uint32_t function, enum cunei_phase phase)
{
    int rc = 0;

    if (phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME)
        rc = cunei_walk_enter(walk, function, phase == CUNEI_PHASE_RESUME);
    else {
        walk->leave.leave.function = function;
        walk->leave.is_yield = phase == CUNEI_PHASE_YIELD;
        rc = cunei_walk_leave(walk, &walk->leave);
    }
    walk->leave = (struct cunei_walk_leave){0};
    return rc;
}

/* An event of a built-in class.  One that does not affect the stack is reported. */
static int read_other(struct cunei_walk *walk, uint32_t class, const uint64_t *at)
{
    if (class == CUNEI_CLASS_STACK)
        return cunei_walk_sync(walk, (const void *)at);
    if (class == CUNEI_CLASS_SWITCH)
        return cunei_walk_switch(walk, (const void *)at);
    if (class == CUNEI_CLASS_UNWIND) {
        walk->leave =
            (struct cunei_walk_leave){.leave = {.run = at[1]}, .is_raised = true};
        return 0;
    }
    return cunei_walk_report(
        walk, (struct cunei_walk_step){.kind = CUNEI_WALK_EVENT,
                                       .event = complete_line(walk, class, at)});
}

int cunei_walk_packet(struct cunei_walk *walk, const struct cunei_packet *packet,
                      const uint64_t *words, size_t word_count)
{
    if (word_count == 0)
        return 0;
    int rc = begin_packet(walk, packet);
    return rc == 0 ? cunei_walk_continue(walk, packet, words, word_count) : rc;
}

void cunei_walk_set_kinds(struct cunei_walk *walk, struct cunei_id_kinds kinds)
{
    walk->kinds = kinds;
}

/* The next packet does not follow it. */
void cunei_walk_cut_packet(struct cunei_walk *walk)
{
    walk->sequence = UINT64_MAX - 1;
}

int cunei_walk_continue(struct cunei_walk *walk, const struct cunei_packet *packet,
                        const uint64_t *words, size_t word_count)
{
    size_t size = 0;
    int rc = 0;

    walk->packet = packet;
    for (size_t at = 0; rc == 0 && at < word_count; at += size) {
        const uint64_t *event = words + at;
        uint64_t time = cunei_record_time(event[0], packet->timestamp_begin);
        uint32_t class = cunei_record_class(event[0]);
        size = cunei_event_words(event, word_count - at);
        walk->last = time > walk->last ? time : walk->last;
        if (size == 0)
            break;
        if (class == CUNEI_CLASS_CALL) {
            if (event[1] >= CUNEI_FUNCTION_END)
                break;
            class = (uint32_t)event[1];
        }
        rc = class < CUNEI_FUNCTION_FIRST
                 ? read_other(walk, class, event)
                 : read_call(walk, class, cunei_record_phase(event[0]));
    }
    return rc;
}

int cunei_walk_end(struct cunei_walk *walk)
{
    walk->has_packet = false;
    return cunei_walk_end_thread(walk);
}

struct cunei_walk_frame *cunei_walk_frames(const struct cunei_walk *walk,
                                           uint32_t *depth)
{
    *depth = walk->depth;
    return walk->frames;
}

uint64_t cunei_walk_time(const struct cunei_walk *walk)
{
    return walk->last;
}

void cunei_walk_clear_tags(struct cunei_walk *walk)
{
    for (uint32_t i = 0; i < walk->depth; i++)
        walk->frames[i].tag = 0;
    if (walk->greenlets)
        cunei_greenlets_clear_tags(walk->greenlets);
}
