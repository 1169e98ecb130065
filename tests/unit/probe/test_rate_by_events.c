// SPDX-License-Identifier: MIT
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probe/budget/rate_by_events.h"

#define NET_NS 1e6

/* Bursts of a machine that is now fast, now slow: steady and calls go in step. */
static struct cunei_rate_by_events in_step(void)
{
    struct cunei_rate_by_events rate = {0};
    double last = -1;

    for (int i = 0; i < 20; i++) {
        double steady = 10 + 10 * (i % 2);
        const struct cunei_rate_by_events_burst burst = {.steady = steady,
                                                         .calls = 100 * steady,
                                                         .resumes = 50 * steady,
                                                         .net_ns = NET_NS,
                                                         .predicted = last};
        cunei_rate_by_events_add(&rate, &burst);
        last = 150 * steady / NET_NS;
    }
    return rate;
}

static void calls_in_step_with_others_are_estimated_by_them(void **state)
{
    struct cunei_rate_by_events rate = in_step();
    (void)state;

    struct cunei_rate_prediction predicted =
        cunei_rate_by_events_predict(&rate, 300, 20 * NET_NS);

    assert_true(predicted.part > 0.99);
    assert_true(fabs(predicted.calls - 30000) < 1e-6);
    assert_true(fabs(predicted.resumes - 15000) < 1e-6);
    assert_true(predicted.error == 0);
    assert_true(predicted.bias > 0.01 && predicted.bias < 0.03);
}

/* A function that is called all the time, whatever the others do. */
static void calls_out_of_step_are_estimated_by_time(void **state)
{
    struct cunei_rate_by_events rate = {0};
    (void)state;

    for (int i = 0; i < 20; i++) {
        const struct cunei_rate_by_events_burst burst = {.steady = i % 2 ? 100 : 10,
                                                         .calls = 5000 + i % 3,
                                                         .net_ns = NET_NS,
                                                         .predicted = 5000 / NET_NS};
        cunei_rate_by_events_add(&rate, &burst);
    }

    assert_true(cunei_rate_by_events_predict(&rate, 1000, 20 * NET_NS).part < 0.01);
}

/* A burst has one move more or less than belongs to its calls. */
static void where_a_burst_begins_is_no_fault_of_moves(void **state)
{
    struct cunei_rate_by_events rate = {0};
    (void)state;

    for (int i = 0; i < 40; i++) {
        const struct cunei_rate_by_events_burst burst = {.steady = 10 + 2 * (i % 2),
                                                         .calls = 11000,
                                                         .net_ns = NET_NS,
                                                         .predicted = 0.011,
                                                         .bias = 0.1};
        cunei_rate_by_events_add(&rate, &burst);
    }

    struct cunei_rate_prediction predicted =
        cunei_rate_by_events_predict(&rate, 330, 30 * NET_NS);
    assert_true(predicted.part > 0.9);
    assert_true(fabs(predicted.calls - 330000) < 5000);
    assert_true(predicted.error + predicted.bias < 0.05);
}

/* Calls of every second burst come half as often with the steady: one ratio is for all
 * gaps, and its own error does not even out from gap to gap. */
static void a_ratio_is_no_surer_than_its_bursts(void **state)
{
    struct cunei_rate_by_events rate = {0};
    (void)state;

    for (int i = 0; i < 100; i++) {
        const struct cunei_rate_by_events_burst burst = {.steady = 1000,
                                                         .calls = i % 2 ? 2000 : 1000,
                                                         .net_ns = NET_NS,
                                                         .predicted = 0.1};
        cunei_rate_by_events_add(&rate, &burst);
    }

    /* A third off, and twenty of them count. */
    struct cunei_rate_prediction predicted =
        cunei_rate_by_events_predict(&rate, 20000, 20 * NET_NS);
    assert_true(predicted.error > 0.3 && predicted.error < 0.4);
    assert_true(fabs(predicted.bias - predicted.error / sqrt(20)) < 0.005);
}

static void few_moves_show_nothing(void **state)
{
    struct cunei_rate_by_events rate = {0};
    const struct cunei_rate_by_events_burst burst = {
        .steady = 0.5, .calls = 50, .net_ns = NET_NS};
    (void)state;

    for (int i = 0; i < 20; i++)
        cunei_rate_by_events_add(&rate, &burst);

    assert_true(cunei_rate_by_events_predict(&rate, 1000, 20 * NET_NS).part == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_in_step_with_others_are_estimated_by_them),
        cmocka_unit_test(calls_out_of_step_are_estimated_by_time),
        cmocka_unit_test(where_a_burst_begins_is_no_fault_of_moves),
        cmocka_unit_test(a_ratio_is_no_surer_than_its_bursts),
        cmocka_unit_test(few_moves_show_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
