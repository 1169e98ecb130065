// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "python/instrumenter.h"

static void each_is_found_by_its_name(void **state)
{
    (void)state;
    for (int i = CUNEI_INSTRUMENTER_MONITORING; i < CUNEI_INSTRUMENTERS; i++) {
        const char *name = cunei_instrumenter_name((enum cunei_instrumenter)i);
        assert_non_null(name);
        assert_int_equal(cunei_instrumenter_find(name), i);
    }

    assert_null(cunei_instrumenter_name(CUNEI_INSTRUMENTER_DEFAULT));
    assert_int_equal(cunei_instrumenter_find("profil"), CUNEI_INSTRUMENTER_DEFAULT);
    assert_int_equal(cunei_instrumenter_find(""), CUNEI_INSTRUMENTER_DEFAULT);
}

static void a_python_has_its_default_and_what_it_gives(void **state)
{
    (void)state;
    for (int minor = 8; minor < 16; minor++) {
        assert_true(cunei_instrumenter_exists(CUNEI_INSTRUMENTER_DEFAULT, minor));
        assert_true(cunei_instrumenter_has_c_calls(CUNEI_INSTRUMENTER_DEFAULT, minor));
        assert_true(cunei_instrumenter_has_lines(CUNEI_INSTRUMENTER_DEFAULT, minor));
        assert_true(cunei_instrumenter_exists(CUNEI_INSTRUMENTER_PROFILE, minor));
        assert_true(cunei_instrumenter_exists(CUNEI_INSTRUMENTER_TRACE, minor));
        assert_true(cunei_instrumenter_exists(CUNEI_INSTRUMENTER_NONE, minor));
    }
    assert_int_equal(cunei_instrumenter_default(11), CUNEI_INSTRUMENTER_FRAME);
    assert_int_equal(cunei_instrumenter_default(12), CUNEI_INSTRUMENTER_MONITORING);
    assert_false(cunei_instrumenter_exists(CUNEI_INSTRUMENTER_MONITORING, 11));
    assert_true(cunei_instrumenter_exists(CUNEI_INSTRUMENTER_MONITORING, 12));
    assert_true(cunei_instrumenter_exists(CUNEI_INSTRUMENTER_FRAME, 11));
    assert_false(cunei_instrumenter_exists(CUNEI_INSTRUMENTER_FRAME, 12));
}

static void the_hooks_give_what_cpython_reports(void **state)
{
    (void)state;
    assert_true(cunei_instrumenter_has_c_calls(CUNEI_INSTRUMENTER_PROFILE, 13));
    assert_false(cunei_instrumenter_has_lines(CUNEI_INSTRUMENTER_PROFILE, 13));
    assert_false(cunei_instrumenter_has_c_calls(CUNEI_INSTRUMENTER_TRACE, 13));
    assert_true(cunei_instrumenter_has_lines(CUNEI_INSTRUMENTER_TRACE, 13));
    assert_true(cunei_instrumenter_has_c_calls(CUNEI_INSTRUMENTER_FRAME, 11));
    assert_true(cunei_instrumenter_has_lines(CUNEI_INSTRUMENTER_FRAME, 11));
    assert_false(cunei_instrumenter_has_c_calls(CUNEI_INSTRUMENTER_NONE, 13));
    assert_false(cunei_instrumenter_has_lines(CUNEI_INSTRUMENTER_NONE, 13));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_found_by_its_name),
        cmocka_unit_test(a_python_has_its_default_and_what_it_gives),
        cmocka_unit_test(the_hooks_give_what_cpython_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
