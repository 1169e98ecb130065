// SPDX-License-Identifier: MIT
/* What a thread or a process cost, to be sorted by: the costliest first. */
#ifndef CUNEI_VIEW_COST_H
#define CUNEI_VIEW_COST_H

#include <stddef.h>
#include <stdint.h>

struct cunei_cost {
    uint64_t cpu_ns, wall_ns;
    size_t index; /* of what it is the cost of */
};

/* By CPU time, then by wall time, then in their own order. */
void cunei_cost_sort(struct cunei_cost *costs, size_t count);

/* In their own order again. */
void cunei_cost_restore(struct cunei_cost *costs, size_t count);

#endif
