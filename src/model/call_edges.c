// SPDX-License-Identifier: MIT
#include "model/call_edges.h"

#include <stdlib.h>

#define FIRST_CAPACITY 256u

struct cunei_edges *cunei_edges_new(void)
{
    struct cunei_edges *edges = calloc(1, sizeof(*edges));
    if (!edges)
        return NULL;
    edges->items = calloc(FIRST_CAPACITY, sizeof(*edges->items));
    edges->table = calloc((size_t)2 * FIRST_CAPACITY, sizeof(*edges->table));
    if (!edges->items || !edges->table) {
        cunei_edges_free(edges);
        return NULL;
    }
    edges->count = 1;
    edges->capacity = FIRST_CAPACITY;
    edges->table_size = 2 * FIRST_CAPACITY;
    return edges;
}

void cunei_edges_free(struct cunei_edges *edges)
{
    if (!edges)
        return;
    free(edges->items);
    free(edges->table);
    free(edges);
}

static uint32_t find_place(const struct cunei_edges *edges, uint32_t caller,
                           uint32_t callee)
{
    uint64_t key = (uint64_t)caller << 32 | callee;
    uint32_t mask = edges->table_size - 1;
    uint32_t place = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

    for (;; place = (place + 1) & mask) {
        const struct cunei_edge *edge = &edges->items[edges->table[place]];
        if (edges->table[place] == 0 ||
            (edge->caller == caller && edge->callee == callee))
            return place;
    }
}

static int grow(struct cunei_edges *edges)
{
    uint32_t capacity = 2 * edges->capacity;

    if (edges->capacity >= CUNEI_EDGES_MAX)
        return -1;
    struct cunei_edge *items = realloc(edges->items, capacity * sizeof(*items));
    if (!items)
        return -1;
    edges->items = items;
    uint32_t *table = calloc((size_t)2 * capacity, sizeof(*table));
    if (!table)
        return -1;
    free(edges->table);
    edges->table = table;
    edges->table_size = 2 * capacity;
    edges->capacity = capacity;
    for (uint32_t i = 1; i < edges->count; i++)
        table[find_place(edges, items[i].caller, items[i].callee)] = i;
    return 0;
}

uint32_t cunei_edges_find(struct cunei_edges *edges, uint32_t caller, uint32_t callee)
{
    uint32_t place = find_place(edges, caller, callee);

    if (edges->table[place] != 0)
        return edges->table[place];
    if (edges->count == edges->capacity) {
        if (grow(edges) < 0)
            return 0;
        place = find_place(edges, caller, callee);
    }
    uint32_t index = edges->count++;
    edges->items[index] = (struct cunei_edge){.caller = caller, .callee = callee};
    edges->table[place] = index;
    return index;
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
