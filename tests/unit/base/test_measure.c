// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/measure.h"

static void a_moment_is_in_seconds_where_no_unit_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ns;
    } cases[] = {
        {"0", 0},
        {"1.5", 1500000000},
        {".25", 250000000},
        {"10ms", 10000000},
        {"7us", 7000},
        {"7µs", 7000},
        {"3ns", 3},
        {"2min", UINT64_C(120000000000)},
        {"1h", UINT64_C(3600000000000)},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t ns = UINT64_MAX;
        assert_true(cunei_measure_moment(cases[i].text, &ns));
        assert_int_equal(ns, cases[i].ns);
    }
}

static void a_duration_needs_its_unit(void **state)
{
    (void)state;
    uint64_t ns = 5;

    assert_true(cunei_measure_duration("2s", &ns));
    assert_int_equal(ns, UINT64_C(2000000000));
    assert_false(cunei_measure_duration("2", &ns));
    assert_int_equal(ns, UINT64_C(2000000000));
}

static void what_people_do_not_type_is_no_moment(void **state)
{
    (void)state;
    static const char *const cases[] = {"",     " 1",  "-1",   "+1", "0x10", "inf",
                                        "1e30", "1 s", "1sec", ".",  "s",    "1.5.2"};
    uint64_t ns = 5;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_false(cunei_measure_moment(cases[i], &ns));
    assert_int_equal(ns, 5);
}

static void a_percentage_may_have_its_sign(void **state)
{
    (void)state;
    static const char *const good[] = {"5", "5%", "5 %", "5.0%"};
    static const char *const bad[] = {"",    "%",   "-5",  "0x5",  "nan",  "inf",
                                      "5%%", "5 p", " 5%", "0.09", "100.1"};
    double percent = 0;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        percent = 0;
        assert_true(cunei_measure_percent(good[i], 0.1, 100, &percent));
        assert_true(percent == 5);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(cunei_measure_percent(bad[i], 0.1, 100, &percent));
    assert_true(percent == 5);
}

static void a_number_has_no_unit(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "x", "2x", "0x2", "-2", "inf", "2 "};
    double number = 0;

    assert_true(cunei_measure_number("0.5", &number));
    assert_true(number == 0.5);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(cunei_measure_number(bad[i], &number));
    assert_true(number == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moment_is_in_seconds_where_no_unit_is_named),
        cmocka_unit_test(a_duration_needs_its_unit),
        cmocka_unit_test(a_percentage_may_have_its_sign),
        cmocka_unit_test(a_number_has_no_unit),
        cmocka_unit_test(what_people_do_not_type_is_no_moment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
