// SPDX-License-Identifier: MIT
/*
 * The causes of one snapshot.  A trigger that fires several times in a process is one
 * cause, the first one, with a count.
 */
#ifndef CUNEI_TRIGGER_CAUSES_H
#define CUNEI_TRIGGER_CAUSES_H

#include <stddef.h>
#include <stdint.h>

#include "wire/cause.h"

/* Triggers that fire within this time are causes of one snapshot. */
#define CUNEI_TRIGGER_TOGETHER_NS UINT64_C(200000000)

struct cunei_trigger_firing;

struct cunei_causes {
    struct cunei_caused *items; /* owned */
    size_t count;
    uint64_t firings; /* of all of them */
};

/* -ENOMEM. */
int cunei_causes_add(struct cunei_causes *causes,
                     const struct cunei_trigger_firing *firing);
void cunei_causes_fini(struct cunei_causes *causes);

#endif
