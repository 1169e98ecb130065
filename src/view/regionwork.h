// SPDX-License-Identifier: MIT
/*
 * What was on top of the stack while a region was open: private to regions.c.
 *
 *     struct cunei_regionwork work;
 *     int rc = cunei_regionwork_init(&work, report);
 *     items = cunei_regionwork_find(&work, name, &count);    (the costliest first)
 *     cunei_regionwork_fini(&work);
 *
 * It comes of the call tree.  A region that is a function's own calls has nothing here:
 * what it did is the function's.
 */
#ifndef CUNEI_VIEW_REGIONWORK_H
#define CUNEI_VIEW_REGIONWORK_H

#include <stdint.h>

struct cunei_report;

struct cunei_regionwork_item {
    const char *region; /* borrowed: of the survey */
    uint64_t calls;
    uint64_t self_ns;
    uint32_t slot; /* of the function; 0: in none that was recorded */
};

struct cunei_regionwork {
    struct cunei_regionwork_item *items; /* owned: by region, the costliest first */
    uint32_t count, capacity;
};

/* -ENOMEM. */
int cunei_regionwork_init(struct cunei_regionwork *work,
                          const struct cunei_report *report);
void cunei_regionwork_fini(struct cunei_regionwork *work);

const struct cunei_regionwork_item *cunei_regionwork_find(
    const struct cunei_regionwork *work, const char *region, uint32_t *count);

#endif
