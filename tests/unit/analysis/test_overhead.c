// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/overhead.h"

static void run_time_and_cost_are_what_was_found(void **state)
{
    (void)state;
    const struct cunei_overhead overhead = {
        .floor_ns = 100, .write_ns = 20, .cpu_ns = 1000};

    for (int guess = CUNEI_OVERHEAD_LEAST; guess <= CUNEI_OVERHEAD_MOST; guess++) {
        double run_ns =
            cunei_overhead_run_ns(&overhead, (enum cunei_overhead_guess)guess);
        double cost_ns =
            cunei_overhead_cost_ns(&overhead, (enum cunei_overhead_guess)guess, run_ns);

        assert_float_equal(run_ns + cost_ns, 1000, 1e-6);
        assert_true(cost_ns > overhead.write_ns);
    }
}

static void bounds_are_in_order(void **state)
{
    (void)state;
    const struct cunei_overhead overhead = {.floor_ns = 100, .cpu_ns = 1000};

    double least = cunei_overhead_run_ns(&overhead, CUNEI_OVERHEAD_LEAST);
    double usual = cunei_overhead_run_ns(&overhead, CUNEI_OVERHEAD_USUAL);
    double most = cunei_overhead_run_ns(&overhead, CUNEI_OVERHEAD_MOST);

    assert_true(least > usual && usual > most && most > 0);
}

static void an_event_costs_more_where_events_are_rare(void **state)
{
    (void)state;
    const struct cunei_overhead overhead = {.floor_ns = 100};

    double dense = cunei_overhead_cost_ns(&overhead, CUNEI_OVERHEAD_USUAL, 100);
    double rare = cunei_overhead_cost_ns(&overhead, CUNEI_OVERHEAD_USUAL, 100000);

    assert_true(dense > 100 && dense < 150);
    assert_true(rare > 390 && rare < 400);
}

static void a_floor_above_what_was_found_leaves_no_run_time(void **state)
{
    (void)state;
    const struct cunei_overhead overhead = {.floor_ns = 100, .cpu_ns = 60};

    assert_float_equal(cunei_overhead_run_ns(&overhead, CUNEI_OVERHEAD_USUAL), 0, 0);
    assert_float_equal(cunei_overhead_cost_ns(&overhead, CUNEI_OVERHEAD_USUAL, 0), 100,
                       0);
}

static void nothing_costs_nothing(void **state)
{
    (void)state;
    const struct cunei_overhead overhead = {.cpu_ns = 60};

    assert_float_equal(cunei_overhead_run_ns(&overhead, CUNEI_OVERHEAD_MOST), 60, 1e-6);
    assert_float_equal(cunei_overhead_cost_ns(&overhead, CUNEI_OVERHEAD_MOST, 60), 0,
                       0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_time_and_cost_are_what_was_found),
        cmocka_unit_test(bounds_are_in_order),
        cmocka_unit_test(an_event_costs_more_where_events_are_rare),
        cmocka_unit_test(a_floor_above_what_was_found_leaves_no_run_time),
        cmocka_unit_test(nothing_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
