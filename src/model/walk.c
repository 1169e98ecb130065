// SPDX-License-Identifier: MIT
#include "model/walk.h"

#include <stdlib.h>

#include "model/greenlet_stacks.h"

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

/* One event; how many words it takes, or 0 if that is unknown. */
static size_t read_event(struct cunei_walk *walk, const uint64_t *at, size_t left,
                         struct cunei_walk_leave *unwind, int *rc)
{
    uint64_t time = cunei_record_time(at[0], walk->packet->timestamp_begin);
    uint32_t class = cunei_record_class(at[0]);
    enum cunei_phase phase = cunei_record_phase(at[0]);
    size_t size = cunei_event_words(at, left);

    walk->last = time > walk->last ? time : walk->last;
    if (size == 0)
        return 0;
    switch (class) {
    case CUNEI_CLASS_STACK:
        *rc = cunei_walk_sync(walk, (const void *)at);
        return size;
    case CUNEI_CLASS_SWITCH:
        *rc = cunei_walk_switch(walk, (const void *)at);
        return size;
    case CUNEI_CLASS_UNWIND:
        *unwind = (struct cunei_walk_leave){.leave = {.run = at[1]}, .is_raised = true};
        return size;
    case CUNEI_CLASS_CALL:
        if (at[1] >= CUNEI_FUNCTION_END)
            return 0;
        class = (uint32_t)at[1];
        break;
    default:
        break;
    }
    if (class < CUNEI_FUNCTION_FIRST) {
        *rc = cunei_walk_report(
            walk, (struct cunei_walk_step){.kind = CUNEI_WALK_EVENT,
                                           .event = complete_line(walk, class, at)});
        return size;
    }
    if (phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME)
        *rc = cunei_walk_enter(walk, class, phase == CUNEI_PHASE_RESUME);
    else {
        unwind->leave.function = class;
        unwind->is_yield = phase == CUNEI_PHASE_YIELD;
        *rc = cunei_walk_leave(walk, unwind);
    }
    *unwind = (struct cunei_walk_leave){0};
    return size;
}

int cunei_walk_packet(struct cunei_walk *walk, const struct cunei_packet *packet,
                      const uint64_t *words, size_t word_count)
{
    struct cunei_walk_leave unwind = {0};
    size_t at = 0;

    if (word_count == 0)
        return 0;
    int rc = begin_packet(walk, packet);
    while (rc == 0 && at < word_count) {
        size_t size = read_event(walk, words + at, word_count - at, &unwind, &rc);
        if (size == 0)
            break;
        at += size;
    }
    return rc;
}

int cunei_walk_end(struct cunei_walk *walk)
{
    return cunei_walk_end_thread(walk);
}

void cunei_walk_fini(struct cunei_walk *walk)
{
    free(walk->frames);
    free(walk->counts.items);
    cunei_greenlets_free(walk->greenlets);
    walk->greenlets = NULL;
    walk->frames = NULL;
    walk->counts = (struct cunei_open_counts){0};
    walk->depth = 0;
    walk->capacity = 0;
}
