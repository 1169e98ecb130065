// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/units.h"
#include "top/sums/history.h"
#include "top/sums/rates.h"

#define S CUNEI_NS_PER_S

/* One function has the whole second for itself. */
static int add(struct cunei_top_history *history, uint64_t second, uint32_t function,
               uint32_t function_count)
{
    struct cunei_top_rate *functions = calloc(function_count, sizeof(*functions));
    functions[function] = (struct cunei_top_rate){.calls = 7, .self_ns = S};
    const struct cunei_top_rates rates = {.seconds = 1,
                                          .functions = functions,
                                          .function_count = function_count,
                                          .work_ns = S,
                                          .threads_ns = S,
                                          .events = 14};

    int rc = cunei_top_history_add(history, second * S, &rates);
    free(functions);
    return rc;
}

static void a_point_stands_for_a_second(void **state)
{
    (void)state;
    struct cunei_top_history history = {0};

    assert_int_equal(add(&history, 1000, 3, 5), 0);
    assert_int_equal(add(&history, 1001, 4, 5), 0);

    const struct cunei_top_point *points = cunei_top_history_of(&history, 3);
    assert_non_null(points);
    assert_true(points[cunei_top_history_slot(&history, 0)].self_share == 0);
    assert_true(points[cunei_top_history_slot(&history, 1)].self_share == 1);
    assert_true(points[cunei_top_history_slot(&history, 1)].calls == 7);
    assert_null(cunei_top_history_of(&history, 0));
    assert_int_equal(history.point_count, 2);
    assert_true(history.events[cunei_top_history_slot(&history, 0)] == 14);
    cunei_top_history_fini(&history);
}

static void ten_minutes_are_kept(void **state)
{
    (void)state;
    struct cunei_top_history history = {0};

    for (uint64_t i = 0; i < UINT64_C(2) * CUNEI_TOP_HISTORY_SECONDS; i++)
        assert_int_equal(add(&history, 1000 + i, i % 2, 2), 0);

    const struct cunei_top_point *points = cunei_top_history_of(&history, 1);
    assert_int_equal(history.point_count, CUNEI_TOP_HISTORY_SECONDS);
    for (uint32_t i = 0; i < CUNEI_TOP_HISTORY_SECONDS; i++)
        assert_true(points[cunei_top_history_slot(&history, i)].self_share ==
                    (i % 2 == 0 ? 1 : 0));
    cunei_top_history_fini(&history);
}

/* Two samples that are a little more than a second apart can leave out a second. */
static void no_second_is_left_out(void **state)
{
    (void)state;
    struct cunei_top_history history = {0};

    assert_int_equal(add(&history, 1000, 0, 1), 0);
    assert_int_equal(add(&history, 1002, 0, 1), 0);

    const struct cunei_top_point *points = cunei_top_history_of(&history, 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(points[cunei_top_history_slot(&history, i)].self_share == 1);
    cunei_top_history_fini(&history);
}

static void memory_is_bounded_and_the_quietest_function_goes(void **state)
{
    (void)state;
    struct cunei_top_history history = {0};
    const uint32_t count = CUNEI_TOP_HISTORY_FUNCTIONS + 10;

    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(add(&history, 1000 + i, i, count), 0);

    assert_int_equal(history.place_count, CUNEI_TOP_HISTORY_FUNCTIONS);
    assert_null(cunei_top_history_of(&history, 0));
    assert_null(cunei_top_history_of(&history, 9));
    assert_non_null(cunei_top_history_of(&history, 10));
    assert_non_null(cunei_top_history_of(&history, count - 1));
    cunei_top_history_fini(&history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_stands_for_a_second),
        cmocka_unit_test(ten_minutes_are_kept),
        cmocka_unit_test(no_second_is_left_out),
        cmocka_unit_test(memory_is_bounded_and_the_quietest_function_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
