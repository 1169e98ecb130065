// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/budget/governor.h"

/* What counting costs, of what recording does. */
#define COUNTED 0.4

static enum cunei_level level_of(const struct cunei_candidate *items, size_t count,
                                 uint32_t place)
{
    for (size_t i = 0; i < count; i++) {
        if (items[i].place == place)
            return items[i].wanted;
    }
    fail_msg("there is no candidate %u", place);
    return CUNEI_LEVELS;
}

static void what_fits_is_recorded_in_full(void **state)
{
    struct cunei_candidate items[] = {{.place = 0, .load = 0.01, .self = 0.5},
                                      {.place = 1, .load = 0.03, .self = 0.1}};
    const struct cunei_limits limits = {.allowed = 0.05, .counted = COUNTED};
    (void)state;

    assert_int_equal(cunei_governor_decide(items, 2, &limits), 0);

    assert_int_equal(items[0].wanted, CUNEI_LEVEL_FULL);
    assert_int_equal(items[1].wanted, CUNEI_LEVEL_FULL);
}

static void tiny_and_hot_goes_first(void **state)
{
    struct cunei_candidate items[] = {{.place = 0, .load = 0.5, .self = 0.02},
                                      {.place = 1, .load = 0.5, .self = 0.9},
                                      {.place = 2, .load = 0.02, .self = 0.05}};
    const struct cunei_limits limits = {.allowed = 0.55, .counted = COUNTED};
    (void)state;

    assert_int_equal(cunei_governor_decide(items, 3, &limits), 1);

    assert_int_equal(level_of(items, 3, 0), CUNEI_LEVEL_OFF);
    assert_int_equal(level_of(items, 3, 1), CUNEI_LEVEL_FULL);
    assert_int_equal(level_of(items, 3, 2), CUNEI_LEVEL_FULL);
}

static void what_is_affordable_when_counted_is_counted(void **state)
{
    struct cunei_candidate items[] = {{.place = 0, .load = 0.08, .self = 0.1}};
    const struct cunei_limits limits = {.allowed = 0.05, .counted = COUNTED};
    (void)state;

    assert_int_equal(cunei_governor_decide(items, 1, &limits), 1);

    assert_int_equal(items[0].wanted, CUNEI_LEVEL_COUNTED);
}

static void what_cannot_be_switched_leaves_less_for_the_others(void **state)
{
    struct cunei_candidate items[] = {{.place = 0, .load = 0.04, .self = 0.1}};
    const struct cunei_limits limits = {
        .allowed = 0.05, .fixed = 0.045, .counted = COUNTED};
    (void)state;

    (void)cunei_governor_decide(items, 1, &limits);

    assert_int_equal(items[0].wanted, CUNEI_LEVEL_OFF);
}

static void a_demoted_function_comes_back_only_where_there_is_room_to_spare(
    void **state)
{
    struct cunei_candidate items[] = {
        {.place = 0, .load = 0.045, .self = 0.1, .level = CUNEI_LEVEL_OFF}};
    const struct cunei_limits narrow = {.allowed = 0.05, .counted = COUNTED};
    const struct cunei_limits wide = {.allowed = 0.06, .counted = COUNTED};
    (void)state;

    (void)cunei_governor_decide(items, 1, &narrow);
    assert_int_not_equal(items[0].wanted, CUNEI_LEVEL_FULL);

    assert_int_equal(cunei_governor_decide(items, 1, &wide), 1);
    assert_int_equal(items[0].wanted, CUNEI_LEVEL_FULL);
}

static void cheap_functions_are_left_alone(void **state)
{
    struct cunei_candidate items[] = {{.place = 0, .load = 1.5, .self = 0.3},
                                      {.place = 1, .load = 1e-6, .self = 0.5}};
    const struct cunei_limits limits = {
        .allowed = 0.05, .fixed = 0.06, .counted = COUNTED};
    (void)state;

    assert_int_equal(cunei_governor_decide(items, 2, &limits), 1);

    assert_int_equal(level_of(items, 2, 1), CUNEI_LEVEL_FULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_recorded_in_full),
        cmocka_unit_test(tiny_and_hot_goes_first),
        cmocka_unit_test(what_is_affordable_when_counted_is_counted),
        cmocka_unit_test(what_cannot_be_switched_leaves_less_for_the_others),
        cmocka_unit_test(
            a_demoted_function_comes_back_only_where_there_is_room_to_spare),
        cmocka_unit_test(cheap_functions_are_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
