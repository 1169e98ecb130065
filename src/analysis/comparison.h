// SPDX-License-Identifier: MIT
/*
 * Two sides of a comparison, function by function; each may be several runs.
 *
 *     struct cunei_comparison comparison = {.by_label = …, .patterns = …};
 *     cunei_comparison_add(&comparison, 0, &analysis);
 *     cunei_comparison_add(&comparison, 1, &other);
 *     cunei_comparison_finish(&comparison);
 *     … comparison.items …
 *     cunei_comparison_fini(&comparison);
 *
 * analysis/function_matching.h says which functions are the same.  Next to a profile of
 * cProfile a resumption counts as a call, as it does there.  Regions come from the user
 * facts of an analysis.
 */
#ifndef CUNEI_ANALYSIS_COMPARISON_H
#define CUNEI_ANALYSIS_COMPARISON_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/function_matching.h"
#include "analysis/welch_test.h"

struct cunei_patterns;
struct cunei_cprofile;
struct cunei_analysis;
struct cunei_tree;

/* The average of a function over the runs of a side; a run without it counts as zero.
 */
struct cunei_comparison_side {
    double calls, total_ns;
    struct cunei_series self_ns;
    uint32_t runs; /* that have it */
};

struct cunei_comparison_item {
    const char *module, *qualname, *file; /* borrowed from `matching` */
    uint32_t line;
    struct cunei_comparison_side sides[2];
    double chance;  /* cunei_welch_chance of the self times */
    bool is_hidden; /* the patterns leave it out */
    bool is_region; /* it is not a function: its count is not added to the calls */
};

struct cunei_comparison {
    /* Set before anything is added. */
    bool by_label;                         /* some run is cProfile's */
    bool has_trees;                        /* the analyses have trees: keep them */
    const struct cunei_patterns *patterns; /* borrowed; NULL: all functions */

    struct cunei_comparison_item *items; /* owned */
    uint32_t count;
    uint32_t runs[2];
    struct cunei_comparison_side whole[2]; /* of all items that are not hidden */
    double chance;                         /* of its self times */
    struct cunei_tree *trees[2]; /* owned: all runs added, slots are items plus one */

    /* Private. */
    uint32_t capacity;
    struct cunei_function_matching matching;
};

/* -ENOMEM, from each of these. */
int cunei_comparison_add(struct cunei_comparison *comparison, unsigned side,
                         const struct cunei_analysis *analysis);
int cunei_comparison_add_prof(struct cunei_comparison *comparison, unsigned side,
                              const struct cunei_cprofile *prof);
void cunei_comparison_finish(struct cunei_comparison *comparison);
void cunei_comparison_fini(struct cunei_comparison *comparison);

/* How much more time the second side takes, in percent of the first. */
double cunei_comparison_growth(const struct cunei_comparison *comparison);

/* Whether both sides have enough runs for a chance. */
bool cunei_comparison_has_chance(const struct cunei_comparison *comparison);

#endif
