// SPDX-License-Identifier: MIT
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probe/budget/estimate.h"

#define GAP_NS   50e6
#define BURST_NS 2e6

/* Nothing is known besides. */
static const struct cunei_second_rates none;

static void assert_near(double got, double wanted, double tolerance)
{
    if (fabs(got - wanted) > tolerance)
        fail_msg("got %g, wanted %g ± %g", got, wanted, tolerance);
}

/* A thing that happens `rate` times in a nanosecond, ten ticks long. */
static struct cunei_rates rates(double rate)
{
    return (struct cunei_rates){.calls = rate, .self = 10 * rate, .total = 10 * rate};
}

static struct cunei_sample take(struct cunei_estimate *estimate)
{
    struct cunei_sample sample;

    cunei_estimate_take(estimate, 1024, 1, &sample);
    return sample;
}

static void between_two_bursts_it_went_on_at_their_mean(void **state)
{
    struct cunei_estimate estimate = {.last = rates(0.01), .last_ns = BURST_NS};
    const struct cunei_rates next = rates(0.02);
    (void)state;

    cunei_estimate_gap(&estimate, GAP_NS, &next, BURST_NS, -1, 0, &none);

    struct cunei_sample sample = take(&estimate);
    assert_int_equal(sample.calls, 750000);
    assert_int_equal(sample.self, 7500000);
    assert_int_equal(sample.span, GAP_NS);
    assert_false(sample.flags & CUNEI_SAMPLE_COUNTED);
}

/* A generator that continues for long: no call is known of, and none was counted. */
static void no_calls_in_bursts_are_not_counts(void **state)
{
    const struct cunei_rates next = {.resumes = 0.01, .self = 0.1, .total = 0.1};
    struct cunei_estimate estimate = {.last = next, .last_ns = BURST_NS};
    (void)state;

    cunei_estimate_gap(&estimate, GAP_NS, &next, BURST_NS, -1, 0, &none);

    struct cunei_sample sample = take(&estimate);
    assert_int_equal(sample.calls, 0);
    assert_int_equal(sample.resumes, 500000);
    assert_false(sample.flags & CUNEI_SAMPLE_COUNTED);
}

/* What is demoted is so because it was hot: what came behind is known by a burst. */
static void what_it_was_chosen_by_does_not_count(void **state)
{
    struct cunei_estimate estimate = {
        .last = rates(0.03), .last_ns = BURST_NS, .is_chosen = true};
    const struct cunei_rates next = rates(0.01);
    (void)state;

    cunei_estimate_gap(&estimate, GAP_NS, &next, BURST_NS, -1, 0, &none);
    cunei_estimate_gap(&estimate, GAP_NS, &next, BURST_NS, -1, 0, &none);

    struct cunei_sample sample = take(&estimate);
    assert_int_equal(sample.calls, 1000000);
    assert_true(sample.calls_error > 500000);
}

static void without_a_burst_after_it_a_gap_is_unsure(void **state)
{
    struct cunei_estimate estimate = {
        .last = rates(0.01), .last_ns = BURST_NS, .is_chosen = true};
    (void)state;

    cunei_estimate_gap(&estimate, GAP_NS, NULL, 0, -1, 0, &none);

    struct cunei_sample sample = take(&estimate);
    assert_int_equal(sample.calls, 500000);
    assert_true(sample.calls_error > 350000);
}

static void steady_bursts_leave_little_doubt(void **state)
{
    struct cunei_estimate estimate = {.last = rates(0.01), .last_ns = BURST_NS};
    const struct cunei_rates next = rates(0.01);
    (void)state;

    for (int i = 0; i < 100; i++)
        cunei_estimate_gap(&estimate, GAP_NS, &next, BURST_NS, -1, 0, &none);

    struct cunei_sample sample = take(&estimate);
    assert_int_equal(sample.calls, 50000000);
    assert_true(sample.calls_error < 500);
}

/* Rates that jump at random: the truth of a gap is a mean of many of them. */
static void the_width_holds_where_bursts_differ(void **state)
{
    unsigned within = 0;
    (void)state;

    srand(7);
    for (int run = 0; run < 200; run++) {
        struct cunei_estimate estimate = {0};
        double truth = 0;
        for (int i = 0; i < 60; i++) {
            struct cunei_rates burst = rates(0.001 * (rand() % 20));
            for (int j = 0; j < 10 && i > 0; j++)
                truth += GAP_NS / 10 * 0.001 * (rand() % 20);
            if (i == 0) {
                estimate.last = burst;
                estimate.last_ns = BURST_NS;
            } else
                cunei_estimate_gap(&estimate, GAP_NS, &burst, BURST_NS, -1, 0, &none);
        }
        struct cunei_sample sample = take(&estimate);
        within += fabs((double)sample.calls - truth) < 2 * (double)sample.calls_error;
    }
    assert_true(within >= 190);
}

static void counted_calls_are_what_was_counted(void **state)
{
    struct cunei_estimate estimate = {.last = rates(0.01), .last_ns = BURST_NS};
    const struct cunei_rates next = rates(0.01);
    (void)state;

    cunei_estimate_gap(&estimate, GAP_NS, &next, BURST_NS, 1234, 0.5, &none);

    struct cunei_sample sample = take(&estimate);
    assert_int_equal(sample.calls, 1234);
    assert_int_equal(sample.calls_error, 0);
    assert_int_equal(sample.bias, 0);
    assert_true(sample.flags & CUNEI_SAMPLE_COUNTED);
}

/* No burst follows; earlier bursts have shown how much they differ. */
static void without_a_burst_after_it_a_gap_is_as_wide_as_those_before(void **state)
{
    struct cunei_estimate estimate = {.last = rates(0.01), .last_ns = BURST_NS};
    const struct cunei_rates next = rates(0.02);
    (void)state;
    cunei_estimate_gap(&estimate, GAP_NS, &next, BURST_NS, -1, 0, &none);
    double before = (double)take(&estimate).calls_error;

    cunei_estimate_gap(&estimate, GAP_NS, NULL, 0, -1, 0, &none);

    assert_near((double)take(&estimate).calls_error, before, 1);
}

static void resumes_are_as_wide_as_bursts_differ(void **state)
{
    struct cunei_estimate estimate = {.last = {.resumes = 0.01}, .last_ns = BURST_NS};
    const struct cunei_rates next = {.resumes = 0.02};
    (void)state;

    cunei_estimate_gap(&estimate, GAP_NS, &next, BURST_NS, -1, 0.1, &none);

    struct cunei_sample sample = take(&estimate);
    assert_near((double)sample.resumes_error, GAP_NS * 0.01 / sqrt(2), 1);
    assert_int_equal(sample.bias, 100000);
}

/* Of 10 ticks a call, 5 may be what an event costs: half of it, in every gap alike. */
static void own_time_is_as_unsure_as_what_events_cost(void **state)
{
    struct cunei_rates steady = rates(0.01);
    steady.self_wrong = steady.self / 2;
    struct cunei_estimate estimate = {.last = steady, .last_ns = BURST_NS};
    (void)state;

    for (int i = 0; i < 10; i++)
        cunei_estimate_gap(&estimate, GAP_NS, &steady, BURST_NS, -1, 0, &none);

    struct cunei_sample sample = take(&estimate);
    assert_int_equal(sample.self_bias, 500000);
    assert_int_equal(sample.bias, 0);
}

static void parts_of_calls_add_up_over_samples(void **state)
{
    struct cunei_estimate estimate = {.last = rates(0.4 / GAP_NS), .last_ns = BURST_NS};
    const struct cunei_rates next = rates(0.4 / GAP_NS);
    uint64_t calls = 0;
    (void)state;

    for (int i = 0; i < 10; i++) {
        cunei_estimate_gap(&estimate, GAP_NS, &next, BURST_NS, -1, 0, &none);
        calls += take(&estimate).calls;
    }

    assert_int_equal(calls, 4);
}

static void a_sample_is_reported_once(void **state)
{
    struct cunei_estimate estimate = {.last = rates(0.01), .last_ns = BURST_NS};
    (void)state;

    cunei_estimate_gap(&estimate, GAP_NS, NULL, 0, -1, 0.1, &none);

    assert_int_equal(take(&estimate).bias, 100000);
    assert_int_equal(take(&estimate).calls, 0);
}

static void callers_share_what_was_seen_of_them(void **state)
{
    struct cunei_estimate estimate = {.last = rates(0.01), .last_ns = BURST_NS};
    const struct cunei_observed seen = {
        .calls = 100, .self = 1000, .callers = {{1030, 75, 750}, {1031, 25, 250}}};
    struct cunei_sample sample;
    (void)state;

    cunei_estimate_gap(&estimate, GAP_NS, NULL, 0, -1, 0, &none);
    cunei_estimate_callers(&estimate, &seen);

    assert_true(cunei_estimate_caller(&estimate, 1024, 0, &sample));
    assert_int_equal(sample.caller, 1030);
    assert_int_equal(sample.calls, 375000);
    assert_true(cunei_estimate_caller(&estimate, 1024, 1, &sample));
    assert_int_equal(sample.self, 1250000);
    assert_false(cunei_estimate_caller(&estimate, 1024, 2, &sample));
}

/* What a burst of calls of so many ns that count for 20 each would take without that.
 */
static double net_of(const struct cunei_scale *scale, double calls, double each_ns,
                     double *bias)
{
    const struct cunei_scale_side burst = {.calls = calls,
                                           .off = calls,
                                           .time_ns = calls * each_ns,
                                           .cost_ns = calls * 20};

    return cunei_scale_net(scale, true, &burst, bias);
}

/* Calls of 60 ns; events cost 40 and 20 by what is known, half as much again here. */
static void two_loads_show_what_events_cost_here(void **state)
{
    struct cunei_scale scale;
    double bias;
    (void)state;

    cunei_scale_init(&scale, 1);
    for (int i = 0; i < 10; i++) {
        cunei_scale_add(&scale, false, 10000, 10000 * 120, 10000 * 40);
        cunei_scale_add(&scale, true, 10000, 10000 * 90, 10000 * 20);
    }

    assert_near(scale.value, 1.5, 0.001);
    double net = net_of(&scale, 10000, 90, &bias);
    assert_near(net, 10000 * 60, 10000);
    assert_true(bias < 0.15);
}

/* Calls of 60 ns of which a beginning costs 20 to count, and an end 20 more. */
static void two_halves_show_what_counting_costs_here(void **state)
{
    struct cunei_scale scale;
    double bias;
    (void)state;

    cunei_scale_init(&scale, 1);
    for (int i = 0; i < 20; i++)
        cunei_scale_pair(&scale, 100.0 / 80);

    /* Half of the time at 80 ns a call, half of it at 100. */
    double each_ns = 2 / (1.0 / 80 + 1.0 / 100);
    double net = net_of(&scale, 10000, each_ns, &bias);
    assert_near(net / 10000, 60, 4);
    assert_true(bias < 0.15);
}

/* Recorded at two thirds of the speed, by what is recorded around bursts as well. */
static void what_is_always_recorded_shows_what_events_cost(void **state)
{
    struct cunei_scale scale;
    (void)state;

    cunei_scale_init(&scale, 1);
    for (int i = 0; i < 20; i++) {
        cunei_scale_slowdown(&scale, false, 20, 30);
        cunei_scale_add(&scale, false, 10000, 10000 * 120, 10000 * 20);
    }

    assert_near(scale.value, 2, 0.1);
}

/* A second source has the weight `part`. */
static void a_gap_may_be_known_from_somewhere_else(void **state)
{
    struct cunei_estimate estimate = {.last = rates(0.01), .last_ns = BURST_NS};
    const struct cunei_rates next = rates(0.01);
    const struct cunei_second_rates second = {.rates = rates(0.02), .part = 0.75};
    (void)state;

    cunei_estimate_gap(&estimate, GAP_NS, &next, BURST_NS, -1, 0.1, &second);

    struct cunei_sample sample = take(&estimate);
    assert_int_equal(sample.calls, 875000);
    assert_int_equal(sample.self, 8750000);
    assert_int_equal(sample.bias, 25000);
}

/* Every other burst of both kinds meets a machine that is half as fast. */
static void a_machine_that_is_now_slow_now_fast_does_not_matter(void **state)
{
    struct cunei_scale scale;
    double bias;
    (void)state;

    cunei_scale_init(&scale, 1);
    for (int i = 0; i < 80; i++) {
        double slow = i % 4 < 2 ? 1 : 2;
        double calls = 20000 / slow;
        cunei_scale_add(&scale, false, calls, calls * 100 * slow, calls * 40);
        cunei_scale_add(&scale, true, calls, calls * 80 * slow, calls * 20);
    }

    double net = net_of(&scale, 20000, 80, &bias);
    assert_near(net / 20000, 60, 3);
    net = net_of(&scale, 10000, 160, &bias);
    assert_near(net / 10000, 120, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_two_bursts_it_went_on_at_their_mean),
        cmocka_unit_test(no_calls_in_bursts_are_not_counts),
        cmocka_unit_test(what_it_was_chosen_by_does_not_count),
        cmocka_unit_test(without_a_burst_after_it_a_gap_is_unsure),
        cmocka_unit_test(steady_bursts_leave_little_doubt),
        cmocka_unit_test(the_width_holds_where_bursts_differ),
        cmocka_unit_test(counted_calls_are_what_was_counted),
        cmocka_unit_test(without_a_burst_after_it_a_gap_is_as_wide_as_those_before),
        cmocka_unit_test(resumes_are_as_wide_as_bursts_differ),
        cmocka_unit_test(own_time_is_as_unsure_as_what_events_cost),
        cmocka_unit_test(parts_of_calls_add_up_over_samples),
        cmocka_unit_test(a_sample_is_reported_once),
        cmocka_unit_test(callers_share_what_was_seen_of_them),
        cmocka_unit_test(two_loads_show_what_events_cost_here),
        cmocka_unit_test(two_halves_show_what_counting_costs_here),
        cmocka_unit_test(what_is_always_recorded_shows_what_events_cost),
        cmocka_unit_test(a_gap_may_be_known_from_somewhere_else),
        cmocka_unit_test(a_machine_that_is_now_slow_now_fast_does_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
