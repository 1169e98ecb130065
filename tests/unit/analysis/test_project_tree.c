// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/project_tree.h"
#include "base/pattern.h"
#include "model/facts/call_tree.h"

/* Slots; own functions are those that a pattern for app includes. */
enum {
    MAIN = 1,
    COMMAND,
    INVOKE,
    VIEW,
    DUMPS,
};

static struct cunei_function names[] = {
    {.module = "app", .qualname = "main", .file = "/app.py"},
    {.module = "click", .qualname = "command", .file = "/click.py"},
    {.module = "click", .qualname = "invoke", .file = "/click.py"},
    {.module = "app", .qualname = "view", .file = "/app.py"},
    {.module = "json", .qualname = "dumps", .file = "/json.py"},
};

struct fixture {
    struct cunei_analysis analysis;
    struct cunei_analysis_function facts[5];
    struct cunei_patterns own;
    struct cunei_tree *tree;
    uint32_t main, command, invoke, view, dumps;
};

/* main calls click, which calls view, which calls json. */
static void make(struct fixture *fixture, const char *own)
{
    struct cunei_tree *tree = cunei_tree_new();

    *fixture = (struct fixture){.tree = tree};
    fixture->main = cunei_tree_child(tree, 0, MAIN);
    fixture->command = cunei_tree_child(tree, fixture->main, COMMAND);
    fixture->invoke = cunei_tree_child(tree, fixture->command, INVOKE);
    fixture->view = cunei_tree_child(tree, fixture->invoke, VIEW);
    fixture->dumps = cunei_tree_child(tree, fixture->view, DUMPS);
    for (uint32_t i = 1; i < tree->count; i++)
        tree->nodes[i].self = UINT64_C(1) << i;
    for (unsigned i = 0; i < 5; i++)
        fixture->facts[i].calls = 1;
    fixture->analysis.functions.items = names;
    fixture->analysis.functions.count = 5;
    fixture->analysis.facts = fixture->facts;
    assert_int_equal(cunei_patterns_add(&fixture->own, true, own, NULL, 0), 0);
}

static void clean(struct fixture *fixture, struct cunei_project_tree *project)
{
    cunei_project_tree_fini(project);
    cunei_patterns_fini(&fixture->own);
    cunei_tree_free(fixture->tree);
}

static void what_libraries_do_is_one_node(void **state)
{
    (void)state;
    struct fixture fixture;
    struct cunei_project_tree project;
    make(&fixture, "app");

    assert_int_equal(cunei_project_tree_init(&project, &fixture.analysis, fixture.tree,
                                             &fixture.own, CUNEI_PROJECT_RUNS),
                     0);

    assert_int_equal(project.tree->count, 5);
    uint32_t main = cunei_tree_child(project.tree, 0, MAIN);
    uint32_t run = cunei_tree_child(project.tree, main, COMMAND);
    uint32_t view = cunei_tree_child(project.tree, run, VIEW);
    uint32_t dumps = cunei_tree_child(project.tree, view, DUMPS);
    assert_int_equal(project.tree->count, 5);
    assert_int_equal(project.tree->nodes[run].self,
                     (1u << fixture.command) + (1u << fixture.invoke));
    assert_int_equal(project.first[run + 1] - project.first[run], 2);
    assert_int_equal(project.members[project.first[run]], fixture.command);
    assert_int_equal(project.members[project.first[run] + 1], fixture.invoke);
    assert_int_equal(project.first[dumps + 1] - project.first[dumps], 1);
    assert_true(project.is_own[VIEW]);
    assert_false(project.is_own[DUMPS]);
    clean(&fixture, &project);
}

static void the_time_of_libraries_is_their_caller_s(void **state)
{
    (void)state;
    struct fixture fixture;
    struct cunei_project_tree project;
    make(&fixture, "app");

    assert_int_equal(cunei_project_tree_init(&project, &fixture.analysis, fixture.tree,
                                             &fixture.own, CUNEI_PROJECT_ONLY),
                     0);

    assert_int_equal(project.tree->count, 3);
    assert_int_equal(project.moved_ns[MAIN],
                     (1u << fixture.command) + (1u << fixture.invoke));
    assert_int_equal(project.moved_ns[VIEW], 1u << fixture.dumps);
    clean(&fixture, &project);
}

static void without_a_project_nothing_is_folded(void **state)
{
    (void)state;
    struct fixture fixture;
    struct cunei_project_tree project;
    make(&fixture, "other");

    assert_int_equal(cunei_project_tree_init(&project, &fixture.analysis, fixture.tree,
                                             &fixture.own, CUNEI_PROJECT_RUNS),
                     0);

    assert_null(project.tree);
    clean(&fixture, &project);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_libraries_do_is_one_node),
        cmocka_unit_test(the_time_of_libraries_is_their_caller_s),
        cmocka_unit_test(without_a_project_nothing_is_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
