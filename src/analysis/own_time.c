// SPDX-License-Identifier: MIT
#include "analysis/own_time.h"

#include <stdlib.h>

#include "analysis/analysis.h"
#include "model/facts/call_tree.h"
#include "model/facts/import_system.h"
#include "wire/user_event.h"

/* What a node means for the time below it. */
enum kind {
    OTHER,   /* it belongs to its caller */
    OWN,     /* a function of the project */
    MODULE,  /* code of the project's that runs when it is imported */
    IMPORTS, /* the import system, and code of modules of libraries */
};

static enum kind kind_of(const struct cunei_analysis *analysis, uint32_t slot,
                         const bool *is_own)
{
    if (slot == 0)
        return OTHER;
    const struct cunei_function *function = &analysis->functions.items[slot - 1];
    /* A region is part of the function that it is in. */
    if (cunei_definition_of(function) != CUNEI_DEFINITION_FUNCTION)
        return OTHER;
    if (cunei_is_imported_module(function))
        return is_own[slot] ? MODULE : IMPORTS;
    if (cunei_is_import_system(function))
        return IMPORTS;
    return is_own[slot] ? OWN : OTHER;
}

/* Parents have lower numbers than their children. */
uint64_t *cunei_own_times(const struct cunei_analysis *analysis,
                          const struct cunei_tree *tree, const bool *is_own)
{
    uint64_t *times = calloc((size_t)analysis->functions.count + 1, sizeof(*times));
    /* Whose time that of each node is, by slot, and that of what it calls; 0: none. */
    uint32_t *owners = calloc(tree->count, sizeof(*owners));

    for (uint32_t i = 1; times && owners && i < tree->count; i++) {
        const struct cunei_node *node = &tree->nodes[i];
        enum kind kind = kind_of(analysis, node->slot, is_own);
        uint32_t owner = kind == OWN || kind == MODULE ? node->slot
                         : kind == OTHER               ? owners[node->parent]
                                                       : 0;
        owners[i] = kind == MODULE ? 0 : owner;
        if (owner > 0)
            times[owner] += node->self + node->gap;
    }
    if (!owners) {
        free(times);
        times = NULL;
    }
    free(owners);
    return times;
}
