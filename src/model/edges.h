// SPDX-License-Identifier: MIT
/*
 * Who called whom: calls and inclusive time of each pair of caller and callee.
 *
 * The time of a pair is that of the callee's outermost activations, so that the times
 * of all callers of a function add up to its total.  Pair 0 takes what finds no place:
 * their number is capped, and a missing allocation is treated in the same way.
 */
#ifndef CUNEI_MODEL_EDGES_H
#define CUNEI_MODEL_EDGES_H

#include <stdint.h>

#define CUNEI_EDGES_MAX (1u << 20)

struct cunei_edge {
    uint32_t caller; /* slots; 0: nobody, or unknown */
    uint32_t callee;
    uint64_t calls;
    uint64_t resumes;
    uint64_t total;
};

struct cunei_edges {
    struct cunei_edge *items; /* owned */
    uint32_t count;
    uint32_t capacity;
    uint32_t *table; /* owned, private */
    uint32_t table_size;
};

/* NULL: no memory. */
struct cunei_edges *cunei_edges_new(void);
void cunei_edges_free(struct cunei_edges *edges);

/* The index of a pair, made if there is none; 0: no place for it. */
uint32_t cunei_edges_find(struct cunei_edges *edges, uint32_t caller, uint32_t callee);

/* As cunei_tree_add. */
void cunei_edges_add(struct cunei_edges *edges, const struct cunei_edges *other,
                     const uint32_t *map, uint64_t numerator, uint64_t denominator);

#endif
