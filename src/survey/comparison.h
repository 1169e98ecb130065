// SPDX-License-Identifier: MIT
/*
 * Two sides of a comparison, function by function; each may be several runs.
 *
 *     struct cunei_comparison comparison = {0};
 *     cunei_comparison_add(&comparison, 0, &survey);
 *     cunei_comparison_add(&comparison, 1, &other);
 *     cunei_comparison_finish(&comparison);
 *     … comparison.items …
 *     cunei_comparison_fini(&comparison);
 *
 * Functions are the same that have the same module and qualified name, those of a
 * module that share them in the order of their lines: lines move.  What cProfile wrote
 * knows no modules: where it is one of the runs, functions are the same that cProfile
 * would call so (file, line, name), and a resumption counts as a call as it does there.
 */
#ifndef CUNEI_SURVEY_COMPARISON_H
#define CUNEI_SURVEY_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/functions.h"

struct cunei_prof;
struct cunei_survey;

/* What the runs of a side say of a function, on average. */
struct cunei_comparison_side {
    double calls, self_ns, total_ns;
    double self_variance; /* between the runs */
    uint32_t runs;        /* in which it was called */
};

struct cunei_comparison_item {
    char *module, *qualname, *file; /* owned */
    uint32_t line;
    struct cunei_comparison_side sides[2];
    double chance; /* of such a difference of self times if there were none; 1 where
                      there are not enough runs to tell */
};

struct cunei_comparison {
    bool by_label; /* set before anything is added: some run is cProfile's */
    struct cunei_comparison_item *items; /* owned */
    uint32_t count;
    uint32_t runs[2];
    double self_ns[2], calls[2]; /* of all functions */

    /* Private. */
    struct cunei_functions keys;
    uint32_t capacity;
    char **texts; /* owned, as each of them: the keys' */
    size_t text_count;
};

/* -ENOMEM, from each of these. */
int cunei_comparison_add(struct cunei_comparison *comparison, unsigned side,
                         const struct cunei_survey *survey);
int cunei_comparison_add_prof(struct cunei_comparison *comparison, unsigned side,
                              const struct cunei_prof *prof);
void cunei_comparison_finish(struct cunei_comparison *comparison);
void cunei_comparison_fini(struct cunei_comparison *comparison);

#endif
