// SPDX-License-Identifier: MIT
#include "report/cpu_rank.h"

#include <stdlib.h>

static int compare_indices(const void *a, const void *b)
{
    const struct cunei_cpu_rank *one = a, *two = b;
    return one->index < two->index ? -1 : one->index > two->index;
}

static int compare_costs(const void *a, const void *b)
{
    const struct cunei_cpu_rank *one = a, *two = b;

    if (one->cpu_ns != two->cpu_ns)
        return one->cpu_ns > two->cpu_ns ? -1 : 1;
    if (one->wall_ns != two->wall_ns)
        return one->wall_ns > two->wall_ns ? -1 : 1;
    return compare_indices(a, b);
}

void cunei_cpu_rank_sort(struct cunei_cpu_rank *ranks, size_t count)
{
    qsort(ranks, count, sizeof(*ranks), compare_costs);
}

void cunei_cpu_rank_restore(struct cunei_cpu_rank *ranks, size_t count)
{
    qsort(ranks, count, sizeof(*ranks), compare_indices);
}
