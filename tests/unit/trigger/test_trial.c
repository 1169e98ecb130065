// SPDX-License-Identifier: MIT
/* How many snapshots firings at invented times would have made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/units.h"
#include "trace/process/process.h"
#include "trigger/firing.h"
#include "trigger/limits.h"
#include "trigger/trial.h"

static struct cunei_trigger_trial trial;

static int begin(void **state)
{
    (void)state;
    trial = (struct cunei_trigger_trial){0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    cunei_trigger_trial_fini(&trial);
    return 0;
}

static void fire(size_t trigger, uint64_t time_ms)
{
    static const struct cunei_trace_process process = {.metadata.pid = 4711};
    char text[] = "";
    const struct cunei_cause cause = {.time_ns = time_ms * CUNEI_NS_PER_MS,
                                      .count = 1,
                                      .trigger = text,
                                      .what = text,
                                      .function = text,
                                      .thread_name = text};
    const struct cunei_trigger_firing firing = {trigger, &process, &cause};

    cunei_trigger_trial_add(&trial, &firing);
}

static void finish(uint64_t interval_ms, uint64_t count)
{
    const struct cunei_snapshot_limits limits = {
        .interval_ns = interval_ms * CUNEI_NS_PER_MS, .count = count};

    cunei_trigger_trial_finish(&trial, &limits);
}

static void firings_come_in_the_order_of_their_time(void **state)
{
    (void)state;
    fire(0, 30);
    fire(1, 10);
    fire(2, 30);
    finish(0, 0);

    assert_int_equal(trial.count, 3);
    assert_int_equal(trial.firings[0].trigger, 1);
    assert_int_equal(trial.firings[1].trigger, 0);
    assert_int_equal(trial.firings[2].trigger, 2);
    assert_int_equal(trial.firings[0].pid, 4711);
}

static void what_fires_within_200_ms_is_one_snapshot(void **state)
{
    (void)state;
    fire(0, 1000);
    fire(1, 1200);
    fire(0, 1201);
    finish(0, 0);

    assert_int_equal(trial.snapshot_count, 2);
    assert_int_equal(trial.fired[0], 2);
    assert_int_equal(trial.snapshots[0], 2);
    assert_int_equal(trial.snapshots[1], 1);
}

static void a_trigger_is_one_cause_of_a_snapshot(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        fire(0, 1000 + i);
    finish(0, 0);

    assert_int_equal(trial.fired[0], 100);
    assert_int_equal(trial.snapshots[0], 1);
}

static void the_limits_count(void **state)
{
    (void)state;
    for (uint64_t second = 0; second < 10; second++)
        fire(0, 1000 * second);
    finish(2000, 3);

    assert_int_equal(trial.snapshot_count, 3);
    assert_int_equal(trial.snapshots[0], 3);
}

static void no_firing_is_no_snapshot(void **state)
{
    (void)state;
    finish(0, 0);

    assert_int_equal(trial.snapshot_count, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(firings_come_in_the_order_of_their_time),
        TEST(what_fires_within_200_ms_is_one_snapshot),
        TEST(a_trigger_is_one_cause_of_a_snapshot),
        TEST(the_limits_count),
        TEST(no_firing_is_no_snapshot),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
