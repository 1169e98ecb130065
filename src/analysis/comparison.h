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
 * Functions are the same that have the same module and qualified name.  Of those of a
 * module that share them (lambdas, say) the ones in the same place are, and then the
 * others in the order of their lines: lines move.  What cProfile wrote knows no
 * modules: where it is one of the runs, functions are the same that cProfile would call
 * so (file, line, name), and a resumption counts as a call as it does there.  A
 * relative file name is that of an absolute one which ends with it; traces are added
 * first, for they have those.  Regions come from what a analysis has of what the
 * program said.
 */
#ifndef CUNEI_ANALYSIS_COMPARISON_H
#define CUNEI_ANALYSIS_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "model/function_map.h"
#include "model/welch_test.h"

struct cunei_patterns;
struct cunei_cprofile;
struct cunei_analysis;
struct cunei_tree;

/* What the runs of a side say of a function, on average; a run that does not have it
 * counts as none of anything. */
struct cunei_comparison_side {
    double calls, total_ns;
    struct cunei_series self_ns;
    uint32_t runs;  /* that have it */
    bool is_placed; /* private: some function of this side is it */
};

struct cunei_comparison_item {
    char *module, *qualname, *file; /* owned */
    uint32_t line;
    struct cunei_comparison_side sides[2];
    double chance;  /* cunei_welch_chance of the self times */
    bool is_hidden; /* the patterns leave it out */
    bool is_region; /* of the program's own: no function, and its calls are none */
    /* Private: the next of its group, plus one; and in the first of a group the last
     * one, and for each side the first that may be free. */
    uint32_t next, last, free[2];
};

/* Private: how items are found, each by a number that is an item plus one. */
struct cunei_matching {
    struct cunei_function_map groups;    /* the first of those that could be the same */
    struct cunei_function_map places[2]; /* by side: that of a name and a line */
    struct cunei_function_map aliases;   /* what cProfile may call one in C; UINT32_MAX:
                                       several of them */
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
    struct cunei_matching matching;
    struct cunei_buffer text;
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

/* Whether both sides have the runs that chance can be told from. */
bool cunei_comparison_has_chance(const struct cunei_comparison *comparison);

#endif
