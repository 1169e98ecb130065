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
    const char *names[2];  /* of the two sides, as shown */
    const char *directory; /* paths are shown relative to it; NULL: as they are */
    int sort;              /* enum cunei_compare_sort: the largest change first */
    uint64_t limit;        /* rows; 0: all */
    bool json;
    struct cunei_style style;
};

/* A difference whose chance is below that is significant. */
#define CUNEI_COMPARE_SIGNIFICANT 0.05

/* Sort the items and print them.  -ENOMEM. */
int cunei_compare_print(struct cunei_comparison *comparison,
                        const struct cunei_compare_options *options, FILE *out);

/* Append the three functions whose time has grown most: "parse (+40.0 ms), …"; nothing
 * where none has. */
void cunei_compare_format_growth(const struct cunei_comparison *comparison,
                                 struct cunei_buffer *out);

#endif
