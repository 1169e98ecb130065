// SPDX-License-Identifier: MIT
#include "report/shown_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "model/facts/call_tree.h"
#include "model/facts/import_system.h"
#include "report/section.h"

/* A library whose modules were imported. */
struct package {
    uint32_t function; /* whose row it is: the package's own module, or its first */
    size_t size;       /* of its name, with which the modules begin */
    uint64_t modules;
};

struct packages {
    struct package *items; /* owned */
    uint32_t count, capacity;
    uint32_t *of; /* owned: by slot of a module, the package plus one */
};

void cunei_shown_functions_fini(struct cunei_report *report)
{
    struct cunei_shown_functions *shown = &report->shown;

    free(shown->facts);
    free(shown->is_hidden);
    free(shown->is_package);
    *shown = (struct cunei_shown_functions){0};
}

/* Whether it is a module of a library, whose rows become one. */
static bool is_library(const struct cunei_report *report, uint32_t index)
{
    return cunei_report_shows(report, index) &&
           cunei_is_imported_module(&report->analysis->functions.items[index]) &&
           !(report->project.tree && report->project.is_own[index + 1]);
}

/* The package of a module, plus one; 0: no memory. */
static uint32_t find_package(struct packages *packages,
                             const struct cunei_functions *functions, uint32_t index)
{
    const char *module = functions->items[index].module;
    size_t size = strcspn(module, ".");

    for (uint32_t i = 0; i < packages->count; i++) {
        struct package *package = &packages->items[i];
        const char *other = functions->items[package->function].module;
        if (package->size != size || memcmp(other, module, size) != 0)
            continue;
        if (module[size] == '\0')
            package->function = index;
        package->modules++;
        return i + 1;
    }
    if (!CUNEI_VECTOR_RESERVE(packages->items, packages->capacity, packages->count + 1))
        return 0;
    packages->items[packages->count] = (struct package){index, size, 1};
    return ++packages->count;
}

static int find_packages(struct packages *packages, const struct cunei_report *report)
{
    const struct cunei_functions *functions = &report->analysis->functions;

    packages->of = calloc((size_t)functions->count + 1, sizeof(*packages->of));
    if (!packages->of)
        return -ENOMEM;
    for (uint32_t i = 0; i < functions->count; i++) {
        if (!is_library(report, i))
            continue;
        packages->of[i + 1] = find_package(packages, functions, i);
        if (packages->of[i + 1] == 0)
            return -ENOMEM;
    }
    return 0;
}

/* The package of a slot if it has several modules, which share a row; or NULL. */
static const struct package *find_joined(const struct packages *packages, uint32_t slot)
{
    uint32_t number = packages->of[slot];

    return packages->items && number > 0 && packages->items[number - 1].modules > 1
               ? &packages->items[number - 1]
               : NULL;
}

/* Whether a module of the same package imports it, directly or not. */
static bool is_inside(const struct packages *packages, const struct cunei_tree *tree,
                      uint32_t node)
{
    uint32_t package = packages->of[tree->nodes[node].slot];

    do
        node = tree->nodes[node].parent;
    while (node > 0 && packages->of[tree->nodes[node].slot] != package);
    return node > 0;
}

/* Parents have lower numbers than their children. */
static int add_totals(const struct cunei_report *report,
                      const struct packages *packages)
{
    const struct cunei_tree *tree = report->imports.tree;
    uint64_t *totals = calloc(tree->count, sizeof(*totals));
    if (!totals)
        return -ENOMEM;

    for (uint32_t i = tree->count - 1; i > 0; i--) {
        const struct package *package = find_joined(packages, tree->nodes[i].slot);
        totals[i] += tree->nodes[i].self + tree->nodes[i].gap;
        totals[tree->nodes[i].parent] += totals[i];
        if (package && !is_inside(packages, tree, i))
            report->shown.facts[package->function].total_ns += totals[i];
    }
    free(totals);
    return 0;
}

/* The row of a package has sums; single modules have theirs no more. */
static int join_modules(const struct cunei_report *report,
                        const struct packages *packages)
{
    const struct cunei_analysis *analysis = report->analysis;
    const struct cunei_shown_functions *shown = &report->shown;

    for (uint32_t i = 0; i < packages->count; i++) {
        const struct package *package = &packages->items[i];
        if (package->modules == 1)
            continue;
        shown->facts[package->function] = (struct cunei_analysis_function){0};
        shown->is_package[package->function] = true;
    }
    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        const struct package *package = find_joined(packages, i + 1);
        if (!package)
            continue;
        struct cunei_analysis_function *sum = &shown->facts[package->function];
        sum->calls += analysis->facts[i].calls;
        sum->self_ns += analysis->facts[i].self_ns + report->imports.moved_ns[i + 1];
        shown->is_hidden[i] |= i != package->function;
    }
    return add_totals(report, packages);
}

static int fold_imports(struct cunei_report *report)
{
    struct packages packages = {0};
    uint32_t count = report->analysis->functions.count;

    for (uint32_t i = 0; i < count; i++) {
        report->shown.facts[i].self_ns += report->imports.moved_ns[i + 1];
        report->shown.is_hidden[i] = report->imports.is_system[i + 1];
    }
    int rc = find_packages(&packages, report);
    if (rc == 0)
        rc = join_modules(report, &packages);
    free(packages.items);
    free(packages.of);
    return rc;
}

int cunei_shown_functions_init(struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    size_t count = analysis->functions.count;
    int rc = 0;

    /* The histograms belong to the analysis. */
    report->shown = (struct cunei_shown_functions){
        .facts = calloc(count + 1, sizeof(*report->shown.facts)),
        .is_hidden = calloc(count + 1, sizeof(*report->shown.is_hidden)),
        .is_package = calloc(count + 1, sizeof(*report->shown.is_package)),
    };
    if (!report->shown.facts || !report->shown.is_hidden || !report->shown.is_package)
        return -ENOMEM;
    if (count > 0)
        memcpy(report->shown.facts, analysis->facts,
               count * sizeof(*report->shown.facts));
    if (report->is_folded)
        rc = fold_imports(report);
    for (uint32_t i = 0; report->is_own && i < count; i++)
        report->shown.facts[i].self_ns += report->project.moved_ns[i + 1];
    return rc;
}
