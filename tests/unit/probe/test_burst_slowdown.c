// SPDX-License-Identifier: MIT
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probe/budget/burst_slowdown.h"

static void bursts_at_half_the_speed_have_half_the_events(void **state)
{
    struct cunei_burst_slowdown progress = {0};
    double speed;
    (void)state;

    for (int i = 0; i < 20; i++)
        cunei_burst_slowdown_add(&progress, 10 + i % 3, 2 * (10 + i % 3));

    double error = cunei_burst_slowdown_speed(&progress, &speed);
    assert_true(fabs(speed - 0.5) < 1e-9);
    assert_true(error < 0.01);
}

static void few_events_say_nothing(void **state)
{
    struct cunei_burst_slowdown progress = {0};
    double speed;
    (void)state;

    for (int i = 0; i < 20; i++)
        cunei_burst_slowdown_add(&progress, i % 2, 1);

    assert_true(cunei_burst_slowdown_speed(&progress, &speed) >= 1);
    assert_true(speed == 1);
}

/* Nothing but functions that are demoted is left, once a program has begun. */
static void one_burst_alone_says_nothing(void **state)
{
    struct cunei_burst_slowdown progress = {0};
    double speed;
    (void)state;

    cunei_burst_slowdown_add(&progress, 250, 1300);
    for (int i = 0; i < 20; i++)
        cunei_burst_slowdown_add(&progress, 0, i % 2);

    assert_true(cunei_burst_slowdown_speed(&progress, &speed) >= 1);
    assert_true(speed == 1);
}

/* At four fifths of the speed, in bursts that differ: the error says by how much. */
static void the_error_is_that_of_chance(void **state)
{
    unsigned within = 0;
    (void)state;

    srand(11);
    for (int run = 0; run < 200; run++) {
        struct cunei_burst_slowdown progress = {0};
        double speed;
        for (int i = 0; i < 40; i++) {
            double expected = 10 + rand() % 10;
            cunei_burst_slowdown_add(&progress, 0.8 * expected + rand() % 9 - 4,
                                     expected);
        }
        double error = cunei_burst_slowdown_speed(&progress, &speed);
        within += fabs(speed - 0.8) < 2 * error;
    }
    assert_true(within >= 180);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts_at_half_the_speed_have_half_the_events),
        cmocka_unit_test(few_events_say_nothing),
        cmocka_unit_test(one_burst_alone_says_nothing),
        cmocka_unit_test(the_error_is_that_of_chance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
