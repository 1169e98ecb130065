// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/clock.h"

#define MS_NS UINT64_C(1000000)

static void a_pair_lies_between_what_was_read_before_and_after(void **state)
{
    (void)state;
    uint64_t tick = cunei_clock_read();
    uint64_t monotonic_ns = cunei_clock_ns(CLOCK_MONOTONIC);

    struct cunei_clock_pair pair = cunei_clock_pair();

    assert_in_range(pair.tick, tick, cunei_clock_read());
    assert_in_range(pair.monotonic_ns, monotonic_ns, cunei_clock_ns(CLOCK_MONOTONIC));
    uint64_t wall_ns = cunei_clock_ns(CLOCK_REALTIME);
    assert_in_range(pair.wall_ns, wall_ns - 1000 * MS_NS, wall_ns + MS_NS);
}

static void ticks_never_go_back_in_a_thread(void **state)
{
    (void)state;
    uint64_t last = cunei_clock_read();

    for (int i = 0; i < 100000; i++) {
        uint64_t now = cunei_clock_read();
        assert_true(now >= last);
        last = now;
    }
}

static void the_frequency_is_that_between_two_pairs(void **state)
{
    (void)state;
    const struct cunei_clock_pair first = {.tick = 1000, .monotonic_ns = 5000};
    struct cunei_clock_pair second = {.tick = 1000 + 25 * MS_NS,
                                      .monotonic_ns = 5000 + 10 * MS_NS};
    uint64_t wanted = cunei_clock_has_counter(NULL) ? 2500 * MS_NS : CUNEI_NS_PER_S;

    assert_int_equal(cunei_clock_frequency(&first, &second), wanted);

    /* Rounded, not cut. */
    second.tick += 5;
    if (cunei_clock_has_counter(NULL))
        assert_int_equal(cunei_clock_frequency(&first, &second), wanted + 500);
}

static void pairs_that_show_nothing_give_no_frequency(void **state)
{
    (void)state;
    const struct cunei_clock_pair first = {.tick = 1000, .monotonic_ns = 5000};
    const struct cunei_clock_pair seconds[] = {
        {.tick = 2000, .monotonic_ns = 5000},
        {.tick = 2000, .monotonic_ns = 5000 + MS_NS - 1},
        {.tick = 2000, .monotonic_ns = 4000},
        {.tick = 1000, .monotonic_ns = 5000 + MS_NS},
        {.tick = 900, .monotonic_ns = 5000 + MS_NS},
    };

    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++)
        assert_int_equal(cunei_clock_frequency(&first, &seconds[i]), 0);
}

static void two_calibrations_agree(void **state)
{
    (void)state;

    uint64_t first = cunei_clock_calibrate(20000);
    uint64_t second = cunei_clock_calibrate(20000);

    /* 0.1 %: far worse than it is, on machines far busier than they should be. */
    assert_true(first > 0);
    assert_in_range(second, first - first / 1000, first + first / 1000);
}

static void a_clock_that_does_not_exist_reads_as_zero(void **state)
{
    (void)state;

    assert_int_equal(cunei_clock_ns((clockid_t)-1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_lies_between_what_was_read_before_and_after),
        cmocka_unit_test(ticks_never_go_back_in_a_thread),
        cmocka_unit_test(the_frequency_is_that_between_two_pairs),
        cmocka_unit_test(pairs_that_show_nothing_give_no_frequency),
        cmocka_unit_test(two_calibrations_agree),
        cmocka_unit_test(a_clock_that_does_not_exist_reads_as_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
