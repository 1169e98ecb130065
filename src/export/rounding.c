// SPDX-License-Identifier: MIT
#include "export/rounding.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/analysis.h"
#include "model/facts/call_edges.h"
#include "model/facts/call_tree.h"
#include "wire/user_event.h"

struct share {
    uint64_t sum_ns;  /* of all parts of a function */
    uint32_t largest; /* of them; 0: there is none */
    uint64_t largest_ns;
    bool is_open; /* regions are open in it, with a part that is not among these */
};

static void add_share(struct share *share, uint32_t part, uint64_t ns)
{
    share->sum_ns += ns;
    if (share->largest == 0 || ns > share->largest_ns) {
        share->largest = part;
        share->largest_ns = ns;
    }
}

static bool is_region(const struct cunei_analysis *analysis, uint32_t slot)
{
    return slot > 0 && cunei_definition_of(&analysis->functions.items[slot - 1]) ==
                           CUNEI_DEFINITION_REGION;
}

/* Whose own time a node's is in the report: what passes in a region is that of the
 * function that it is open in. */
static void find_owners(const struct cunei_analysis *analysis, uint32_t *owners)
{
    const struct cunei_tree *tree = analysis->tree;

    for (uint32_t i = 1; i < tree->count; i++) {
        const struct cunei_node *node = &tree->nodes[i];
        owners[i] = is_region(analysis, node->slot) ? owners[node->parent] : node->slot;
    }
}

int cunei_rounding_correct_tree(struct cunei_analysis *analysis)
{
    struct cunei_tree *tree = analysis->tree;
    uint32_t count = analysis->functions.count;
    struct share *shares = calloc(count + (size_t)1, sizeof(*shares));
    uint32_t *owners = calloc(tree->count + (size_t)1, sizeof(*owners));

    if (!shares || !owners) {
        free(shares);
        free(owners);
        return -ENOMEM;
    }
    find_owners(analysis, owners);
    for (uint32_t i = 1; i < tree->count; i++)
        add_share(&shares[owners[i]], i, tree->nodes[i].self);
    /* Where the tree is full, functions have what is not theirs. */
    for (uint32_t slot = 1; tree->folded == 0 && slot <= count; slot++) {
        const struct share *share = &shares[slot];
        uint64_t self_ns = analysis->facts[slot - 1].self_ns;
        if (share->largest > 0 && self_ns > share->sum_ns)
            tree->nodes[share->largest].self += self_ns - share->sum_ns;
    }
    free(shares);
    free(owners);
    return 0;
}

int cunei_rounding_correct_edges(struct cunei_analysis *analysis)
{
    struct cunei_edges *edges = analysis->edges;
    uint32_t count = analysis->functions.count;
    struct share *selves = calloc(2 * (count + (size_t)1), sizeof(*selves));

    if (!selves)
        return -ENOMEM;
    struct share *totals = selves + count + 1;
    for (uint32_t i = 1; i < edges->count; i++) {
        const struct cunei_edge *edge = &edges->items[i];
        add_share(&selves[edge->callee], i, edge->self);
        add_share(&totals[edge->callee], i, edge->total);
        /* In a region's own time it is not known which part is whose. */
        selves[edge->caller].is_open |= is_region(analysis, edge->callee);
    }
    for (uint32_t slot = 1; slot <= count; slot++) {
        const struct cunei_analysis_function *facts = &analysis->facts[slot - 1];
        struct cunei_edge *longest = &edges->items[totals[slot].largest];
        struct cunei_edge *busiest = &edges->items[selves[slot].largest];
        if (totals[slot].largest > 0 && facts->total_ns > totals[slot].sum_ns)
            longest->total += facts->total_ns - totals[slot].sum_ns;
        if (selves[slot].largest > 0 && !selves[slot].is_open &&
            facts->self_ns > selves[slot].sum_ns)
            busiest->self += facts->self_ns - selves[slot].sum_ns;
    }
    free(selves);
    return 0;
}
