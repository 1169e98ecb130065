// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/facts/recording_off.h"

#define OFF CUNEI_PHASE_ENTER
#define ON  CUNEI_PHASE_LEAVE

static void streams_are_added_in_any_order(void **state)
{
    struct cunei_recording_off one = {0}, two = {0};
    (void)state;
    cunei_recording_off_read(&one, ON, 150);
    cunei_recording_off_read(&two, OFF, 300);
    cunei_recording_off_read(&two, ON, 310);
    cunei_recording_off_read(&two, OFF, 100);

    cunei_recording_off_add(&one, &two);

    assert_int_equal(one.begins, 2);
    assert_int_equal(cunei_recording_off_ticks(&one), 60);
}

static void one_without_its_end_or_begin_is_left_out(void **state)
{
    struct cunei_recording_off off = {0}, on = {0};
    (void)state;
    cunei_recording_off_read(&off, OFF, 100);
    cunei_recording_off_read(&off, ON, 120);
    cunei_recording_off_read(&off, OFF, 500);
    cunei_recording_off_read(&on, ON, 40);
    cunei_recording_off_read(&on, OFF, 100);
    cunei_recording_off_read(&on, ON, 130);

    assert_int_equal(cunei_recording_off_ticks(&off), 20);
    assert_int_equal(cunei_recording_off_ticks(&on), 30);
}

static void nonsense_takes_no_time(void **state)
{
    struct cunei_recording_off backwards = {0}, ends = {0};
    (void)state;
    cunei_recording_off_read(&backwards, ON, 100);
    cunei_recording_off_read(&backwards, OFF, 200);
    cunei_recording_off_read(&ends, ON, 100);
    cunei_recording_off_read(&ends, ON, 200);

    assert_int_equal(cunei_recording_off_ticks(&backwards), 0);
    assert_int_equal(cunei_recording_off_ticks(&ends), 0);
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
