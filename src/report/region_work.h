// SPDX-License-Identifier: MIT
/*
 * What was on top of the stack while a region was open: private to regions.c.
 *
 *     struct cunei_region_work work;
 *     int rc = cunei_region_work_init(&work, report);
 *     items = cunei_region_work_find(&work, name, &count);    (the costliest first)
 *     cunei_region_work_fini(&work);
 *
 * It comes of the call tree.  A region that is a function's own calls has nothing here:
 * what it did is the function's.
 */
#ifndef CUNEI_REPORT_REGION_WORK_H
#define CUNEI_REPORT_REGION_WORK_H

#include <stdint.h>

struct cunei_report;

struct cunei_region_work_item {
    const char *region; /* borrowed: of the analysis */
    uint64_t calls;
    uint64_t self_ns;
    uint32_t slot; /* of the function; 0: in none that was recorded */
};

struct cunei_region_work {
    struct cunei_region_work_item *items; /* owned: by region, the costliest first */
    uint32_t count, capacity;
};

/* -ENOMEM. */
int cunei_region_work_init(struct cunei_region_work *work,
                           const struct cunei_report *report);
void cunei_region_work_fini(struct cunei_region_work *work);

const struct cunei_region_work_item *cunei_region_work_find(
    const struct cunei_region_work *work, const char *region, uint32_t *count);

#endif
