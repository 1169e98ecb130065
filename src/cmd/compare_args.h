// SPDX-License-Identifier: MIT
/*
 * The arguments of `cunei compare`: A B, or A… -- B…; reads them one after the other.
 *
 *     struct cunei_compare_sides sides = {0};
 *     cunei_compare_sides_mark(&sides, argc, argv);        (before options are parsed)
 *     status = cunei_compare_sides_find(&sides, argc, argv);
 *     status = cunei_compare_sides_load(&sides, &comparison);
 *     cunei_compare_sides_fini(&sides);
 */
#ifndef CUNEI_CMD_COMPARE_ARGS_H
#define CUNEI_CMD_COMPARE_ARGS_H

#include "cmd/compare_config.h"

struct cunei_comparison;

struct cunei_compare_side {
    char **paths; /* borrowed from argv */
    int count;
};

struct cunei_compare_sides {
    struct cunei_compare_side sides[2];
    struct cunei_compare_config first; /* of the first trace */
    char damage[512];                  /* the first in any of them; empty: none */

    /* Private. */
    char dashes[1];
    bool has_prof;
};

/* Replace -- by a mark, because parsing the options would remove it. */
void cunei_compare_sides_mark(struct cunei_compare_sides *sides, int argc, char **argv);

/* Returns as cunei_options_parse. */
int cunei_compare_sides_find(struct cunei_compare_sides *sides, int argc, char **argv);

/* Read all traces and files.  Prints errors, and notes where the recordings differ in
 * their options.  Returns the exit status. */
int cunei_compare_sides_load(struct cunei_compare_sides *sides,
                             struct cunei_comparison *comparison);
void cunei_compare_sides_fini(struct cunei_compare_sides *sides);

#endif
