// SPDX-License-Identifier: MIT
#include "report/region_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "model/call_tree.h"
#include "report/section.h"
#include "wire/user_event.h"

/* Of regions inside regions the innermost so many are told of what they did: deeper
 * ones would make the table grow with the square of the tree. */
#define NESTED_MAX 16u

static bool is_region(const struct cunei_report *report, uint32_t slot)
{
    return slot > 0 &&
           cunei_definition_of(&report->analysis->functions.items[slot - 1]) ==
               CUNEI_DEFINITION_REGION;
}

static int add(struct cunei_region_work *work,
               const struct cunei_region_work_item *item)
{
    if (!CUNEI_VECTOR_RESERVE(work->items, work->capacity, work->count + 1))
        return -ENOMEM;
    work->items[work->count++] = *item;
    return 0;
}

/* A node counts for every region that it lies in, for one that is open twice once.
 * `around` has the nearest region of each node, or that itself, or 0. */
static int add_node(struct cunei_region_work *work, const struct cunei_report *report,
                    const uint32_t *around, uint32_t index)
{
    const struct cunei_node *nodes = report->analysis->tree->nodes;
    uint32_t slot = is_region(report, nodes[index].slot) ? 0 : nodes[index].slot;
    uint32_t seen[NESTED_MAX], count = 0;

    for (uint32_t at = around[index]; at > 0 && count < NESTED_MAX;
         at = around[nodes[at].parent]) {
        uint32_t region = nodes[at].slot, i = 0;
        while (i < count && seen[i] != region)
            i++;
        if (i < count)
            continue;
        seen[count++] = region;
        const struct cunei_region_work_item item = {
            .region = report->analysis->functions.items[region - 1].qualname,
            .calls = slot > 0 ? nodes[index].calls : 0,
            .self_ns = nodes[index].self,
            .slot = slot,
        };
        int rc = add(work, &item);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int compare_slots(const void *a, const void *b)
{
    const struct cunei_region_work_item *one = a, *two = b;
    int order = strcmp(one->region, two->region);

    if (order != 0)
        return order;
    return one->slot < two->slot ? -1 : one->slot > two->slot;
}

static int compare_times(const void *a, const void *b)
{
    const struct cunei_region_work_item *one = a, *two = b;
    int order = strcmp(one->region, two->region);

    if (order != 0)
        return order;
    if (one->self_ns != two->self_ns)
        return one->self_ns > two->self_ns ? -1 : 1;
    return one->slot < two->slot ? -1 : one->slot > two->slot;
}

/* One item for each function of a region. */
static void add_up(struct cunei_region_work *work)
{
    uint32_t kept = 0;

    if (work->count == 0)
        return;
    qsort(work->items, work->count, sizeof(*work->items), compare_slots);
    for (uint32_t i = 1; i < work->count; i++) {
        if (compare_slots(&work->items[kept], &work->items[i]) == 0) {
            work->items[kept].calls += work->items[i].calls;
            work->items[kept].self_ns += work->items[i].self_ns;
        } else
            work->items[++kept] = work->items[i];
    }
    work->count = kept + 1;
    qsort(work->items, work->count, sizeof(*work->items), compare_times);
}

int cunei_region_work_init(struct cunei_region_work *work,
                           const struct cunei_report *report)
{
    const struct cunei_tree *tree = report->analysis->tree;
    int rc = 0;

    *work = (struct cunei_region_work){0};
    if (!tree)
        return 0;
    uint32_t *around = calloc(tree->count, sizeof(*around));
    if (!around)
        return -ENOMEM;
    /* Parents have lower numbers than their children. */
    for (uint32_t i = 1; i < tree->count && rc == 0; i++) {
        around[i] =
            is_region(report, tree->nodes[i].slot) ? i : around[tree->nodes[i].parent];
        rc = add_node(work, report, around, i);
    }
    free(around);
    if (rc < 0)
        cunei_region_work_fini(work);
    else
        add_up(work);
    return rc;
}

void cunei_region_work_fini(struct cunei_region_work *work)
{
    free(work->items);
    *work = (struct cunei_region_work){0};
}

const struct cunei_region_work_item *cunei_region_work_find(
    const struct cunei_region_work *work, const char *region, uint32_t *count)
{
    uint32_t low = 0, high = work->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(work->items[middle].region, region) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t end = low;
    while (end < work->count && strcmp(work->items[end].region, region) == 0)
        end++;
    *count = end - low;
    return *count > 0 ? &work->items[low] : NULL;
}
