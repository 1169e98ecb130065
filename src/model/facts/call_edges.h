// SPDX-License-Identifier: MIT
/*
 * Calls and times of each pair of a caller and a callee.
 *
 * `total` is the time of the callee's outermost activations, so that those of all its
 * callers add up to its own total.  `inclusive` is that of the pair's outermost ones,
 * whatever else is open, as cProfile counts it.  Pair 0 collects everything beyond the
 * limit: their number is capped, and a missing allocation is treated in the same way.
 */
#ifndef CUNEI_MODEL_FACTS_CALL_EDGES_H
#define CUNEI_MODEL_FACTS_CALL_EDGES_H

#include <stdint.h>

#include "base/map.h"

#define CUNEI_EDGES_MAX (1u << 20)

struct cunei_edge {
    uint32_t caller; /* slots; 0: none, or unknown */
    uint32_t callee;
    uint64_t calls;
    uint64_t resumes;
    uint64_t recursive; /* of both: made while the pair was open already */
    uint64_t total;
    uint64_t self; /* of the callee, on top of the stack */
    uint64_t inclusive;
    uint64_t opened_at; /* private, as the next one: while a span is read */
    uint32_t open;
};

struct cunei_edges {
    struct cunei_edge *items; /* owned */
    uint32_t count;
    uint32_t capacity;
    struct cunei_map map; /* private: of caller and callee */
};

/* NULL: no memory. */
struct cunei_edges *cunei_edges_new(void);
void cunei_edges_free(struct cunei_edges *edges);

/* The index of a pair, made if there is none; 0: no place for it. */
uint32_t cunei_edges_find(struct cunei_edges *edges, uint32_t caller, uint32_t callee);

/* The callee begins or ends; the pair may be open several times. */
static inline void cunei_edges_open(struct cunei_edges *edges, uint32_t index,
                                    uint64_t time)
{
    struct cunei_edge *edge = &edges->items[index];

    if (edge->open++ == 0)
        edge->opened_at = time;
}

static inline void cunei_edges_close(struct cunei_edges *edges, uint32_t index,
                                     uint64_t time)
{
    struct cunei_edge *edge = &edges->items[index];

    if (--edge->open == 0)
        edge->inclusive += time - edge->opened_at;
}

/* As cunei_tree_add. */
void cunei_edges_add(struct cunei_edges *edges, const struct cunei_edges *other,
                     const uint32_t *map, uint64_t numerator, uint64_t denominator);

#endif
