// SPDX-License-Identifier: MIT
#include "report/recording_cost.h"

#include <stdlib.h>

static int compare_indices(const void *a, const void *b)
{
    const struct cunei_recording_cost *one = a, *two = b;
    return one->index < two->index ? -1 : one->index > two->index;
}

static int compare_costs(const void *a, const void *b)
{
    const struct cunei_recording_cost *one = a, *two = b;

    if (one->cpu_ns != two->cpu_ns)
        return one->cpu_ns > two->cpu_ns ? -1 : 1;
    if (one->wall_ns != two->wall_ns)
        return one->wall_ns > two->wall_ns ? -1 : 1;
    return compare_indices(a, b);
}

void cunei_recording_cost_sort(struct cunei_recording_cost *costs, size_t count)
{
    qsort(costs, count, sizeof(*costs), compare_costs);
}

void cunei_recording_cost_restore(struct cunei_recording_cost *costs, size_t count)
{
    qsort(costs, count, sizeof(*costs), compare_indices);
}
