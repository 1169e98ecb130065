// SPDX-License-Identifier: MIT
#include "analysis/imports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/vector.h"
#include "model/facts/call_tree.h"
#include "model/facts/import_system.h"

/* Where a node of the whole tree is. */
enum place {
    OUTSIDE, /* of all imports */
    FINDING, /* in the import system, called from outside */
    INSIDE,  /* in the code of a module that is imported, or below it */
};

void cunei_imports_fini(struct cunei_imports *imports)
{
    cunei_tree_free(imports->tree);
    cunei_tree_free(imports->modules);
    free(imports->moved_ns);
    free(imports->is_system);
    free(imports->packages);
    *imports = (struct cunei_imports){0};
}

static int add_package(struct cunei_imports *imports, size_t *capacity,
                       const char *module, uint64_t total_ns)
{
    size_t size = strcspn(module, ".");

    for (size_t i = 0; i < imports->package_count; i++) {
        struct cunei_imported_package *package = &imports->packages[i];
        if (package->size == size && memcmp(package->name, module, size) == 0) {
            package->total_ns += total_ns;
            return 0;
        }
    }
    if (!CUNEI_VECTOR_RESERVE(imports->packages, *capacity, imports->package_count + 1))
        return -ENOMEM;
    imports->packages[imports->package_count++] =
        (struct cunei_imported_package){module, size, total_ns};
    return 0;
}

static int compare_packages(const void *a, const void *b)
{
    const struct cunei_imported_package *one = a, *two = b;

    if (one->total_ns != two->total_ns)
        return one->total_ns > two->total_ns ? -1 : 1;
    size_t size = one->size < two->size ? one->size : two->size;
    int order = memcmp(one->name, two->name, size);
    return order != 0 ? order : one->size < two->size ? -1 : one->size > two->size;
}

static enum place place_of(enum place caller, bool is_system, bool is_module)
{
    if (caller == INSIDE || (caller == FINDING && is_module))
        return INSIDE;
    return caller == FINDING || is_system ? FINDING : OUTSIDE;
}

/* Parents have lower numbers than their children. */
static int add_packages(struct cunei_imports *imports,
                        const struct cunei_analysis *analysis,
                        const struct cunei_tree *tree)
{
    enum place *places = calloc(tree->count, sizeof(*places));
    uint64_t *totals = calloc(tree->count, sizeof(*totals));
    size_t capacity = 0;
    int rc = places && totals ? 0 : -ENOMEM;

    for (uint32_t i = tree->count - 1; rc == 0 && i > 0; i--) {
        totals[i] += tree->nodes[i].self + tree->nodes[i].gap;
        totals[tree->nodes[i].parent] += totals[i];
    }
    for (uint32_t i = 1; rc == 0 && i < tree->count; i++) {
        uint32_t slot = tree->nodes[i].slot;
        const struct cunei_function *function =
            slot > 0 ? &analysis->functions.items[slot - 1] : NULL;
        enum place caller = places[tree->nodes[i].parent];
        places[i] = place_of(caller, imports->is_system[slot],
                             function && cunei_is_imported_module(function));
        if (caller == OUTSIDE && places[i] == FINDING)
            imports->total_ns += totals[i];
        if (caller == FINDING && places[i] == INSIDE)
            rc = add_package(imports, &capacity, function->module, totals[i]);
    }
    if (rc == 0 && imports->package_count > 1)
        qsort(imports->packages, imports->package_count, sizeof(*imports->packages),
              compare_packages);
    free(places);
    free(totals);
    return rc;
}

/* C functions that the import system calls belong to it. */
static enum cunei_tree_fold fold_of(const struct cunei_function *function,
                                    bool is_system)
{
    if (is_system)
        return CUNEI_TREE_FOLD;
    return function->file && function->file[0] ? CUNEI_TREE_KEEP
                                               : CUNEI_TREE_FOLD_BELOW;
}

static int fold(struct cunei_imports *imports, const struct cunei_analysis *analysis,
                const struct cunei_tree *tree, enum cunei_tree_fold *folds)
{
    const struct cunei_functions *functions = &analysis->functions;

    for (uint32_t i = 0; i < functions->count; i++) {
        imports->is_system[i + 1] = cunei_is_import_system(&functions->items[i]);
        folds[i + 1] = fold_of(&functions->items[i], imports->is_system[i + 1]);
    }
    imports->tree = cunei_tree_fold(
        tree, &(struct cunei_tree_folding){
                  .folds = folds, .keeps_outermost = true, .moved = imports->moved_ns});
    for (uint32_t i = 0; i < functions->count; i++)
        folds[i + 1] = cunei_is_imported_module(&functions->items[i]) ? CUNEI_TREE_KEEP
                                                                      : CUNEI_TREE_FOLD;
    folds[0] = CUNEI_TREE_FOLD;
    if (imports->tree)
        imports->modules = cunei_tree_fold(
            imports->tree, &(struct cunei_tree_folding){.folds = folds});
    return imports->modules ? add_packages(imports, analysis, tree) : -ENOMEM;
}

int cunei_imports_init(struct cunei_imports *imports,
                       const struct cunei_analysis *analysis,
                       const struct cunei_tree *tree)
{
    size_t slot_count = (size_t)analysis->functions.count + 1;
    enum cunei_tree_fold *folds = calloc(slot_count, sizeof(*folds));

    *imports = (struct cunei_imports){0};
    imports->moved_ns = calloc(slot_count, sizeof(*imports->moved_ns));
    imports->is_system = calloc(slot_count, sizeof(*imports->is_system));
    int rc = folds && imports->moved_ns && imports->is_system
                 ? fold(imports, analysis, tree, folds)
                 : -ENOMEM;
    free(folds);
    if (rc < 0)
        cunei_imports_fini(imports);
    return rc;
}
