// SPDX-License-Identifier: MIT
#include "report/shown_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "model/facts/call_tree.h"
#include "model/facts/waiting_functions.h"
#include "report/section.h"
#include "text/format.h"

/* The packages that a row names. */
#define PACKAGES_MAX 2u

static enum cunei_tree_fold fold_of(const struct cunei_report_options *options,
                                    const struct cunei_function *function)
{
    if (!options->idle && !options->json && cunei_is_waiting_function(function))
        return CUNEI_TREE_DROP;
    return cunei_patterns_exclude(&options->patterns, function->module,
                                  function->qualname, function->file)
               ? CUNEI_TREE_HIDE
               : CUNEI_TREE_KEEP;
}

/* Make `working` if anything is left out. */
static int leave_out(struct cunei_report *report)
{
    const struct cunei_functions *functions = &report->analysis->functions;
    enum cunei_tree_fold *folds = calloc((size_t)functions->count + 1, sizeof(*folds));
    const struct cunei_tree_folding folding = {.folds = folds};
    bool is_whole = true;
    if (!folds)
        return -ENOMEM;

    for (uint32_t i = 0; i < functions->count; i++) {
        folds[i + 1] = fold_of(report->options, &functions->items[i]);
        is_whole &= folds[i + 1] == CUNEI_TREE_KEEP;
    }
    if (!is_whole)
        report->working = cunei_tree_fold(report->analysis->tree, &folding);
    free(folds);
    return is_whole || report->working ? 0 : -ENOMEM;
}

/* A library is what is not the project, whatever is included. */
static int fold_runs(struct cunei_report *report)
{
    struct cunei_patterns own = {.project = report->options->patterns.project};

    int rc = cunei_patterns_add(&own, true, CUNEI_PATTERN_PROJECT, NULL, 0);
    if (rc == 0)
        rc = cunei_project_tree_init(&report->project, report->analysis, report->tree,
                                     &own, CUNEI_PROJECT_RUNS);
    cunei_patterns_fini(&own);
    return rc;
}

/* Then rows are asked for that may be a library's. */
static bool has_include(const struct cunei_report_options *options)
{
    bool is_include = false;

    for (size_t i = 0; i < options->patterns.count && !is_include; i++)
        (void)cunei_patterns_text(&options->patterns, i, &is_include);
    return is_include;
}

int cunei_shown_tree_init(struct cunei_report *report)
{
    if (!report->analysis->tree)
        return 0;
    int rc = leave_out(report);
    report->tree = report->working ? report->working : report->analysis->tree;
    if (rc == 0)
        rc = cunei_imports_init(&report->imports, report->analysis, report->tree);
    if (rc == 0 && report->is_folded)
        report->tree = report->imports.tree;
    if (rc == 0 && report->is_own)
        rc = cunei_project_tree_init(&report->project, report->analysis, report->tree,
                                     &report->options->patterns, CUNEI_PROJECT_ONLY);
    else if (rc == 0 && report->is_folded && !has_include(report->options))
        rc = fold_runs(report);
    if (report->project.tree)
        report->tree = report->project.tree;
    return rc;
}

void cunei_shown_tree_fini(struct cunei_report *report)
{
    cunei_project_tree_fini(&report->project);
    cunei_imports_fini(&report->imports);
    cunei_tree_free(report->working);
}

/* A package, and the self time of its functions in a run. */
struct package {
    const char *name; /* borrowed: of a module, of which it is the first `size` bytes */
    size_t size;
    uint64_t self;
};

/* Keep the longest; the last one makes room for one more. */
static void add_package(struct package packages[PACKAGES_MAX + 1], unsigned *count,
                        struct package package)
{
    unsigned i = 0;

    while (i < *count && (packages[i].size != package.size ||
                          memcmp(packages[i].name, package.name, package.size) != 0))
        i++;
    if (i < *count)
        packages[i].self += package.self;
    else if (*count <= PACKAGES_MAX)
        packages[(*count)++] = package;
    else if (packages[--i].self < package.self)
        packages[i] = package;
    for (; i > 0 && i < *count && packages[i].self > packages[i - 1].self; i--) {
        struct package before = packages[i - 1];
        packages[i - 1] = packages[i];
        packages[i] = before;
    }
}

void cunei_shown_tree_put_run(const struct cunei_report *report, uint32_t node,
                              struct cunei_buffer *out)
{
    const struct cunei_project_tree *project = &report->project;
    const struct cunei_function *functions = report->analysis->functions.items;
    uint32_t begin = project->first[node], end = project->first[node + 1];
    struct package packages[PACKAGES_MAX + 1];
    uint32_t slot = project->tree->nodes[node].slot;
    unsigned count = 0;

    if (end - begin < 2 || project->is_own[slot])
        return;
    for (uint32_t i = begin; i < end; i++) {
        const struct cunei_node *from = &project->whole->nodes[project->members[i]];
        const char *module = functions[from->slot - 1].module;
        size_t size = strcspn(module, ".");
        if (size > 0 && functions[from->slot - 1].file[0])
            add_package(packages, &count, (struct package){module, size, from->self});
    }
    cunei_buffer_append_text(out, " [");
    cunei_format_several(out, end - begin, "frame");
    for (unsigned i = 0; i < count && i < PACKAGES_MAX; i++)
        cunei_buffer_format(out, "%s%.*s", i > 0 ? ", " : " in ", (int)packages[i].size,
                            packages[i].name);
    cunei_buffer_append_text(out, count > PACKAGES_MAX ? ", …]" : "]");
}
