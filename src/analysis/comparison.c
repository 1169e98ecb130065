// SPDX-License-Identifier: MIT
#include "analysis/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/cprofile_label.h"
#include "base/pattern.h"
#include "base/vector.h"
#include "model/facts/call_tree.h"
#include "trace/directory/cprofile_file.h"
#include "wire/user_event.h"

struct facts {
    double calls, self_ns, total_ns;
    bool is_there;
};

/* The facts of a run for each item, before they are added to a side. */
struct run {
    struct cunei_comparison *comparison;
    unsigned side;
    struct facts *facts; /* owned: by item */
    uint32_t capacity;
};

static void add_to_side(struct cunei_comparison_side *side, const struct facts *facts)
{
    cunei_series_add(&side->self_ns, facts->self_ns);
    side->calls += (facts->calls - side->calls) / side->self_ns.count;
    side->total_ns += (facts->total_ns - side->total_ns) / side->self_ns.count;
    side->runs += facts->is_there;
}

/* In earlier runs without the function it took no time. */
static void catch_up(struct cunei_comparison_side *side, uint32_t runs)
{
    static const struct facts none = {0};

    while (side->self_ns.count < runs)
        add_to_side(side, &none);
}

static bool is_region(const struct cunei_function *function)
{
    return cunei_definition_of(function) == CUNEI_DEFINITION_REGION;
}

/* Items for all functions that are matched so far. */
static int add_items(struct cunei_comparison *comparison)
{
    const struct cunei_function_matching *matching = &comparison->matching;

    if (!CUNEI_VECTOR_RESERVE(comparison->items, comparison->capacity, matching->count))
        return -ENOMEM;
    while (comparison->count < matching->count) {
        const struct cunei_matched_function *from = &matching->items[comparison->count];
        const struct cunei_function names = {.module = from->module,
                                             .qualname = from->qualname,
                                             .file = from->file,
                                             .line = from->line};
        comparison->items[comparison->count++] = (struct cunei_comparison_item){
            .module = names.module,
            .qualname = names.qualname,
            .file = names.file,
            .line = names.line,
            .is_region = is_region(&names),
            /* cProfile has no regions. */
            .is_hidden = (is_region(&names) && comparison->by_label) ||
                         (comparison->patterns &&
                          !cunei_patterns_include(comparison->patterns, names.module,
                                                  names.qualname, names.file)),
        };
    }
    return 0;
}

/* Add one of the run's functions to an item; several may be the same. */
static int run_add(struct run *run, uint32_t number, const struct facts *facts)
{
    uint32_t before = run->capacity, index = number - 1;
    if (number == UINT32_MAX || add_items(run->comparison) < 0 ||
        index >= run->comparison->count ||
        !CUNEI_VECTOR_RESERVE(run->facts, run->capacity, run->comparison->count))
        return -ENOMEM;
    if (run->capacity > before)
        memset(run->facts + before, 0, (run->capacity - before) * sizeof(*run->facts));
    struct facts *sum = &run->facts[index];
    sum->is_there = true;
    sum->calls += facts->calls;
    sum->self_ns += facts->self_ns;
    sum->total_ns += facts->total_ns;
    return 0;
}

static void run_end(struct run *run)
{
    struct cunei_comparison *comparison = run->comparison;
    struct facts whole = {.is_there = true};
    uint32_t before = comparison->runs[run->side]++;

    for (uint32_t i = 0; i < run->capacity && i < comparison->count; i++) {
        struct cunei_comparison_item *item = &comparison->items[i];
        if (!run->facts[i].is_there)
            continue;
        catch_up(&item->sides[run->side], before);
        add_to_side(&item->sides[run->side], &run->facts[i]);
        if (item->is_hidden)
            continue;
        if (!item->is_region)
            whole.calls += run->facts[i].calls;
        whole.self_ns += run->facts[i].self_ns;
    }
    add_to_side(&comparison->whole[run->side], &whole);
    free(run->facts);
}

static int compare_places(const void *a, const void *b)
{
    const struct cunei_function *const *one = a, *const *two = b;
    int order = strcmp((*one)->file, (*two)->file);

    if (order != 0)
        return order;
    return (*one)->line < (*two)->line ? -1 : (*one)->line > (*two)->line;
}

static struct facts facts_of(const struct cunei_analysis_function *from, bool by_label)
{
    return (struct facts){.calls =
                              (double)(from->calls + (by_label ? from->resumes : 0)),
                          .self_ns = (double)from->self_ns,
                          .total_ns = (double)from->total_ns};
}

/* Which item each function is, by its index: a number plus one; 0: not called. */
static int match(struct run *run, const struct cunei_analysis *analysis,
                 const struct cunei_function **sorted, uint32_t *numbers)
{
    struct cunei_comparison *comparison = run->comparison;
    const struct cunei_function *functions = analysis->functions.items;
    struct cunei_buffer text = {0};
    int rc = 0;

    /* Certain matches first, so that other functions do not take their items. */
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; rc == 0 && i < analysis->functions.count; i++) {
            uint32_t index = (uint32_t)(sorted[i] - functions);
            const struct cunei_analysis_function *from = &analysis->facts[index];
            if (numbers[index] > 0 || from->calls + from->resumes + from->total_ns == 0)
                continue;
            if (comparison->by_label) {
                struct cunei_function label = cunei_label_make(sorted[i], &text);
                numbers[index] = cunei_function_matching_label(&comparison->matching,
                                                               &label, sorted[i]);
            } else if (pass == 0) {
                numbers[index] = cunei_function_matching_find(&comparison->matching,
                                                              run->side, sorted[i]);
            } else {
                numbers[index] = cunei_function_matching_next(&comparison->matching,
                                                              run->side, sorted[i]);
            }
            rc = numbers[index] == UINT32_MAX || text.failed ? -ENOMEM : 0;
        }
    }
    cunei_buffer_fini(&text);
    return rc;
}

static int keep_tree(struct run *run, const struct cunei_tree *tree, uint32_t *map)
{
    struct cunei_tree **kept = &run->comparison->trees[run->side];

    if (!run->comparison->has_trees)
        return 0;
    if (!*kept)
        *kept = cunei_tree_new();
    if (!*kept)
        return -ENOMEM;
    cunei_tree_add(*kept, tree, map, 1, 1);
    return 0;
}

/* Regions are blocks and calls of decorated functions. */
static int add_regions(struct run *run, const struct cunei_analysis *analysis)
{
    const struct cunei_user_facts *user = &analysis->user_facts;
    int rc = 0;

    if (run->comparison->by_label)
        return 0;
    for (uint32_t i = 0; rc == 0 && i < user->region_names.count; i++) {
        const struct cunei_region_facts *region = &user->regions[i];
        const struct cunei_function names = {.module = "",
                                             .qualname = user->region_names.items[i],
                                             .file = CUNEI_REGION_FILE};
        const struct facts facts = {.calls = (double)region->count,
                                    .total_ns = (double)region->total_ns};
        uint32_t number =
            cunei_function_matching_find(&run->comparison->matching, run->side, &names);
        if (number == 0)
            number = cunei_function_matching_next(&run->comparison->matching, run->side,
                                                  &names);
        rc = run_add(run, number, &facts);
    }
    return rc;
}

int cunei_comparison_add(struct cunei_comparison *comparison, unsigned side,
                         const struct cunei_analysis *analysis)
{
    struct run run = {.comparison = comparison, .side = side};
    uint32_t count = analysis->functions.count;
    const struct cunei_function **sorted =
        calloc(count + (size_t)1, sizeof(const void *));
    uint32_t *map =
        calloc(count + (size_t)1, sizeof(*map)); /* a slot's item plus one */
    int rc = sorted && map ? 0 : -ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < count; i++)
        sorted[i] = &analysis->functions.items[i];
    if (rc == 0) {
        qsort((void *)sorted, count, sizeof(const void *), compare_places);
        rc = match(&run, analysis, sorted, map + 1);
    }
    if (rc == 0)
        rc = add_items(comparison);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        struct facts facts = facts_of(&analysis->facts[i], comparison->by_label);
        if (map[i + 1] > 0 && !is_region(&analysis->functions.items[i]))
            rc = run_add(&run, map[i + 1], &facts);
    }
    if (rc == 0)
        rc = add_regions(&run, analysis);
    if (rc == 0)
        rc = keep_tree(&run, analysis->tree, map);
    run_end(&run);
    free((void *)sorted);
    free(map);
    return rc;
}

int cunei_comparison_add_prof(struct cunei_comparison *comparison, unsigned side,
                              const struct cunei_cprofile *prof)
{
    struct run run = {.comparison = comparison, .side = side};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < prof->count; i++) {
        const struct cunei_cprofile_function *from = &prof->functions[i];
        const struct cunei_function label = {.module = "",
                                             .qualname = from->name,
                                             .file = from->file,
                                             .line = from->line};
        const struct facts facts = {.calls = (double)from->calls,
                                    .self_ns = (double)from->self_ns,
                                    .total_ns = (double)from->total_ns};
        rc = run_add(&run,
                     cunei_function_matching_label(&comparison->matching, &label, NULL),
                     &facts);
    }
    run_end(&run);
    return rc;
}

void cunei_comparison_finish(struct cunei_comparison *comparison)
{
    for (uint32_t i = 0; i < comparison->count; i++) {
        struct cunei_comparison_item *item = &comparison->items[i];
        for (unsigned side = 0; side < 2; side++)
            catch_up(&item->sides[side], comparison->runs[side]);
        item->chance =
            cunei_welch_chance(&item->sides[0].self_ns, &item->sides[1].self_ns);
    }
    comparison->chance = cunei_welch_chance(&comparison->whole[0].self_ns,
                                            &comparison->whole[1].self_ns);
}

double cunei_comparison_growth(const struct cunei_comparison *comparison)
{
    double before = comparison->whole[0].self_ns.mean,
           after = comparison->whole[1].self_ns.mean;

    return before > 0 ? (after - before) / before * 100 : after > 0 ? INFINITY : 0;
}

bool cunei_comparison_has_chance(const struct cunei_comparison *comparison)
{
    return comparison->runs[0] > 1 && comparison->runs[1] > 1;
}

void cunei_comparison_fini(struct cunei_comparison *comparison)
{
    free(comparison->items);
    for (unsigned side = 0; side < 2; side++)
        cunei_tree_free(comparison->trees[side]);
    cunei_function_matching_fini(&comparison->matching);
    *comparison = (struct cunei_comparison){0};
}
