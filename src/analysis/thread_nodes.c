// SPDX-License-Identifier: MIT
#include "analysis/thread_nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/map.h"
#include "base/units.h"
#include "model/facts/call_tree.h"
#include "model/profile/profile_data.h"

/* The slot of the thread with a serial number; 0, which is unknown, if there is none.
 */
static uint32_t find_slot(const struct cunei_analysis *analysis,
                          const struct cunei_map *serials, uint32_t serial)
{
    struct cunei_map_search search = {.hash = cunei_hash_number(serial)};

    for (uint32_t i; cunei_map_next(serials, &search, &i);) {
        const struct cunei_analysis_thread *thread = &analysis->threads[i];
        if ((thread->serial & ~CUNEI_TREE_THREAD) == serial)
            return CUNEI_TREE_THREAD | thread->number;
    }
    return 0;
}

/* Number the nodes of threads. */
static int number(const struct cunei_analysis *analysis, size_t first,
                  struct cunei_tree *tree)
{
    struct cunei_map serials = {0};
    int rc = 0;

    for (size_t i = first; rc == 0 && i < analysis->thread_count; i++) {
        uint32_t serial = analysis->threads[i].serial & ~CUNEI_TREE_THREAD;
        if (find_slot(analysis, &serials, serial) == 0)
            rc = cunei_map_add(&serials, cunei_hash_number(serial), (uint32_t)i);
    }
    for (uint32_t i = 1; rc == 0 && i < tree->count; i++) {
        struct cunei_node *node = &tree->nodes[i];
        if (node->slot & CUNEI_TREE_THREAD)
            node->slot = find_slot(analysis, &serials, node->slot & ~CUNEI_TREE_THREAD);
    }
    cunei_map_fini(&serials);
    return rc;
}

int cunei_thread_nodes_add(struct cunei_analysis *analysis, size_t first,
                           const struct cunei_profile *profile, const uint32_t *map)
{
    const struct cunei_tree *tree = profile->tree;
    struct cunei_tree copy = {.count = tree->count, .folded = tree->folded};

    copy.nodes = malloc(tree->count * sizeof(*copy.nodes));
    if (!copy.nodes)
        return -ENOMEM;
    memcpy(copy.nodes, tree->nodes, tree->count * sizeof(*copy.nodes));
    int rc = number(analysis, first, &copy);
    if (rc == 0)
        cunei_tree_add(analysis->tree, &copy, map, CUNEI_NS_PER_S,
                       profile->scale.frequency);
    free(copy.nodes);
    return rc;
}
