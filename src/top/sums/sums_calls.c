// SPDX-License-Identifier: MIT
/* Callers and callees, the call tree, and the time of open functions up to now. */
#include <errno.h>
#include <stdlib.h>

#include "model/facts/call_edges.h"
#include "model/facts/call_tree.h"
#include "top/sums/sums_addition.h"

static bool grow_edges(struct cunei_top_addition *addition)
{
    struct cunei_top_sums *sums = addition->sums;

    return cunei_top_sums_grow((void **)&sums->edges, &sums->edge_count,
                               addition->known->edges->count, sizeof(*sums->edges));
}

int cunei_top_sums_add_edges(struct cunei_top_addition *addition)
{
    const struct cunei_edges *edges = addition->analysis->edges;

    for (uint32_t i = 0; edges && i < edges->count; i++) {
        const struct cunei_edge *edge = &edges->items[i];
        uint32_t number =
            i == 0 ? 0 /* of all pairs beyond the limit */
                   : cunei_edges_find(addition->known->edges,
                                      cunei_top_addition_slot(addition, edge->caller),
                                      cunei_top_addition_slot(addition, edge->callee));
        if (!grow_edges(addition))
            return -ENOMEM;
        struct cunei_top_calls *to = &addition->sums->edges[number];
        to->calls += edge->calls + edge->resumes;
        to->self_ns += edge->self;
        to->total_ns += edge->total;
    }
    return 0;
}

static bool grow_nodes(struct cunei_top_addition *addition)
{
    struct cunei_top_sums *sums = addition->sums;

    return cunei_top_sums_grow((void **)&sums->nodes, &sums->node_count,
                               addition->known->tree->count, sizeof(*sums->nodes));
}

/* A node's total is that of its children and its own time: children stand behind it. */
static void add_nodes(struct cunei_top_addition *addition,
                      const struct cunei_tree *tree, const uint32_t *map,
                      uint64_t *totals)
{
    for (uint32_t i = tree->count; i-- > 0;) {
        const struct cunei_node *node = &tree->nodes[i];
        struct cunei_top_calls *to = &addition->sums->nodes[map[i]];
        totals[i] += node->self + node->gap;
        if (i > 0)
            totals[node->parent] += totals[i];
        to->calls += node->calls + node->resumes;
        to->self_ns += node->self;
        to->total_ns += totals[i];
    }
}

int cunei_top_sums_add_tree(struct cunei_top_addition *addition)
{
    const struct cunei_tree *tree = addition->analysis->tree;

    if (!tree || tree->count == 0)
        return 0;
    uint32_t *map = calloc(tree->count, sizeof(*map));
    uint64_t *totals = calloc(tree->count, sizeof(*totals));
    int rc = map && totals ? 0 : -ENOMEM;
    for (uint32_t i = 1; rc == 0 && i < tree->count; i++)
        map[i] =
            cunei_tree_child(addition->known->tree, map[tree->nodes[i].parent],
                             cunei_top_addition_slot(addition, tree->nodes[i].slot));
    if (rc == 0 && !grow_nodes(addition))
        rc = -ENOMEM;
    if (rc == 0)
        add_nodes(addition, tree, map, totals);
    free(map);
    free(totals);
    return rc;
}

static bool is_above(const struct cunei_top_thread *thread, uint32_t count,
                     uint32_t function)
{
    for (uint32_t i = 0; i < count; i++) {
        if (thread->open[i] == function)
            return true;
    }
    return false;
}

/* The innermost function that is not a region, whose time is its function's. */
static uint32_t find_innermost(const struct cunei_top_addition *addition,
                               const struct cunei_top_thread *thread)
{
    for (uint32_t i = thread->open_count; i-- > 0;) {
        uint32_t function = thread->open[i];
        if (function < addition->known->functions.count &&
            !addition->known->names[function].is_region)
            return function;
    }
    return UINT32_MAX;
}

static void add_to_functions(struct cunei_top_addition *addition,
                             const struct cunei_top_thread *thread)
{
    struct cunei_top_sums *sums = addition->sums;
    uint32_t innermost = find_innermost(addition, thread);

    for (uint32_t i = 0; i < thread->open_count; i++) {
        uint32_t function = thread->open[i];
        if (function < sums->function_count && !is_above(thread, i, function))
            sums->functions[function].total_ns += thread->idle_ns;
    }
    if (innermost >= sums->function_count)
        return;
    sums->functions[innermost].self_ns += thread->idle_ns;
    sums->self_ns += thread->idle_ns;
    if (addition->known->names[innermost].waits)
        sums->waiting_ns += thread->idle_ns;
}

static uint32_t slot_of(const struct cunei_top_thread *thread, uint32_t index)
{
    return thread->open[index] == UINT32_MAX ? 0 : thread->open[index] + 1;
}

/* The way through the tree is known only if the whole stack is. */
static int add_to_tree(struct cunei_top_addition *addition,
                       const struct cunei_top_thread *thread)
{
    struct cunei_tree *tree = addition->known->tree;
    uint32_t node = 0;

    if (!addition->analysis->tree || thread->open_count != thread->open_depth)
        return 0;
    for (uint32_t i = 0; i < thread->open_count; i++) {
        uint32_t slot = slot_of(thread, i);
        if (node == 0 || tree->nodes[node].slot != slot)
            node = cunei_tree_child(tree, node, slot);
    }
    if (!grow_nodes(addition))
        return -ENOMEM;
    struct cunei_top_calls *nodes = addition->sums->nodes;
    nodes[node].self_ns += thread->idle_ns;
    for (; node > 0; node = tree->nodes[node].parent)
        nodes[node].total_ns += thread->idle_ns;
    nodes[0].total_ns += thread->idle_ns;
    return 0;
}

static int add_to_edges(struct cunei_top_addition *addition,
                        const struct cunei_top_thread *thread)
{
    for (uint32_t i = 0; addition->analysis->edges && i < thread->open_count; i++) {
        bool is_cut = i == 0 && thread->open_depth > thread->open_count;
        if (is_cut || is_above(thread, i, thread->open[i]))
            continue;
        uint32_t number =
            cunei_edges_find(addition->known->edges, i > 0 ? slot_of(thread, i - 1) : 0,
                             slot_of(thread, i));
        if (!grow_edges(addition))
            return -ENOMEM;
        addition->sums->edges[number].total_ns += thread->idle_ns;
        if (i + 1 == thread->open_count)
            addition->sums->edges[number].self_ns += thread->idle_ns;
    }
    return 0;
}

int cunei_top_sums_add_open(struct cunei_top_addition *addition,
                            const struct cunei_top_thread *thread)
{
    add_to_functions(addition, thread);
    int rc = add_to_tree(addition, thread);
    return rc == 0 ? add_to_edges(addition, thread) : rc;
}
