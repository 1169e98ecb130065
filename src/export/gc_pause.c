// SPDX-License-Identifier: MIT
/*
 * Pauses of the garbage collector, which are two events that may be in different
 * pieces, or of which one is missing.  In between, what is called must have ended, or
 * the pause would not nest in what is around it.
 */
#include "export/encode.h"

void cunei_gc_pause_break(struct cunei_gc_pause_span *pausing)
{
    pausing->is_open = false;
    pausing->is_apart = true;
}

static struct cunei_gc_pause_level add(struct cunei_gc_pause_level a,
                                       struct cunei_gc_pause_level b)
{
    int64_t lowest = a.depth + b.lowest;

    return (struct cunei_gc_pause_level){
        .depth = a.depth + b.depth,
        .lowest = lowest < a.lowest ? lowest : a.lowest,
    };
}

static bool is_even(struct cunei_gc_pause_level level)
{
    return level.depth == 0 && level.lowest == 0;
}

int cunei_gc_pause_take(struct cunei_encoding *encoding, const struct cunei_gc *event,
                        uint64_t time)
{
    struct cunei_gc_pause_span *pausing = &encoding->pausing;
    bool is_begin = cunei_record_phase(event->record) == CUNEI_PHASE_ENTER;
    struct cunei_gc_pause pause = {.begin = pausing->begin,
                                   .end = time,
                                   .collected = event->collected,
                                   .generation = event->generation,
                                   .uncollectable = event->uncollectable};
    bool is_whole = !is_begin && pausing->is_open && is_even(pausing->level);

    if (!is_begin && !pausing->is_open && !pausing->is_apart) {
        pausing->has_end = true;
        pausing->ended = pause;
        pausing->end_level = pausing->level;
    }
    pausing->is_open = is_begin;
    pausing->is_apart = true;
    pausing->begin = time;
    pausing->level = (struct cunei_gc_pause_level){0};
    return is_whole ? encoding->encoder->pause(encoding, &pause) : 0;
}

int cunei_gc_pause_join(struct cunei_encoding *seam, const struct cunei_encoding *piece)
{
    const struct cunei_gc_pause_span *next = &piece->pausing;
    struct cunei_gc_pause_span *before = &seam->pausing;
    struct cunei_gc_pause pause = next->ended;
    bool is_whole = before->is_open && next->has_end &&
                    is_even(add(before->level, next->end_level));

    pause.begin = before->begin;
    if (next->is_apart) {
        before->is_open = next->is_open;
        before->begin = next->begin;
        before->level = next->level;
    } else {
        before->level = add(before->level, next->level);
    }
    return is_whole ? seam->encoder->pause(seam, &pause) : 0;
}
