// SPDX-License-Identifier: MIT
#include "top/view/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/function_numbers.h"
#include "base/vector.h"
#include "top/sums/known.h"
#include "top/view/groups.h"

const char *const cunei_top_group_words[] = {"none", "module", "file", "class", NULL};

static bool matches(const struct cunei_top_entry *entry, const char *module,
                    const char *filter)
{
    return filter[0] == '\0' || strcasestr(entry->name, filter) ||
           strcasestr(entry->place, filter) || strcasestr(module, filter);
}

static bool has_facts(const struct cunei_analysis_function *facts,
                      const struct cunei_top_function *sums)
{
    return facts->calls || facts->resumes || sums->total_ns || facts->raised;
}

static int add_function(struct cunei_top_list *list, const struct cunei_top_wish *wish,
                        const struct cunei_top_known *known,
                        const struct cunei_top_sums *sums,
                        const struct cunei_top_rates *rates, uint32_t function)
{
    const struct cunei_top_function *numbers = &sums->functions[function];
    const struct cunei_top_name *name = &known->names[function];
    const struct cunei_top_entry entry = {
        .key = function,
        .name = name->name,
        .place = name->place,
        .sums = numbers,
        .rate = rates->functions[function],
        .waits = name->waits,
        .is_estimated = cunei_function_is_estimated(&numbers->facts),
        .is_self_estimated = cunei_function_is_self_estimated(&numbers->facts),
    };

    if (!has_facts(&numbers->facts, numbers) || !name->is_function ||
        (name->waits && !wish->idle))
        return 0;
    list->all++;
    if (!matches(&entry, name->class, wish->filter))
        return 0;
    if (!CUNEI_VECTOR_RESERVE(list->entries, list->capacity, list->count + 1))
        return -ENOMEM;
    list->entries[list->count++] = entry;
    return 0;
}

/* What an entry is sorted by, for qsort, which takes no context. */
struct sorted {
    struct cunei_top_entry entry;
    uint32_t frozen; /* place in the frozen order */
    double key;
};

static int compare_names(const struct cunei_top_entry *one,
                         const struct cunei_top_entry *two)
{
    int order = strcmp(one->name, two->name);

    if (order == 0)
        order = strcmp(one->place, two->place);
    return order != 0 ? order : one->key < two->key ? -1 : one->key > two->key;
}

/* Equal keys are sorted by total time and name, so that the order is always the same:
 * rows without any change in the interval keep their places. */
static int compare_keys(const struct sorted *one, const struct sorted *two)
{
    if (one->key != two->key)
        return one->key > two->key ? -1 : 1;
    if (one->entry.sums->self_ns != two->entry.sums->self_ns)
        return one->entry.sums->self_ns > two->entry.sums->self_ns ? -1 : 1;
    return compare_names(&one->entry, &two->entry);
}

static int compare_down(const void *a, const void *b)
{
    const struct sorted *one = a, *two = b;

    if (one->frozen != two->frozen)
        return one->frozen < two->frozen ? -1 : 1;
    return compare_keys(one, two);
}

static int compare_up(const void *a, const void *b)
{
    const struct sorted *one = a, *two = b;

    if (one->frozen != two->frozen)
        return one->frozen < two->frozen ? -1 : 1;
    return compare_keys(two, one);
}

static int compare_names_down(const void *a, const void *b)
{
    const struct sorted *one = a, *two = b;

    if (one->frozen != two->frozen)
        return one->frozen < two->frozen ? -1 : 1;
    return compare_names(&one->entry, &two->entry);
}

static int compare_places_down(const void *a, const void *b)
{
    const struct sorted *one = a, *two = b;
    int order = strcmp(one->entry.place, two->entry.place);

    if (one->frozen != two->frozen)
        return one->frozen < two->frozen ? -1 : 1;
    return order != 0 ? order : compare_names(&one->entry, &two->entry);
}

typedef int (*comparison)(const void *, const void *);

static int compare_names_up(const void *a, const void *b)
{
    const struct sorted *one = a, *two = b;

    return one->frozen != two->frozen ? compare_names_down(a, b)
                                      : compare_names_down(b, a);
}

static int compare_places_up(const void *a, const void *b)
{
    const struct sorted *one = a, *two = b;

    return one->frozen != two->frozen ? compare_places_down(a, b)
                                      : compare_places_down(b, a);
}

/* Numbers have the largest first, texts the first of the alphabet. */
static comparison choose_comparison(const struct cunei_top_wish *wish)
{
    const struct cunei_top_column *column = &cunei_top_columns[wish->sort];

    if (column->key)
        return wish->is_reversed ? compare_up : compare_down;
    if (strcmp(column->word, "place") == 0)
        return wish->is_reversed ? compare_places_up : compare_places_down;
    return wish->is_reversed ? compare_names_up : compare_names_down;
}

static uint32_t frozen_place(const struct cunei_top_wish *wish, uint32_t key)
{
    for (uint32_t i = 0; wish->frozen && i < wish->frozen_count; i++) {
        if (wish->frozen[i] == key)
            return i;
    }
    return UINT32_MAX;
}

static int sort(struct cunei_top_list *list, const struct cunei_top_wish *wish,
                const struct cunei_top_rates *rates)
{
    const struct cunei_top_column *column = &cunei_top_columns[wish->sort];
    struct sorted *rows = calloc(list->count + 1u, sizeof(*rows));

    if (!rows)
        return -ENOMEM;
    for (uint32_t i = 0; i < list->count; i++)
        rows[i] = (struct sorted){
            .entry = list->entries[i],
            .frozen = frozen_place(wish, list->entries[i].key),
            .key = column->key ? column->key(&list->entries[i], rates) : 0,
        };
    qsort(rows, list->count, sizeof(*rows), choose_comparison(wish));
    for (uint32_t i = 0; i < list->count; i++)
        list->entries[i] = rows[i].entry;
    free(rows);
    return 0;
}

int cunei_top_list_make(struct cunei_top_list *list, const struct cunei_top_wish *wish,
                        const struct cunei_top_known *known,
                        const struct cunei_top_sums *before,
                        const struct cunei_top_sums *sums,
                        const struct cunei_top_rates *rates)
{
    int rc = 0;

    list->count = list->all = 0;
    for (uint32_t i = 0; rc == 0 && i < sums->function_count; i++)
        rc = add_function(list, wish, known, sums, rates, i);
    if (rc == 0 && wish->group != CUNEI_TOP_GROUP_NONE && wish->within)
        rc = cunei_top_groups_select(list, wish->group, wish->within - 1, known);
    else if (rc == 0 && wish->group != CUNEI_TOP_GROUP_NONE)
        rc = cunei_top_groups_make(list, wish->group, known, before, sums);
    return rc == 0 ? sort(list, wish, rates) : rc;
}

void cunei_top_list_fini(struct cunei_top_list *list)
{
    cunei_top_groups_fini(list);
    cunei_top_keys_fini(&list->groups);
    free(list->entries);
    *list = (struct cunei_top_list){0};
}
