// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "python/version.h"

static void the_version_of_a_cpython_is_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int minor, patch;
    } cases[] = {
        {"CPython 3.13.0", 13, 0},   {"CPython 3.8.18", 8, 18},
        {"CPython 3.15.0a2", 15, 0}, {"CPython 3.13.5 without GIL", 13, 5},
        {"CPython 3.14", 14, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cunei_python_version version;
        assert_true(cunei_python_version_parse(cases[i].text, &version));
        assert_int_equal(version.minor, cases[i].minor);
        assert_int_equal(version.patch, cases[i].patch);
    }
}

static void anything_else_is_none(void **state)
{
    (void)state;
    static const char *const cases[] = {
        NULL,
        "",
        "PyPy 3.10",
        "CPython",
        "CPython 3",
        "CPython 3.",
        "CPython 3.x",
        "CPython 3.-1.0",
        "CPython 2.7",
        "CPython 3.99999999999999999999",
        "a CPython 3.12.1",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cunei_python_version version = {.minor = 1};
        assert_false(cunei_python_version_parse(cases[i], &version));
        assert_int_equal(version.minor, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_of_a_cpython_is_parsed),
        cmocka_unit_test(anything_else_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
