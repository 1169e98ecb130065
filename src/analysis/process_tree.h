// SPDX-License-Identifier: MIT
/* Which process of an analysis started which. */
#ifndef CUNEI_ANALYSIS_PROCESS_TREE_H
#define CUNEI_ANALYSIS_PROCESS_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/analysis.h"

/*
 * Fill in the parents: a forked process names the folder of its parent, another one is
 * the child of the process with its parent's number that lived when it started.  A
 * parent always stands before its children.  -ENOMEM.
 */
int cunei_process_tree_find(struct cunei_analysis *analysis);

/* The children of each process, in the order of their start; SIZE_MAX: no more. */
struct cunei_process_tree {
    size_t *first; /* owned: by parent; behind them, of those without one */
    size_t *next;  /* in `first`: by child */
};

int cunei_process_tree_init(struct cunei_process_tree *family,
                            const struct cunei_analysis *analysis);
void cunei_process_tree_fini(struct cunei_process_tree *family);

/* The index of the parent, or the number of processes if it has none. */
size_t cunei_process_tree_parent(const struct cunei_analysis *analysis, size_t process);

/*
 * Wall clock; the end is 0 while it runs, and never before the start.  `wall_ns` is
 * its duration so far.
 */
uint64_t cunei_process_tree_start_ns(const struct cunei_analysis_process *process);
uint64_t cunei_process_tree_end_ns(const struct cunei_analysis_process *process);
uint64_t cunei_process_tree_wall_ns(const struct cunei_analysis_process *process);

#endif
