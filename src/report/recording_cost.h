// SPDX-License-Identifier: MIT
/* What a thread or a process cost, to be sorted by: the costliest first. */
#ifndef CUNEI_REPORT_RECORDING_COST_H
#define CUNEI_REPORT_RECORDING_COST_H

#include <stddef.h>
#include <stdint.h>

struct cunei_recording_cost {
    uint64_t cpu_ns, wall_ns;
    size_t index; /* of what it is the cost of */
};

/* By CPU time, then by wall time, then in their own order. */
void cunei_recording_cost_sort(struct cunei_recording_cost *costs, size_t count);

/* In their own order again. */
void cunei_recording_cost_restore(struct cunei_recording_cost *costs, size_t count);

#endif
