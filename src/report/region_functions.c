// SPDX-License-Identifier: MIT
#include "report/region_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "model/facts/call_tree.h"
#include "report/section.h"
#include "wire/user_event.h"

/* A function counts for this many regions around it, the innermost ones: without a
 * limit the table would grow with the square of the tree's depth. */
#define NESTED_MAX 16u

static bool is_region(const struct cunei_report *report, uint32_t slot)
{
    return slot > 0 &&
           cunei_definition_of(&report->analysis->functions.items[slot - 1]) ==
               CUNEI_DEFINITION_REGION;
}

static int add(struct cunei_region_functions *functions,
               const struct cunei_region_function *item)
{
    if (!CUNEI_VECTOR_RESERVE(functions->items, functions->capacity,
                              functions->count + 1))
        return -ENOMEM;
    functions->items[functions->count++] = *item;
    return 0;
}

/* A node counts for every region that contains it, once for a region that is open
 * twice.  `around` has the node of the nearest region, which may be the node itself; 0:
 * there is none. */
static int add_node(struct cunei_region_functions *functions,
                    const struct cunei_report *report, const uint32_t *around,
                    uint32_t index)
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
        const struct cunei_region_function item = {
            .region = report->analysis->functions.items[region - 1].qualname,
            .calls = slot > 0 ? nodes[index].calls : 0,
            .self_ns = nodes[index].self,
            .slot = slot,
        };
        int rc = add(functions, &item);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int compare_slots(const void *a, const void *b)
{
    const struct cunei_region_function *one = a, *two = b;
    int order = strcmp(one->region, two->region);

    if (order != 0)
        return order;
    return one->slot < two->slot ? -1 : one->slot > two->slot;
}

static int compare_times(const void *a, const void *b)
{
    const struct cunei_region_function *one = a, *two = b;
    int order = strcmp(one->region, two->region);

    if (order != 0)
        return order;
    if (one->self_ns != two->self_ns)
        return one->self_ns > two->self_ns ? -1 : 1;
    return one->slot < two->slot ? -1 : one->slot > two->slot;
}

/* Leave one item for each function of a region. */
static void add_up(struct cunei_region_functions *functions)
{
    uint32_t kept = 0;

    if (functions->count == 0)
        return;
    qsort(functions->items, functions->count, sizeof(*functions->items), compare_slots);
    for (uint32_t i = 1; i < functions->count; i++) {
        if (compare_slots(&functions->items[kept], &functions->items[i]) == 0) {
            functions->items[kept].calls += functions->items[i].calls;
            functions->items[kept].self_ns += functions->items[i].self_ns;
        } else
            functions->items[++kept] = functions->items[i];
    }
    functions->count = kept + 1;
    qsort(functions->items, functions->count, sizeof(*functions->items), compare_times);
}

int cunei_region_functions_init(struct cunei_region_functions *functions,
                                const struct cunei_report *report)
{
    const struct cunei_tree *tree = report->analysis->tree;
    int rc = 0;

    *functions = (struct cunei_region_functions){0};
    if (!tree)
        return 0;
    uint32_t *around = calloc(tree->count, sizeof(*around));
    if (!around)
        return -ENOMEM;
    /* Parents have lower numbers than their children. */
    for (uint32_t i = 1; i < tree->count && rc == 0; i++) {
        around[i] =
            is_region(report, tree->nodes[i].slot) ? i : around[tree->nodes[i].parent];
        rc = add_node(functions, report, around, i);
    }
    free(around);
    if (rc < 0)
        cunei_region_functions_fini(functions);
    else
        add_up(functions);
    return rc;
}

void cunei_region_functions_fini(struct cunei_region_functions *functions)
{
    free(functions->items);
    *functions = (struct cunei_region_functions){0};
}

const struct cunei_region_function *cunei_region_functions_find(
    const struct cunei_region_functions *functions, const char *region, uint32_t *count)
{
    uint32_t begin = (uint32_t)CUNEI_VECTOR_BISECT(
        i, functions->count, strcmp(functions->items[i].region, region) < 0);
    uint32_t end = begin;

    while (end < functions->count && strcmp(functions->items[end].region, region) == 0)
        end++;
    *count = end - begin;
    return *count > 0 ? &functions->items[begin] : NULL;
}
