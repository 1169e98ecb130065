// SPDX-License-Identifier: MIT
#include "analysis/project_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/analysis.h"
#include "base/pattern.h"
#include "model/facts/call_tree.h"
#include "wire/user_event.h"

void cunei_project_tree_fini(struct cunei_project_tree *project)
{
    cunei_tree_free(project->tree);
    free(project->moved_ns);
    free(project->is_own);
    free(project->members);
    free(project->first);
    *project = (struct cunei_project_tree){0};
}

/* Whether the project has any function in the tree. */
static bool find_own(struct cunei_project_tree *project,
                     const struct cunei_analysis *analysis,
                     const struct cunei_patterns *own)
{
    bool has_own = false;

    project->is_own[0] = true; /* unknown */
    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        const struct cunei_function *function = &analysis->functions.items[i];
        bool is_function = cunei_definition_of(function) == CUNEI_DEFINITION_FUNCTION;
        project->is_own[i + 1] =
            !is_function || cunei_patterns_include(own, function->module,
                                                   function->qualname, function->file);
        has_own |= is_function && project->is_own[i + 1] &&
                   analysis->facts[i].calls + analysis->facts[i].resumes > 0;
    }
    return has_own;
}

/* Sort the nodes of the whole tree by their places: count, then put. */
static void sort_members(struct cunei_project_tree *project, const uint32_t *places)
{
    uint32_t whole = project->whole->count, count = project->tree->count;
    uint32_t *first = project->first;

    for (uint32_t i = 1; i < whole; i++)
        first[places[i] + 1]++;
    for (uint32_t i = 1; i <= count; i++)
        first[i] += first[i - 1];
    for (uint32_t i = whole - 1; i > 0; i--)
        project->members[--first[places[i] + 1]] = i;
    /* Each now has the begin of the node before it. */
    for (uint32_t i = 0; i < count; i++)
        first[i] = first[i + 1];
    first[count] = whole - 1;
}

static int fold(struct cunei_project_tree *project, uint32_t slot_count,
                enum cunei_project_fold how, enum cunei_tree_fold *folds,
                uint32_t *places)
{
    for (uint32_t i = 0; i < slot_count; i++)
        folds[i] = project->is_own[i]          ? CUNEI_TREE_KEEP
                   : how == CUNEI_PROJECT_ONLY ? CUNEI_TREE_FOLD
                                               : CUNEI_TREE_FOLD_RUN;
    project->tree = cunei_tree_fold(
        project->whole, &(struct cunei_tree_folding){.folds = folds,
                                                     .moved = how == CUNEI_PROJECT_ONLY
                                                                  ? project->moved_ns
                                                                  : NULL,
                                                     .places = places});
    if (!project->tree)
        return -ENOMEM;
    project->members = calloc(project->whole->count, sizeof(*project->members));
    project->first = calloc((size_t)project->tree->count + 1, sizeof(*project->first));
    if (!project->members || !project->first)
        return -ENOMEM;
    sort_members(project, places);
    return 0;
}

int cunei_project_tree_init(struct cunei_project_tree *project,
                            const struct cunei_analysis *analysis,
                            const struct cunei_tree *tree,
                            const struct cunei_patterns *own,
                            enum cunei_project_fold how)
{
    uint32_t slot_count = analysis->functions.count + 1;
    enum cunei_tree_fold *folds = calloc(slot_count, sizeof(*folds));
    uint32_t *places = calloc(tree->count, sizeof(*places));
    int rc = 0;

    *project = (struct cunei_project_tree){
        .moved_ns = calloc(slot_count, sizeof(*project->moved_ns)),
        .is_own = calloc(slot_count, sizeof(*project->is_own)),
        .whole = tree,
    };
    if (!folds || !places || !project->moved_ns || !project->is_own)
        rc = -ENOMEM;
    else if (find_own(project, analysis, own) || how == CUNEI_PROJECT_ONLY)
        rc = fold(project, slot_count, how, folds, places);
    free(folds);
    free(places);
    if (rc < 0)
        cunei_project_tree_fini(project);
    return rc;
}
