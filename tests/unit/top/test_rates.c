// SPDX-License-Identifier: MIT
#include "base/units.h"
#include "made_up.h"
#include "top/sums/known.h"
#include "top/sums/rates.h"
#include "top/sums/sums.h"

#define S CUNEI_NS_PER_S

static struct cunei_top_known known;

static int set_up(void **state)
{
    (void)state;
    return cunei_top_known_init(&known);
}

static int tear_down(void **state)
{
    (void)state;
    cunei_top_known_fini(&known);
    return 0;
}

/* f calls g `calls` times and works for a second each time that 10 seconds pass. */
static struct cunei_top_sums make_sums(uint64_t calls, uint64_t seconds,
                                       uint64_t now_ns)
{
    struct cunei_top_sums sums = {.time_ns = now_ns};
    struct made_up made;

    made_up_init(&made);
    uint32_t f = made_up_function(&made, "app", "f", "/home/ann/app.py", 1);
    uint32_t g = made_up_function(&made, "app", "g", "/home/ann/app.py", 5);
    made_up_calls(&made, f, 1, seconds * S / 4, seconds * S);
    made_up_calls(&made, g, calls, seconds * S * 3 / 4, seconds * S * 3 / 4);
    made_up_way(&made, (uint32_t[]){f}, 1, 1, seconds * S / 4, seconds * S);
    made_up_way(&made, (uint32_t[]){f, g}, 2, calls, seconds * S * 3 / 4,
                seconds * S * 3 / 4);
    struct cunei_analysis_thread *thread =
        made_up_thread(&made, "MainThread", seconds * S);
    made_up_open(thread, (uint32_t[]){f, g}, 2);
    assert_int_equal(cunei_top_sums_add(&sums, &known, &made.analysis), 0);
    made_up_fini(&made);
    return sums;
}

static void rates_are_the_difference_of_two_sums(void **state)
{
    (void)state;
    struct cunei_top_sums before = make_sums(1000, 10, 0);
    struct cunei_top_sums now = make_sums(5000, 12, 0);
    struct cunei_top_rates rates;

    assert_int_equal(cunei_top_rates_make(&rates, &before, &now), 0);

    assert_int_equal(rates.function_count, 2);
    assert_int_equal(rates.functions[1].calls, 4000);
    assert_true(rates.seconds > 1.999 && rates.seconds < 2.001);
    assert_true(cunei_top_rates_per_second(&rates, rates.functions[1].calls) > 1999.9);
    assert_int_equal(rates.functions[0].self_ns, S / 2);
    assert_int_equal(rates.functions[1].self_ns, S * 3 / 2);
    assert_int_equal(rates.functions[0].total_ns, 2 * S);
    assert_int_equal(rates.threads_ns, 2 * S);
    assert_int_equal(rates.work_ns, 2 * S);
    assert_int_equal(rates.events, 8000);
    cunei_top_rates_fini(&rates);
    cunei_top_sums_fini(&before);
    cunei_top_sums_fini(&now);
}

static void rates_of_the_whole_begin_with_the_first_event(void **state)
{
    (void)state;
    struct cunei_top_sums now = make_sums(5000, 10, 0);
    struct cunei_top_rates rates;

    assert_int_equal(cunei_top_rates_make(&rates, NULL, &now), 0);

    assert_true(rates.seconds > 9.999 && rates.seconds < 10.001);
    assert_int_equal(rates.functions[1].calls, 5000);
    cunei_top_rates_fini(&rates);
    cunei_top_sums_fini(&now);
}

/* The last event was after 10 s; now 3 s more have passed. */
static void the_time_since_the_last_event_belongs_to_what_is_open(void **state)
{
    (void)state;
    struct cunei_top_sums now = make_sums(5000, 10, MADE_UP_BEGIN_NS + 13 * S);

    assert_int_equal(now.functions[0].facts.self_ns, 10 * S / 4);
    assert_int_equal(now.functions[0].self_ns, 10 * S / 4);
    assert_int_equal(now.functions[0].total_ns, 13 * S);
    assert_int_equal(now.functions[1].self_ns, 10 * S * 3 / 4 + 3 * S);
    assert_int_equal(now.threads_ns, 13 * S);
    /* The same in the tree, whose root is node 0, and among callers. */
    assert_int_equal(now.nodes[0].total_ns, 13 * S);
    assert_int_equal(now.nodes[2].self_ns, 10 * S * 3 / 4 + 3 * S);
    assert_int_equal(now.edges[2].total_ns, 10 * S * 3 / 4 + 3 * S);
    cunei_top_sums_fini(&now);
}

static void an_open_recursion_counts_once(void **state)
{
    (void)state;
    struct cunei_top_sums sums = {.time_ns = MADE_UP_BEGIN_NS + 5 * S};
    struct made_up made;

    made_up_init(&made);
    uint32_t f = made_up_function(&made, "app", "f", "/home/ann/app.py", 1);
    made_up_calls(&made, f, 3, 4 * S, 4 * S);
    struct cunei_analysis_thread *thread = made_up_thread(&made, "t", 4 * S);
    made_up_open(thread, (uint32_t[]){f, f, f}, 3);

    assert_int_equal(cunei_top_sums_add(&sums, &known, &made.analysis), 0);

    assert_int_equal(sums.functions[0].total_ns, 5 * S);
    assert_int_equal(sums.functions[0].self_ns, 5 * S);
    made_up_fini(&made);
    cunei_top_sums_fini(&sums);
}

static void nothing_is_open_in_a_process_that_has_ended(void **state)
{
    (void)state;
    struct cunei_top_sums sums = {.time_ns = MADE_UP_BEGIN_NS + 50 * S};
    struct made_up made;

    made_up_init(&made);
    made.process.state = CUNEI_TRACE_KILLED;
    uint32_t f = made_up_function(&made, "app", "f", "/home/ann/app.py", 1);
    made_up_calls(&made, f, 1, 4 * S, 4 * S);
    made_up_open(made_up_thread(&made, "t", 4 * S), (uint32_t[]){f}, 1);

    assert_int_equal(cunei_top_sums_add(&sums, &known, &made.analysis), 0);

    assert_int_equal(sums.functions[0].total_ns, 4 * S);
    assert_int_equal(sums.threads[0].open_count, 1);
    assert_true(sums.threads[0].ended);
    made_up_fini(&made);
    cunei_top_sums_fini(&sums);
}

static void functions_of_several_recordings_are_one(void **state)
{
    (void)state;
    struct cunei_top_sums sums = make_sums(100, 10, 0);
    struct made_up made;

    made_up_init(&made);
    made.process.path = (char *)(uintptr_t) "/other/host-8-0";
    /* Another index there, the same identity. */
    uint32_t g = made_up_function(&made, "app", "g", "/home/ann/app.py", 5);
    made_up_calls(&made, g, 11, S, S);
    (void)made_up_thread(&made, "t", S);
    assert_int_equal(cunei_top_sums_add(&sums, &known, &made.analysis), 0);

    assert_int_equal(sums.function_count, 2);
    assert_int_equal(sums.functions[1].facts.calls, 111);
    assert_int_equal(cunei_histogram_count(&sums.functions[1].facts.histogram), 111);
    assert_int_equal(sums.thread_count, 2);
    assert_int_equal(sums.process_count, 2);
    made_up_fini(&made);
    cunei_top_sums_fini(&sums);
}

static void waiting_is_not_work(void **state)
{
    (void)state;
    struct cunei_top_sums sums = {0};
    struct cunei_top_rates rates;
    struct made_up made;

    made_up_init(&made);
    uint32_t wait =
        made_up_function(&made, "threading", "Condition.wait", "/lib/threading.py", 3);
    uint32_t f = made_up_function(&made, "app", "f", "/home/ann/app.py", 1);
    made_up_calls(&made, wait, 1, 3 * S, 3 * S);
    made_up_calls(&made, f, 1, S / 2, S / 2);
    (void)made_up_thread(&made, "t", 4 * S);
    assert_int_equal(cunei_top_sums_add(&sums, &known, &made.analysis), 0);
    assert_int_equal(cunei_top_rates_make(&rates, NULL, &sums), 0);

    assert_int_equal(rates.waiting_ns, 3 * S);
    /* Time in no function is not work either. */
    assert_int_equal(rates.work_ns, S / 2);
    made_up_fini(&made);
    cunei_top_rates_fini(&rates);
    cunei_top_sums_fini(&sums);
}

static struct cunei_top_sums make_task_sums(uint64_t first, uint64_t last,
                                            uint64_t run_ns)
{
    struct cunei_top_sums sums = {0};
    struct made_up made;

    made_up_init(&made);
    for (uint64_t number = last; number >= first; number--)
        made_up_task(&made, number, false, number * run_ns);
    made.analysis.forgotten_tasks = first - 1;
    assert_int_equal(cunei_top_sums_add(&sums, &known, &made.analysis), 0);
    made_up_fini(&made);
    return sums;
}

static void tasks_are_found_again_when_others_are_forgotten(void **state)
{
    (void)state;
    struct cunei_top_sums before = make_task_sums(1, 5, 10);
    struct cunei_top_sums now = make_task_sums(4, 8, 30);

    assert_int_equal(now.task_count, 5);
    assert_int_equal(now.whole.forgotten_tasks, 3);
    for (uint32_t i = 0; i < now.task_count; i++) {
        const struct cunei_top_task *task = &now.tasks[i];
        const struct cunei_top_task *earlier = cunei_top_sums_find_task(&before, task);
        assert_int_equal(task->number, 4 + i);
        assert_int_equal(task->run_ns, 30 * task->number);
        assert_int_equal(earlier != NULL, task->number <= 5);
        if (earlier)
            assert_int_equal(earlier->run_ns, 10 * task->number);
    }
    cunei_top_sums_fini(&before);
    cunei_top_sums_fini(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rates_are_the_difference_of_two_sums, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(rates_of_the_whole_begin_with_the_first_event,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            the_time_since_the_last_event_belongs_to_what_is_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_open_recursion_counts_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_open_in_a_process_that_has_ended,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(functions_of_several_recordings_are_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(waiting_is_not_work, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tasks_are_found_again_when_others_are_forgotten,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
