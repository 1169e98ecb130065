// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/own_time.h"
#include "model/facts/call_tree.h"

/* Slots; those of the project are app's. */
enum {
    MAIN = 1,
    DUMPS,
    VIEW,
    FIND,
    LIBRARY,
    MODULE,
    COUNT,
};

static struct cunei_function names[] = {
    {.module = "app", .qualname = "main", .file = "/app.py"},
    {.module = "json", .qualname = "dumps", .file = "/json.py"},
    {.module = "app", .qualname = "view", .file = "/app.py"},
    {.module = "_frozen_importlib",
     .qualname = "_find_and_load",
     .file = "<frozen importlib._bootstrap>"},
    {.module = "json", .qualname = "<module>", .file = "/json.py"},
    {.module = "app.more", .qualname = "<module>", .file = "/more.py"},
};

static const bool is_own[COUNT] = {
    [0] = true, [MAIN] = true, [VIEW] = true, [MODULE] = true};

struct fixture {
    struct cunei_analysis analysis;
    struct cunei_tree *tree;
    uint64_t *times;
};

/* Each slot is called by the one before it, and takes the time beside it. */
static void measure(struct fixture *fixture, const uint32_t (*path)[2], unsigned length)
{
    uint32_t node = 0;

    *fixture = (struct fixture){.tree = cunei_tree_new()};
    fixture->analysis.functions.items = names;
    fixture->analysis.functions.count = COUNT - 1;
    for (unsigned i = 0; i < length; i++) {
        node = cunei_tree_child(fixture->tree, node, path[i][0]);
        fixture->tree->nodes[node].self = path[i][1];
    }
    fixture->times = cunei_own_times(&fixture->analysis, fixture->tree, is_own);
    assert_non_null(fixture->times);
}

static void clean(struct fixture *fixture)
{
    free(fixture->times);
    cunei_tree_free(fixture->tree);
}

static void the_time_of_a_library_is_that_of_the_project_which_calls_it(void **state)
{
    (void)state;
    static const uint32_t path[][2] = {{MAIN, 1}, {DUMPS, 10}, {VIEW, 100}, {0, 1000}};
    struct fixture fixture;

    measure(&fixture, path, 4);

    assert_int_equal(fixture.times[MAIN], 11);
    assert_int_equal(fixture.times[VIEW], 1100);
    assert_int_equal(fixture.times[DUMPS], 0);
    clean(&fixture);
}

static void only_modules_of_the_project_get_time_of_imports(void **state)
{
    (void)state;
    static const uint32_t path[][2] = {{MAIN, 1},    {FIND, 10},      {MODULE, 100},
                                       {FIND, 1000}, {LIBRARY, 5000}, {DUMPS, 6000}};
    struct fixture fixture;

    measure(&fixture, path, 6);

    assert_int_equal(fixture.times[MAIN], 1);
    assert_int_equal(fixture.times[MODULE], 100);
    assert_int_equal(fixture.times[DUMPS] + fixture.times[LIBRARY], 0);
    clean(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_time_of_a_library_is_that_of_the_project_which_calls_it),
        cmocka_unit_test(only_modules_of_the_project_get_time_of_imports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
