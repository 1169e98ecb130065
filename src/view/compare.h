// SPDX-License-Identifier: MIT
/* A comparison of two recordings, as a table or as one JSON object. */
#ifndef CUNEI_VIEW_COMPARE_H
#define CUNEI_VIEW_COMPARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/pattern.h"
#include "view/style.h"

struct cunei_comparison;

enum cunei_compare_sort {
    CUNEI_COMPARE_SELF,
    CUNEI_COMPARE_TOTAL,
    CUNEI_COMPARE_CALLS,
    CUNEI_COMPARE_NAME,
};

struct cunei_compare_options {
    const char *names[2]; /* how the sides are called */
    int sort;             /* enum cunei_compare_sort: by what changed most */
    uint64_t limit;       /* rows; 0: all */
    struct cunei_patterns patterns;
    bool json;
    struct cunei_style style;
};

/* -ENOMEM; what is shown comes in the order that was asked for. */
int cunei_compare_print(struct cunei_comparison *comparison,
                        const struct cunei_compare_options *options, FILE *out);

/* How much more time the second side takes, in percent of the first. */
double cunei_compare_growth(const struct cunei_comparison *comparison);

#endif
