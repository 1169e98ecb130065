// SPDX-License-Identifier: MIT
/* A comparison of two recordings, as a table or as one JSON object. */
#ifndef CUNEI_REPORT_COMPARE_H
#define CUNEI_REPORT_COMPARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "text/style.h"

struct cunei_buffer;
struct cunei_comparison;

enum cunei_compare_sort {
    CUNEI_COMPARE_SELF,
    CUNEI_COMPARE_TOTAL,
    CUNEI_COMPARE_CALLS,
    CUNEI_COMPARE_NAME,
};

struct cunei_compare_options {
    const char *names[2];  /* how the sides are called */
    const char *directory; /* files in it are told from there; NULL: none */
    int sort;              /* enum cunei_compare_sort: by what changed most */
    uint64_t limit;        /* rows; 0: all */
    bool json;
    struct cunei_style style;
};

/* Below it, a difference between several runs is hardly one of chance. */
#define CUNEI_COMPARE_SIGNIFICANT 0.05

/* -ENOMEM; what is shown comes in the order that was asked for. */
int cunei_compare_print(struct cunei_comparison *comparison,
                        const struct cunei_compare_options *options, FILE *out);

/* The functions that took more time in the second side, the first three, as words:
 * "parse (+40.0 ms), …"; nothing where there is none. */
void cunei_compare_tell_growth(const struct cunei_comparison *comparison,
                               struct cunei_buffer *out);

#endif
