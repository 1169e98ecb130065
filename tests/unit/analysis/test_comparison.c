// SPDX-License-Identifier: MIT
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/comparison.h"
#include "base/pattern.h"
#include "trace/directory/cprofile_file.h"

/* The numbers of a function in one run. */
struct row {
    const char *module, *qualname, *file;
    uint32_t line;
    uint64_t calls, self_ns;
};

static struct cunei_comparison comparison;

static int tear_down(void **state)
{
    (void)state;
    cunei_comparison_fini(&comparison);
    return 0;
}

static void add(unsigned side, const struct row *rows, size_t count)
{
    struct cunei_function functions[8];
    struct cunei_analysis_function facts[8];
    struct cunei_analysis analysis = {.functions = {.items = functions},
                                      .facts = facts};

    memset(functions, 0, sizeof(functions));
    memset(facts, 0, sizeof(facts));
    for (size_t i = 0; i < count; i++) {
        functions[i] = (struct cunei_function){.module = rows[i].module,
                                               .qualname = rows[i].qualname,
                                               .file = rows[i].file,
                                               .line = rows[i].line};
        facts[i].calls = rows[i].calls;
        facts[i].self_ns = facts[i].total_ns = rows[i].self_ns;
    }
    analysis.functions.count = (uint32_t)count;
    assert_int_equal(cunei_comparison_add(&comparison, side, &analysis), 0);
}

#define ADD(side, ...)                                   \
    do {                                                 \
        const struct row rows[] = {__VA_ARGS__};         \
        add(side, rows, sizeof(rows) / sizeof(rows[0])); \
    } while (0)

static void add_prof(unsigned side, const char *file, uint32_t line, const char *name,
                     uint64_t calls)
{
    struct cunei_cprofile_function function = {
        .file = file, .line = line, .name = name, .calls = calls, .self_ns = calls};
    const struct cunei_cprofile prof = {.functions = &function, .count = 1};

    assert_int_equal(cunei_comparison_add_prof(&comparison, side, &prof), 0);
}

/* The calls of both sides of the item that stands at a line. */
static void expect(uint32_t line, double before, double after)
{
    for (uint32_t i = 0; i < comparison.count; i++) {
        const struct cunei_comparison_item *item = &comparison.items[i];
        if (item->line != line)
            continue;
        if (item->sides[0].calls != before || item->sides[1].calls != after)
            fail_msg("line %u: got %g and %g calls, wanted %g and %g", line,
                     item->sides[0].calls, item->sides[1].calls, before, after);
        return;
    }
    fail_msg("nothing is at line %u", line);
}

static void functions_may_move(void **state)
{
    (void)state;
    ADD(0, {"m", "f", "/m.py", 1, 3, 30});
    ADD(1, {"m", "f", "/other/m.py", 9, 4, 60});
    cunei_comparison_finish(&comparison);

    assert_int_equal(comparison.count, 1);
    expect(1, 3, 4);
    assert_true(cunei_comparison_growth(&comparison) == 100);
}

/* One that was not called this time does not shift those behind it. */
static void of_the_same_name_those_on_the_same_line_are_the_same(void **state)
{
    (void)state;
    ADD(0, {"m", "<lambda>", "/m.py", 10, 1, 1}, {"m", "<lambda>", "/m.py", 30, 3, 3});
    ADD(1, {"m", "<lambda>", "/m.py", 10, 4, 4}, {"m", "<lambda>", "/m.py", 20, 5, 5},
        {"m", "<lambda>", "/m.py", 30, 6, 6});
    cunei_comparison_finish(&comparison);

    assert_int_equal(comparison.count, 3);
    expect(10, 1, 4);
    expect(20, 0, 5);
    expect(30, 3, 6);
}

static void the_others_are_matched_in_order(void **state)
{
    (void)state;
    ADD(0, {"m", "<lambda>", "/m.py", 10, 1, 1}, {"m", "<lambda>", "/m.py", 20, 2, 2});
    ADD(1, {"m", "<lambda>", "/m.py", 12, 4, 4}, {"m", "<lambda>", "/m.py", 22, 5, 5},
        {"m", "<lambda>", "/m.py", 32, 6, 6});
    ADD(1, {"m", "<lambda>", "/m.py", 22, 7, 7});
    cunei_comparison_finish(&comparison);

    assert_int_equal(comparison.count, 3);
    expect(10, 1, 2);
    expect(20, 2, 6);
    expect(32, 0, 3);
}

static void runs_are_averaged_and_show_chance(void **state)
{
    (void)state;
    ADD(0, {"m", "f", "/m.py", 1, 1, 100});
    ADD(0, {"m", "f", "/m.py", 1, 1, 101});
    ADD(1, {"m", "f", "/m.py", 1, 2, 200}, {"m", "g", "/m.py", 5, 4, 8});
    ADD(1, {"m", "f", "/m.py", 1, 2, 203});
    cunei_comparison_finish(&comparison);

    const struct cunei_comparison_side *f = comparison.items[0].sides;
    assert_true(cunei_comparison_has_chance(&comparison));
    assert_true(f[0].self_ns.mean == 100.5 && f[1].self_ns.mean == 201.5);
    assert_true(comparison.items[0].chance < 0.05);
    expect(5, 0, 2);
    assert_int_equal(comparison.items[1].sides[1].runs, 1);
    assert_true(comparison.items[1].chance > 0.05);
}

static void excluded_functions_are_not_added_up(void **state)
{
    struct cunei_patterns patterns = {0};

    (void)state;
    assert_int_equal(cunei_patterns_add(&patterns, false, "lib", NULL, 0), 0);
    comparison.patterns = &patterns;
    ADD(0, {"m", "f", "/m.py", 1, 1, 100}, {"lib", "g", "/lib.py", 5, 1, 100});
    ADD(1, {"m", "f", "/m.py", 1, 1, 110}, {"lib", "g", "/lib.py", 5, 1, 900});
    cunei_comparison_finish(&comparison);

    assert_true(fabs(cunei_comparison_growth(&comparison) - 10) < 1e-9);
    assert_true(comparison.items[0].is_hidden != comparison.items[1].is_hidden);
    cunei_patterns_fini(&patterns);
}

static void relative_files_are_those_that_end_so(void **state)
{
    static const char *const names[] = {"app.py", "./app.py", "../app.py", "/x/app.py"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        comparison.by_label = true;
        ADD(0, {"pkg.app", "f", "/x/pkg/app.py", 1, 1, 1},
            {"app", "f", "/x/app.py", 1, 2, 2}, {"myapp", "f", "/x/myapp.py", 1, 3, 3});
        add_prof(1, names[i], 1, "f", 7);
        cunei_comparison_finish(&comparison);
        assert_int_equal(comparison.count, 3);
        for (uint32_t j = 0; j < 3; j++) {
            const struct cunei_comparison_item *item = &comparison.items[j];
            bool is_it = strcmp(item->module, "app") == 0;
            assert_true(item->sides[1].calls == (is_it ? 7 : 0));
        }
        cunei_comparison_fini(&comparison);
    }
}

static void functions_that_cprofile_cannot_distinguish_are_added(void **state)
{
    (void)state;
    comparison.by_label = true;
    ADD(0, {"m", "A.f", "/m.py", 1, 1, 1}, {"m", "B.f", "/m.py", 1, 2, 2});
    add_prof(1, "/m.py", 1, "f", 3);
    cunei_comparison_finish(&comparison);

    assert_int_equal(comparison.count, 1);
    expect(1, 3, 3);
}

/* A name of ours in C, and the one that cProfile has for it. */
static void functions_in_c_are_found_by_their_descriptions(void **state)
{
    static const char *const names[][3] = {
        {"builtins", "len", "<built-in method builtins.len>"},
        {"builtins", "list.append", "<method 'append' of 'list' objects>"},
        {"builtins", "dict.fromkeys", "<built-in method fromkeys>"},
        {"collections", "deque.__new__",
         "<built-in method __new__ of type object at 0x5581>"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        comparison.by_label = true;
        ADD(0, {names[i][0], names[i][1], "", 0, 4, 4});
        add_prof(1, "~", 0, names[i][2], 4);
        cunei_comparison_finish(&comparison);
        assert_int_equal(comparison.count, 1);
        expect(0, 4, 4);
        cunei_comparison_fini(&comparison);
    }
}

static void nothing_on_one_side_has_no_percentage(void **state)
{
    (void)state;
    ADD(1, {"m", "f", "/m.py", 1, 1, 100});
    comparison.runs[0] = 1;
    cunei_comparison_finish(&comparison);

    assert_true(isinf(cunei_comparison_growth(&comparison)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(functions_may_move, tear_down),
        cmocka_unit_test_teardown(of_the_same_name_those_on_the_same_line_are_the_same,
                                  tear_down),
        cmocka_unit_test_teardown(the_others_are_matched_in_order, tear_down),
        cmocka_unit_test_teardown(runs_are_averaged_and_show_chance, tear_down),
        cmocka_unit_test_teardown(excluded_functions_are_not_added_up, tear_down),
        cmocka_unit_test_teardown(relative_files_are_those_that_end_so, tear_down),
        cmocka_unit_test_teardown(functions_that_cprofile_cannot_distinguish_are_added,
                                  tear_down),
        cmocka_unit_test_teardown(functions_in_c_are_found_by_their_descriptions,
                                  tear_down),
        cmocka_unit_test_teardown(nothing_on_one_side_has_no_percentage, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
