// SPDX-License-Identifier: MIT
/* Threads or processes sorted by their CPU time, the busiest first. */
#ifndef CUNEI_REPORT_CPU_RANK_H
#define CUNEI_REPORT_CPU_RANK_H

#include <stddef.h>
#include <stdint.h>

struct cunei_cpu_rank {
    uint64_t cpu_ns, wall_ns;
    size_t index; /* of the thread or process */
};

/* By CPU time, then by wall time, then by index. */
void cunei_cpu_rank_sort(struct cunei_cpu_rank *ranks, size_t count);

/* By index again. */
void cunei_cpu_rank_restore(struct cunei_cpu_rank *ranks, size_t count);

#endif
