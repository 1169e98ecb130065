// SPDX-License-Identifier: MIT
#include "top/view/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/function_numbers.h"
#include "model/facts/call_tree.h"

#define NO_GROUP UINT32_MAX

static const char *text_of(const struct cunei_top_known *known, uint32_t function,
                           enum cunei_top_group group)
{
    const struct cunei_function *names = &known->functions.items[function];

    if (group == CUNEI_TOP_GROUP_CLASS)
        return known->names[function].class;
    if (group == CUNEI_TOP_GROUP_FILE && names->file[0])
        return names->file;
    return names->module[0] ? names->module : "(no module)";
}

static int64_t find_group(struct cunei_top_list *list,
                          const struct cunei_top_known *known, uint32_t function,
                          enum cunei_top_group group)
{
    return cunei_top_keys_find(&list->groups, group, 0,
                               text_of(known, function, group));
}

static int add_sums(struct cunei_top_function *to,
                    const struct cunei_top_function *from)
{
    struct cunei_analysis_function *sum = &to->facts;
    const struct cunei_analysis_function *facts = &from->facts;

    sum->calls += facts->calls;
    sum->resumes += facts->resumes;
    sum->raised += facts->raised;
    sum->self_ns += facts->self_ns;
    sum->spent_ns += facts->spent_ns;
    sum->max_ns = facts->max_ns > sum->max_ns ? facts->max_ns : sum->max_ns;
    cunei_budget_estimate_add(&sum->estimate, &facts->estimate, 1);
    to->self_ns += from->self_ns;
    return cunei_histogram_merge(&sum->histogram, &facts->histogram);
}

static void add_rates(struct cunei_top_rate *to, const struct cunei_top_rate *from)
{
    to->calls += from->calls;
    to->resumes += from->resumes;
    to->raised += from->raised;
    to->self_ns += from->self_ns;
}

/* Whether a node above belongs to the same group: its time holds that of the node. */
static bool is_inside(const struct cunei_tree *tree, const uint32_t *groups,
                      uint32_t node)
{
    for (uint32_t i = tree->nodes[node].parent; i > 0; i = tree->nodes[i].parent) {
        uint32_t slot = tree->nodes[i].slot;
        if (slot > 0 && groups[slot - 1] == groups[tree->nodes[node].slot - 1])
            return true;
    }
    return false;
}

static uint64_t node_total(const struct cunei_top_sums *sums, uint32_t node)
{
    return sums && node < sums->node_count ? sums->nodes[node].total_ns : 0;
}

/* `entries` are those of the list, by group. */
static void add_totals(struct cunei_top_list *list, const uint32_t *groups,
                       const struct cunei_top_known *known,
                       const struct cunei_top_sums *before,
                       const struct cunei_top_sums *sums, const uint32_t *rows)
{
    const struct cunei_tree *tree = known->tree;

    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t slot = tree->nodes[i].slot;
        if (slot == 0 || groups[slot - 1] == NO_GROUP || is_inside(tree, groups, i))
            continue;
        uint32_t group = groups[slot - 1];
        uint64_t now_ns = node_total(sums, i);
        list->group_sums[group].total_ns += now_ns;
        list->group_sums[group].facts.total_ns += now_ns;
        list->entries[rows[group]].rate.total_ns +=
            cunei_top_rates_since(now_ns, node_total(before, i));
    }
}

void cunei_top_groups_fini(struct cunei_top_list *list)
{
    for (uint32_t i = 0; i < list->group_count; i++)
        cunei_histogram_fini(&list->group_sums[i].facts.histogram);
    free(list->group_sums);
    list->group_sums = NULL;
    list->group_count = 0;
}

/* The group of each entry's function; `groups` is by function. */
static int assign(struct cunei_top_list *list, enum cunei_top_group group,
                  const struct cunei_top_known *known, uint32_t *groups)
{
    for (uint32_t i = 0; i < known->functions.count; i++)
        groups[i] = NO_GROUP;
    for (uint32_t i = 0; i < list->count; i++) {
        int64_t number = find_group(list, known, list->entries[i].key, group);
        if (number < 0)
            return -ENOMEM;
        groups[list->entries[i].key] = (uint32_t)number;
    }
    list->group_count = list->groups.count;
    list->group_sums = calloc(list->group_count + 1u, sizeof(*list->group_sums));
    return list->group_sums ? 0 : -ENOMEM;
}

/* Add the entries up; the row of each group goes to `rows`. */
static int join(struct cunei_top_list *list, const uint32_t *groups, uint32_t *rows)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < list->group_count; i++)
        rows[i] = NO_GROUP;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct cunei_top_entry entry = list->entries[i];
        uint32_t group = groups[entry.key];
        if (rows[group] == NO_GROUP) {
            rows[group] = count;
            list->entries[count++] = (struct cunei_top_entry){
                .key = group,
                .name = list->groups.items[group].text,
                .place = "",
                .sums = &list->group_sums[group],
                .is_group = true,
            };
        }
        struct cunei_top_entry *row = &list->entries[rows[group]];
        row->waits |= entry.waits;
        row->is_estimated |= entry.is_estimated;
        row->is_self_estimated |= entry.is_self_estimated;
        add_rates(&row->rate, &entry.rate);
        int rc = add_sums(&list->group_sums[group], entry.sums);
        if (rc < 0)
            return rc;
    }
    list->count = count;
    return 0;
}

int cunei_top_groups_make(struct cunei_top_list *list, enum cunei_top_group group,
                          const struct cunei_top_known *known,
                          const struct cunei_top_sums *before,
                          const struct cunei_top_sums *sums)
{
    uint32_t *groups = calloc(known->functions.count + 1u, sizeof(*groups));
    uint32_t *rows = NULL;
    int rc = groups ? 0 : -ENOMEM;

    cunei_top_groups_fini(list);
    if (rc == 0)
        rc = assign(list, group, known, groups);
    if (rc == 0 && !(rows = calloc(list->group_count + 1u, sizeof(*rows))))
        rc = -ENOMEM;
    if (rc == 0)
        rc = join(list, groups, rows);
    if (rc == 0)
        add_totals(list, groups, known, before, sums, rows);
    free(groups);
    free(rows);
    return rc;
}

int cunei_top_groups_select(struct cunei_top_list *list, enum cunei_top_group group,
                            uint32_t key, const struct cunei_top_known *known)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        int64_t number = find_group(list, known, list->entries[i].key, group);
        if (number < 0)
            return -ENOMEM;
        if (number == key)
            list->entries[count++] = list->entries[i];
    }
    list->count = count;
    return 0;
}
