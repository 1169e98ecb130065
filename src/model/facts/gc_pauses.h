// SPDX-License-Identifier: MIT
/*
 * Garbage collections of a thread: how many, how long the program stood still.
 *
 * A collection that one piece of a stream sees begin and the next one sees end is
 * counted by the latter, and its pause is added when the two are joined.
 */
#ifndef CUNEI_MODEL_FACTS_GC_PAUSES_H
#define CUNEI_MODEL_FACTS_GC_PAUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/event.h"

#define CUNEI_GENERATIONS 3u /* and what is above them counts to the last */

struct cunei_gc_pauses {
    uint64_t count[CUNEI_GENERATIONS]; /* by generation */
    uint64_t pause;                    /* ticks, all together … */
    uint64_t pause_max;                /* … and the longest */
    uint64_t collected;                /* objects */
    uint64_t uncollectable;
};

/* What a piece knows of a thread's collections beside them: private to the model. */
struct cunei_gc_open_pause {
    bool is_seen;   /* a start or an end */
    bool is_open;   /* one is under way … */
    uint64_t since; /* … from here */
    bool has_end;   /* the first that was seen is the end of one … */
    uint64_t end;   /* … here */
};

/* Take an event in. */
void cunei_gc_pauses_read(struct cunei_gc_pauses *collections,
                          struct cunei_gc_open_pause *state,
                          const struct cunei_gc *event, uint64_t time);

/*
 * Append what follows on the same thread.  Where events were `lost` between the two,
 * nothing is known of a collection that was under way.
 */
void cunei_gc_pauses_join(struct cunei_gc_pauses *left,
                          struct cunei_gc_open_pause *left_state,
                          const struct cunei_gc_pauses *right,
                          const struct cunei_gc_open_pause *right_state, bool lost);

/* Add another thread's. */
void cunei_gc_pauses_add(struct cunei_gc_pauses *collections,
                         const struct cunei_gc_pauses *other);

uint64_t cunei_gc_pauses_count(const struct cunei_gc_pauses *collections);

#endif
