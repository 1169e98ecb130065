// SPDX-License-Identifier: MIT
/*
 * Pauses for garbage collection, found in pieces of a stream.
 *
 * A collection is two events.  They may be in different pieces, or one of them may be
 * missing.  All calls that begin in a pause must end in it, or it would not nest in the
 * calls around it; other pauses are left out.
 *
 *     if (cunei_gc_tracker_event(&tracker, event, time, &pause))
 *         … pause …
 *     … after each piece, in order, with the tracker of all pieces before it:
 *     if (cunei_gc_tracker_join(&before, &tracker, &pause))
 *         … pause …
 */
#ifndef CUNEI_EXPORT_GC_PAUSE_H
#define CUNEI_EXPORT_GC_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_gc;

/* Times are in ticks. */
struct cunei_gc_pause {
    uint64_t begin, end;
    uint64_t collected; /* objects */
    uint32_t generation;
    uint32_t uncollectable;
};

/* How calls began and ended up to a moment: the depth then, and the lowest before. */
struct cunei_gc_depth {
    int64_t now, lowest;
};

/* Private; begins with zeros. */
struct cunei_gc_tracker {
    bool is_open; /* a pause began, … */
    uint64_t begin;
    struct cunei_gc_depth depth; /* … since which, or since the piece began */
    bool is_apart; /* a pause that began before the piece cannot end any more */
    bool has_end;  /* one of them did: */
    struct cunei_gc_pause ended; /* but for its start */
    struct cunei_gc_depth end_depth;
};

/* A call begins (1) or ends (-1). */
static inline void cunei_gc_tracker_nest(struct cunei_gc_tracker *tracker, int change)
{
    struct cunei_gc_depth *depth = &tracker->depth;

    depth->now += change;
    if (depth->now < depth->lowest)
        depth->lowest = depth->now;
}

/* Events are missing here, or another thread follows. */
void cunei_gc_tracker_interrupt(struct cunei_gc_tracker *tracker);

/* Whether a pause is complete now; `*pause` is written then. */
bool cunei_gc_tracker_event(struct cunei_gc_tracker *tracker,
                            const struct cunei_gc *event, uint64_t time,
                            struct cunei_gc_pause *pause);
bool cunei_gc_tracker_join(struct cunei_gc_tracker *before,
                           const struct cunei_gc_tracker *piece,
                           struct cunei_gc_pause *pause);

#endif
