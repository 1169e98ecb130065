// SPDX-License-Identifier: MIT
/*
 * The call tree as the project's author sees it: what libraries do between two
 * functions of the project is one row, or nothing.
 */
#ifndef CUNEI_ANALYSIS_PROJECT_TREE_H
#define CUNEI_ANALYSIS_PROJECT_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_analysis;
struct cunei_patterns;
struct cunei_tree;

enum cunei_project_fold {
    CUNEI_PROJECT_RUNS, /* functions of libraries are those that the project calls … */
    CUNEI_PROJECT_ONLY, /* … or none: their time is self time of their caller */
};

struct cunei_project_tree {
    struct cunei_tree *tree;        /* owned; NULL: the project has no function */
    uint64_t *moved_ns;             /* owned: by slot, the self time of libraries */
    bool *is_own;                   /* owned: by slot, whether it is the project's */
    const struct cunei_tree *whole; /* borrowed: what was folded */
    uint32_t *members;              /* owned: the nodes of `whole`, by those of `tree`;
                                       … */
    uint32_t *first; /* … owned: where those of each node begin, and one more */
};

/* `own` includes the functions of the project.  -ENOMEM. */
int cunei_project_tree_init(struct cunei_project_tree *project,
                            const struct cunei_analysis *analysis,
                            const struct cunei_tree *tree,
                            const struct cunei_patterns *own,
                            enum cunei_project_fold how);
void cunei_project_tree_fini(struct cunei_project_tree *project);

#endif
