// SPDX-License-Identifier: MIT
/*
 * Threads in the call tree.  A profile's tree has a node for each thread, with the
 * serial number of the thread in its process; in the tree of the analysis, which has
 * several processes, it has `number` of the thread's struct cunei_analysis_thread.
 */
#ifndef CUNEI_ANALYSIS_THREAD_NODES_H
#define CUNEI_ANALYSIS_THREAD_NODES_H

#include <stddef.h>
#include <stdint.h>

struct cunei_analysis;
struct cunei_profile;

/* Add the tree of a process, whose threads are those of the analysis from `first` on;
 * `map` as of cunei_tree_add.  -ENOMEM. */
int cunei_thread_nodes_add(struct cunei_analysis *analysis, size_t first,
                           const struct cunei_profile *profile, const uint32_t *map);

#endif
