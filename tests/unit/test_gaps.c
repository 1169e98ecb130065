// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/gaps.h"

#define OFF CUNEI_PHASE_ENTER
#define ON  CUNEI_PHASE_LEAVE

static void streams_are_added_in_any_order(void **state)
{
    struct cunei_gaps one = {0}, two = {0};
    (void)state;
    cunei_gaps_read(&one, ON, 150);
    cunei_gaps_read(&two, OFF, 300);
    cunei_gaps_read(&two, ON, 310);
    cunei_gaps_read(&two, OFF, 100);

    cunei_gaps_add(&one, &two);

    assert_int_equal(one.begins, 2);
    assert_int_equal(cunei_gaps_ticks(&one), 60);
}

static void one_without_its_end_or_begin_is_left_out(void **state)
{
    struct cunei_gaps off = {0}, on = {0};
    (void)state;
    cunei_gaps_read(&off, OFF, 100);
    cunei_gaps_read(&off, ON, 120);
    cunei_gaps_read(&off, OFF, 500);
    cunei_gaps_read(&on, ON, 40);
    cunei_gaps_read(&on, OFF, 100);
    cunei_gaps_read(&on, ON, 130);

    assert_int_equal(cunei_gaps_ticks(&off), 20);
    assert_int_equal(cunei_gaps_ticks(&on), 30);
}

static void nonsense_takes_no_time(void **state)
{
    struct cunei_gaps backwards = {0}, ends = {0};
    (void)state;
    cunei_gaps_read(&backwards, ON, 100);
    cunei_gaps_read(&backwards, OFF, 200);
    cunei_gaps_read(&ends, ON, 100);
    cunei_gaps_read(&ends, ON, 200);

    assert_int_equal(cunei_gaps_ticks(&backwards), 0);
    assert_int_equal(cunei_gaps_ticks(&ends), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_added_in_any_order),
        cmocka_unit_test(one_without_its_end_or_begin_is_left_out),
        cmocka_unit_test(nonsense_takes_no_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
