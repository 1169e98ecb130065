// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/suggest/suggestion.h"

static const char *nearest_command(const char *word)
{
    static const char *const names[] = {"run",  "record", "report",  "replay",
                                        "dump", "info",   "recover", "doctor"};
    struct cunei_suggestion nearest = {.word = word};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        cunei_suggestion_offer(&nearest, names[i]);
    return nearest.name;
}

static void a_slip_of_the_finger_is_understood(void **state)
{
    static const char *const rows[][2] = {
        {"reprot", "report"},    {"recrod", "record"}, {"repot", "report"},
        {"reportt", "report"},   {"rum", "run"},       {"docto", "doctor"},
        {"recovery", "recover"}, {"inof", "info"},     {"dupm", "dump"},
        {"REPORT", "report"},    {"Dump", "dump"},     {"INOF", "info"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *got = nearest_command(rows[i][0]);
        assert_non_null(got);
        assert_string_equal(got, rows[i][1]);
    }
}

static void a_beginning_is_understood(void **state)
{
    (void)state;

    assert_string_equal(nearest_command("doc"), "doctor");
}

static void the_same_is_nearer_than_what_is_like_it(void **state)
{
    struct cunei_suggestion nearest = {.word = "gen"};
    (void)state;

    cunei_suggestion_offer(&nearest, "get");
    cunei_suggestion_offer(&nearest, "generate");
    cunei_suggestion_offer(&nearest, "gen");
    assert_string_equal(nearest.name, "gen");
}

static void a_function_is_known_by_the_last_part_of_its_name(void **state)
{
    struct cunei_suggestion nearest = {.word = "totl"};
    (void)state;

    assert_false(cunei_suggestion_offer_function(&nearest, "Cart.<lambda>"));
    assert_true(cunei_suggestion_offer_function(&nearest, "Cart.total"));
    assert_false(cunei_suggestion_offer_function(&nearest, "Basket.total"));
    assert_string_equal(nearest.name, "total");
}

static void a_function_without_a_name_is_suggested_only_for_such_a_word(void **state)
{
    struct cunei_suggestion module = {.word = "nomodule"}, typed = {.word = "<modul>"};
    (void)state;

    assert_false(cunei_suggestion_offer_function(&module, "<module>"));
    assert_true(cunei_suggestion_offer_function(&typed, "<module>"));
}

static void a_word_far_from_everything_gets_no_suggestion(void **state)
{
    char longest[100];
    (void)state;
    memset(longest, 'r', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';

    assert_null(nearest_command("frobnicate"));
    assert_null(nearest_command(""));
    assert_null(nearest_command(longest));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_of_the_finger_is_understood),
        cmocka_unit_test(a_beginning_is_understood),
        cmocka_unit_test(the_same_is_nearer_than_what_is_like_it),
        cmocka_unit_test(a_function_is_known_by_the_last_part_of_its_name),
        cmocka_unit_test(a_function_without_a_name_is_suggested_only_for_such_a_word),
        cmocka_unit_test(a_word_far_from_everything_gets_no_suggestion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
