// SPDX-License-Identifier: MIT
#include "analysis/own_time.h"

#include <stdlib.h>

#include "analysis/analysis.h"
#include "analysis/imports.h"
#include "model/facts/call_tree.h"
#include "wire/user_event.h"

/* A region is part of the function that it is in. */
static bool is_function(const struct cunei_analysis *analysis, uint32_t slot)
{
    return slot > 0 && cunei_definition_of(&analysis->functions.items[slot - 1]) ==
                           CUNEI_DEFINITION_FUNCTION;
}

/* The slot of the function that the time at a place is counted for; 0: none. */
static uint32_t owner_of(enum cunei_import_place place, uint32_t slot, bool is_own,
                         uint32_t caller)
{
    if (place == CUNEI_IMPORT_FINDING)
        return 0;
    if (is_own)
        return slot;
    return place == CUNEI_IMPORT_OUTSIDE ? caller : 0;
}

/* Parents have lower numbers than their children. */
uint64_t *cunei_own_times(const struct cunei_analysis *analysis,
                          const struct cunei_tree *tree,
                          const struct cunei_imports *imports, const bool *is_own)
{
    uint64_t *times = calloc((size_t)analysis->functions.count + 1, sizeof(*times));
    uint32_t *owners = calloc(tree->count, sizeof(*owners));

    for (uint32_t i = 1; times && owners && i < tree->count; i++) {
        const struct cunei_node *node = &tree->nodes[i];
        owners[i] = owner_of(imports->places[i], node->slot,
                             is_function(analysis, node->slot) && is_own[node->slot],
                             owners[node->parent]);
        if (owners[i] > 0)
            times[owners[i]] += node->self + node->gap;
    }
    if (!owners) {
        free(times);
        times = NULL;
    }
    free(owners);
    return times;
}
