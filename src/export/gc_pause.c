// SPDX-License-Identifier: MIT
#include "export/gc_pause.h"

#include "wire/event.h"

void cunei_gc_tracker_interrupt(struct cunei_gc_tracker *tracker)
{
    tracker->is_open = false;
    tracker->is_apart = true;
}

static struct cunei_gc_depth add(struct cunei_gc_depth a, struct cunei_gc_depth b)
{
    int64_t lowest = a.now + b.lowest;

    return (struct cunei_gc_depth){
        .now = a.now + b.now,
        .lowest = lowest < a.lowest ? lowest : a.lowest,
    };
}

static bool is_even(struct cunei_gc_depth depth)
{
    return depth.now == 0 && depth.lowest == 0;
}

bool cunei_gc_tracker_event(struct cunei_gc_tracker *tracker,
                            const struct cunei_gc *event, uint64_t time,
                            struct cunei_gc_pause *pause)
{
    bool is_begin = cunei_record_phase(event->record) == CUNEI_PHASE_ENTER;
    bool is_whole = !is_begin && tracker->is_open && is_even(tracker->depth);
    const struct cunei_gc_pause ended = {.begin = tracker->begin,
                                         .end = time,
                                         .collected = event->collected,
                                         .generation = event->generation,
                                         .uncollectable = event->uncollectable};

    if (!is_begin && !tracker->is_open && !tracker->is_apart) {
        tracker->has_end = true;
        tracker->ended = ended;
        tracker->end_depth = tracker->depth;
    }
    tracker->is_open = is_begin;
    tracker->is_apart = true;
    tracker->begin = time;
    tracker->depth = (struct cunei_gc_depth){0};
    if (is_whole)
        *pause = ended;
    return is_whole;
}

bool cunei_gc_tracker_join(struct cunei_gc_tracker *before,
                           const struct cunei_gc_tracker *piece,
                           struct cunei_gc_pause *pause)
{
    bool is_whole = before->is_open && piece->has_end &&
                    is_even(add(before->depth, piece->end_depth));

    if (is_whole) {
        *pause = piece->ended;
        pause->begin = before->begin;
    }
    if (piece->is_apart) {
        before->is_open = piece->is_open;
        before->begin = piece->begin;
        before->depth = piece->depth;
    } else {
        before->depth = add(before->depth, piece->depth);
    }
    return is_whole;
}
