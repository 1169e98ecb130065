// SPDX-License-Identifier: MIT
/* How many snapshots triggers may make, with invented times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/units.h"
#include "trigger/limits.h"

#define SECOND CUNEI_NS_PER_S

static struct cunei_snapshot_tally tally;
static uint64_t max_bytes;

static int begin(void **state)
{
    (void)state;
    tally = (struct cunei_snapshot_tally){0};
    return 0;
}

static bool may(const struct cunei_snapshot_limits *limits, uint64_t now_ns)
{
    return cunei_snapshot_may(limits, &tally, now_ns, 1, &max_bytes);
}

static void the_default_is_one_a_minute_ten_in_all_two_gib(void **state)
{
    (void)state;
    const struct cunei_snapshot_limits limits = CUNEI_SNAPSHOT_LIMITS_DEFAULTS;

    assert_int_equal(limits.interval_ns, 60 * SECOND);
    assert_int_equal(limits.count, 10);
    assert_int_equal(limits.bytes, UINT64_C(2) << 30);
}

static void a_second_one_waits_for_the_interval(void **state)
{
    (void)state;
    const struct cunei_snapshot_limits limits = {.interval_ns = 60 * SECOND};

    assert_true(may(&limits, 5 * SECOND));
    cunei_snapshot_count(&tally, 5 * SECOND, 1);
    assert_false(may(&limits, 6 * SECOND));
    assert_false(may(&limits, 65 * SECOND - 1));
    assert_true(may(&limits, 65 * SECOND));

    assert_int_equal(tally.left[CUNEI_LIMIT_INTERVAL], 2);
    assert_int_equal(tally.fired, 4);
}

static void a_clock_that_goes_back_is_not_an_interval(void **state)
{
    (void)state;
    const struct cunei_snapshot_limits limits = {.interval_ns = 60 * SECOND};

    assert_true(may(&limits, 100 * SECOND));
    cunei_snapshot_count(&tally, 100 * SECOND, 1);
    assert_false(may(&limits, 1 * SECOND));
}

static void no_more_than_the_count_are_made(void **state)
{
    (void)state;
    const struct cunei_snapshot_limits limits = {.count = 2};

    for (uint64_t i = 0; i < 2; i++) {
        assert_true(may(&limits, i));
        cunei_snapshot_count(&tally, i, 1);
    }
    assert_false(may(&limits, 1000 * SECOND));

    assert_int_equal(tally.left[CUNEI_LIMIT_COUNT], 1);
}

static void the_space_that_is_left_limits_the_next_one(void **state)
{
    (void)state;
    const struct cunei_snapshot_limits limits = {.bytes = 100};

    assert_true(may(&limits, 0));
    assert_int_equal(max_bytes, 100);
    cunei_snapshot_count(&tally, 0, 70);
    assert_true(may(&limits, 1));
    assert_int_equal(max_bytes, 30);
    cunei_snapshot_count_too_large(&tally, 1);
    assert_false(may(&limits, 2));

    assert_int_equal(tally.left[CUNEI_LIMIT_SPACE], 2);
}

static void one_that_failed_is_tried_again_after_the_interval(void **state)
{
    (void)state;
    const struct cunei_snapshot_limits limits = {.interval_ns = 60 * SECOND,
                                                 .count = 1};

    assert_true(may(&limits, 0));
    cunei_snapshot_count_failed(&tally, 0);
    assert_false(may(&limits, 59 * SECOND));
    assert_true(may(&limits, 60 * SECOND));

    assert_int_equal(tally.failed, 1);
    assert_int_equal(tally.left[CUNEI_LIMIT_INTERVAL], 1);
}

static void without_limits_each_is_made(void **state)
{
    (void)state;
    const struct cunei_snapshot_limits limits = {0};

    for (uint64_t i = 0; i < 100; i++) {
        assert_true(may(&limits, i));
        assert_int_equal(max_bytes, 0);
        cunei_snapshot_count(&tally, i, UINT64_C(1) << 40);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_is_one_a_minute_ten_in_all_two_gib),
        cmocka_unit_test_setup(a_second_one_waits_for_the_interval, begin),
        cmocka_unit_test_setup(a_clock_that_goes_back_is_not_an_interval, begin),
        cmocka_unit_test_setup(no_more_than_the_count_are_made, begin),
        cmocka_unit_test_setup(the_space_that_is_left_limits_the_next_one, begin),
        cmocka_unit_test_setup(one_that_failed_is_tried_again_after_the_interval,
                               begin),
        cmocka_unit_test_setup(without_limits_each_is_made, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
