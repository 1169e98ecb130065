// SPDX-License-Identifier: MIT
#include "model/facts/call_edges.h"

#include <stdlib.h>

#include "base/vector.h"

struct cunei_edges *cunei_edges_new(void)
{
    struct cunei_edges *edges = calloc(1, sizeof(*edges));

    if (!edges || !CUNEI_VECTOR_RESERVE(edges->items, edges->capacity, 1)) {
        cunei_edges_free(edges);
        return NULL;
    }
    edges->items[edges->count++] = (struct cunei_edge){0};
    return edges;
}

void cunei_edges_free(struct cunei_edges *edges)
{
    if (!edges)
        return;
    free(edges->items);
    cunei_map_fini(&edges->map);
    free(edges);
}

uint32_t cunei_edges_find(struct cunei_edges *edges, uint32_t caller, uint32_t callee)
{
    uint64_t hash = cunei_hash_number((uint64_t)caller << 32 | callee);
    struct cunei_map_search search = {.hash = hash};

    for (uint32_t i; cunei_map_next(&edges->map, &search, &i);) {
        if (edges->items[i].caller == caller && edges->items[i].callee == callee)
            return i;
    }
    if (edges->count == CUNEI_EDGES_MAX ||
        !CUNEI_VECTOR_RESERVE(edges->items, edges->capacity, edges->count + 1) ||
        cunei_map_add(&edges->map, hash, edges->count) < 0)
        return 0;
    edges->items[edges->count] =
        (struct cunei_edge){.caller = caller, .callee = callee};
    return edges->count++;
}

static uint64_t scale(uint64_t time, uint64_t numerator, uint64_t denominator)
{
    return (uint64_t)((unsigned __int128)time * numerator / denominator);
}

void cunei_edges_add(struct cunei_edges *edges, const struct cunei_edges *other,
                     const uint32_t *map, uint64_t numerator, uint64_t denominator)
{
    for (uint32_t i = 0; i < other->count; i++) {
        const struct cunei_edge *from = &other->items[i];
        uint32_t caller = map ? map[from->caller] : from->caller;
        uint32_t callee = map ? map[from->callee] : from->callee;
        uint32_t index = i == 0 ? 0 : cunei_edges_find(edges, caller, callee);
        struct cunei_edge *edge = &edges->items[index];

        edge->calls += from->calls;
        edge->resumes += from->resumes;
        edge->recursive += from->recursive;
        edge->total += scale(from->total, numerator, denominator);
        edge->self += scale(from->self, numerator, denominator);
        edge->inclusive += scale(from->inclusive, numerator, denominator);
    }
}
