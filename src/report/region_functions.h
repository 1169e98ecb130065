// SPDX-License-Identifier: MIT
/*
 * The functions that ran inside each region; private to regions.c.
 *
 *     struct cunei_region_functions functions;
 *     int rc = cunei_region_functions_init(&functions, report);
 *     items = cunei_region_functions_find(&functions, name, &count);
 *     cunei_region_functions_fini(&functions);
 *
 * The functions of a region are sorted by self time, the largest first.
 * They come from the call tree.  A decorated function, whose calls are its region, is
 * not listed: its numbers are those of the function.
 */
#ifndef CUNEI_REPORT_REGION_FUNCTIONS_H
#define CUNEI_REPORT_REGION_FUNCTIONS_H

#include <stdint.h>

struct cunei_report;

struct cunei_region_function {
    const char *region; /* borrowed: of the analysis */
    uint64_t calls;
    uint64_t self_ns;
    uint32_t slot; /* of the function; 0: time in no recorded function */
};

struct cunei_region_functions {
    struct cunei_region_function *items; /* owned: by region and self time */
    uint32_t count, capacity;
};

/* -ENOMEM. */
int cunei_region_functions_init(struct cunei_region_functions *functions,
                                const struct cunei_report *report);
void cunei_region_functions_fini(struct cunei_region_functions *functions);

const struct cunei_region_function *cunei_region_functions_find(
    const struct cunei_region_functions *functions, const char *region,
    uint32_t *count);

#endif
