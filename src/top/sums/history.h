// SPDX-License-Identifier: MIT
/*
 * The last ten minutes, second by second: of the whole, and of each function that was
 * active.  Memory is bounded: where more functions are active than it has places for,
 * the one that has been quiet for longest gives its place away.
 *
 *     struct cunei_top_history history = {0};
 *     cunei_top_history_add(&history, now_ns, &rates);
 *     const struct cunei_top_point *points = cunei_top_history_of(&history, function);
 *     … points[cunei_top_history_slot(&history, seconds_ago)] …
 *     cunei_top_history_fini(&history);
 */
#ifndef CUNEI_TOP_SUMS_HISTORY_H
#define CUNEI_TOP_SUMS_HISTORY_H

#include <stdint.h>

#include "base/map.h"

struct cunei_top_rates;

#define CUNEI_TOP_HISTORY_SECONDS   600u
#define CUNEI_TOP_HISTORY_FUNCTIONS 2048u

struct cunei_top_point {
    float self_share; /* of the work of all threads, 0 to 1 */
    float calls;      /* in a second */
};

struct cunei_top_history {
    uint64_t second;      /* the newest point's, since 1970; 0: there is none */
    uint32_t point_count; /* in use */
    float events[CUNEI_TOP_HISTORY_SECONDS]; /* in a second */
    /* Owned: CUNEI_TOP_HISTORY_SECONDS points for each place. */
    struct cunei_top_point *points;
    struct cunei_top_history_place {
        uint32_t function;
        uint64_t active; /* the last second in which it was */
    } * places;          /* owned */
    uint32_t place_count, place_capacity;
    struct cunei_map map; /* private: of functions */
};

/* Take in the rates of the interval that ended at `now_ns`.  -ENOMEM. */
int cunei_top_history_add(struct cunei_top_history *history, uint64_t now_ns,
                          const struct cunei_top_rates *rates);
void cunei_top_history_fini(struct cunei_top_history *history);

/* The points of a function; NULL: it was never active, or gave its place away. */
const struct cunei_top_point *cunei_top_history_of(
    const struct cunei_top_history *history, uint32_t function);

/* Where the point lies that is `seconds_ago` before the newest one. */
uint32_t cunei_top_history_slot(const struct cunei_top_history *history,
                                uint32_t seconds_ago);

#endif
