// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "readtape.h"

enum {
    ENTER = CUNEI_PHASE_ENTER,
    LEAVE = CUNEI_PHASE_LEAVE,
    RESUME = CUNEI_PHASE_RESUME,
    YIELD = CUNEI_PHASE_YIELD
};

static const struct cunei_task_facts *task(uint64_t number)
{
    uint32_t index = cunei_tasks_find(&profile.tasks, number);

    assert_int_not_equal(index, 0);
    return &profile.tasks.items[index];
}

static uint32_t slot(uint32_t function)
{
    return function - CUNEI_FUNCTION_FIRST + 1;
}

/* F is the loop, G and H are coroutines of two tasks. */
static void put_two_tasks(bool cut)
{
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_step(&tape, 1, "Task-1", G, ENTER, 10);
    tape_enter(&tape, H, 12);
    if (cut)
        tape_packet(&tape, 1, 15);
    tape_event(&tape, H, YIELD, 18);
    tape_event(&tape, G, YIELD, 20);
    tape_step(&tape, 2, "Task-2", H, ENTER, 30);
    tape_event(&tape, H, YIELD, 35);
    if (cut)
        tape_packet(&tape, 1, 38);
    tape_step(&tape, 1, "", G, RESUME, 40);
    if (cut)
        tape_packet(&tape, 1, 41);
    tape_leave(&tape, G, 47);
    tape_step(&tape, 2, "renamed", H, RESUME, 50);
    tape_unwind(&tape, 1, 60);
    tape_leave(&tape, H, 60);
    tape_leave(&tape, F, 70);
}

static void check_two_tasks(void)
{
    assert_int_equal(task(1)->steps, 2);
    assert_int_equal(task(1)->run, 10 + 7);
    assert_int_equal(cunei_tasks_wait(task(1)), 20);
    assert_int_equal(task(1)->slot, slot(G));
    assert_string_equal(task(1)->name, "Task-1");
    assert_true(task(1)->has_ended);
    assert_false(task(1)->has_raised);
    assert_int_equal(task(2)->run, 5 + 10);
    assert_int_equal(cunei_tasks_wait(task(2)), 15);
    assert_int_equal(task(2)->slot, slot(H));
    assert_string_equal(task(2)->name, "renamed");
    assert_true(task(2)->has_ended && task(2)->has_raised);
    assert_int_equal(profile.orphans + profile.unclosed + profile.appeared, 0);
    assert_int_equal(facts(G)->calls, 1);
    assert_int_equal(facts(G)->resumes, 1);
    assert_int_equal(facts(G)->total, 17);
    assert_int_equal(facts(G)->max_ns, 10);
    assert_int_equal(facts(G)->suspended, 20);
}

static void steps_are_run_time_and_what_lies_between_is_waiting(void **state)
{
    (void)state;
    put_two_tasks(false);

    read_tape();

    check_two_tasks();
    assert_int_equal(span.threads[0].calls, 4);
    assert_int_equal(profile.events, 18);
}

static void tasks_are_the_same_in_pieces(void **state)
{
    (void)state;
    put_two_tasks(true);

    read_tape_in(1);

    check_two_tasks();
}

static void a_task_inside_another_takes_its_place(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_step(&tape, 1, "outer", F, ENTER, 0);
    tape_step(&tape, 2, "eager", G, ENTER, 10);
    tape_packet(&tape, 1, 15);
    tape_leave(&tape, G, 30);
    tape_leave(&tape, F, 35);

    read_tape_in(1);

    assert_int_equal(task(1)->run, 10 + 5);
    assert_int_equal(task(2)->run, 20);
    assert_int_equal(cunei_tasks_wait(task(1)), 0);
    assert_int_equal(cunei_tasks_wait(task(2)), 0);
}

static void calls_of_its_own_coroutine_do_not_end_a_step(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_step(&tape, 1, "", G, ENTER, 0);
    tape_enter(&tape, G, 10);
    tape_leave(&tape, G, 20);
    tape_leave(&tape, G, 30);

    read_tape();

    assert_int_equal(task(1)->run, 30);
    assert_null(task(1)->name);
}

static void a_switch_to_another_greenlet_does_not_end_a_step(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_step(&tape, 1, "", G, ENTER, 10);
    tape_switch(&tape, 2, NULL, 0, 20);
    tape_enter(&tape, H, 21);
    tape_leave(&tape, H, 30);
    tape_packet(&tape, 1, 31);
    tape_switch(&tape, 1, (uint32_t[]){F, G}, 2, 32);
    tape_event(&tape, G, YIELD, 40);
    tape_leave(&tape, F, 50);

    read_tape_in(1);

    assert_int_equal(task(1)->run, 30);
    assert_false(task(1)->has_ended);
    assert_int_equal(task(1)->last, 40);
}

static void a_task_that_runs_at_the_end_ran_up_to_it(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_step(&tape, 1, "", G, ENTER, 10);
    tape_enter(&tape, H, 40);

    read_tape();

    assert_int_equal(task(1)->run, 30);
    assert_false(task(1)->has_ended);
}

static void a_step_whose_end_is_lost_ends_where_events_do(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_step(&tape, 1, "", G, ENTER, 10);
    tape_enter(&tape, H, 40);
    tape.depth = 0;
    tape.discarded = 100;
    tape_packet(&tape, 1, 900);
    tape_enter(&tape, F, 1000);

    read_tape_in(1);

    assert_int_equal(task(1)->run, 30);
    assert_int_equal(task(1)->last, 40);
}

/* What is thrown into G, which awaits H, arrives in H first. */
static void put_exception_from_outside(void)
{
    tape_packet(&tape, 1, 0);
    tape_step(&tape, 1, "Task-1", G, ENTER, 10);
    tape_enter(&tape, H, 11);
    tape_event(&tape, H, YIELD, 12);
    tape_event(&tape, G, YIELD, 13);
    tape_step(&tape, 1, "", H, RESUME, 20);
    tape_unwind(&tape, 1, 25);
    tape_leave(&tape, H, 25);
    tape_packet(&tape, 1, 25);
    tape_task(&tape, 1, "", LEAVE, 26);
    tape_event(&tape, G, RESUME, 26);
    tape_unwind(&tape, 1, 30);
    tape_leave(&tape, G, 30);
}

static void check_exception_from_outside(void)
{
    assert_int_equal(task(1)->steps, 2);
    assert_int_equal(task(1)->run, 3 + 5 + 4);
    assert_int_equal(task(1)->slot, slot(G));
    assert_true(task(1)->has_ended && task(1)->has_raised);
}

static void an_exception_that_passes_through_its_coroutines_is_one_step(void **state)
{
    (void)state;
    put_exception_from_outside();

    read_tape();

    check_exception_from_outside();
}

static void it_is_one_step_in_pieces_too(void **state)
{
    (void)state;
    put_exception_from_outside();

    read_tape_in(1);

    check_exception_from_outside();
}

static void a_task_event_without_its_step_names_it(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_task(&tape, 7, "lonely", ENTER, 5);
    tape_leave(&tape, G, 6);

    read_tape();

    assert_string_equal(task(7)->name, "lonely");
    assert_int_equal(task(7)->steps, 0);
}

static void a_name_takes_no_more_than_its_room(void **state)
{
    char name[2 * CUNEI_TASK_NAME_MAX];
    (void)state;
    memset(name, 'n', sizeof(name));

    uint32_t index = cunei_tasks_find(&profile.tasks, 7);
    cunei_tasks_name(&profile.tasks, index, name, sizeof(name), 5);

    assert_int_equal(strlen(task(7)->name), CUNEI_TASK_NAME_MAX);
}

/* Tasks 1 to `count`, of which every tenth lives on. */
static void make_tasks(struct cunei_tasks *tasks, uint64_t count)
{
    for (uint64_t number = 1; number <= count; number++) {
        uint32_t index = cunei_tasks_find(tasks, number);
        cunei_tasks_name(tasks, index, "task", 4, number);
        cunei_tasks_begin(&tasks->items[index], 1, false, number);
        cunei_tasks_see(&tasks->items[index], number + 1, number % 10 != 0, false);
    }
}

static void tasks_that_ended_long_ago_are_forgotten(void **state)
{
    (void)state;
    struct cunei_tasks tasks = {0};
    make_tasks(&tasks, 1000);

    cunei_tasks_forget(&tasks, 50);

    assert_int_equal(tasks.count, 1 + 100 + 50);
    assert_int_equal(tasks.forgotten, 1000 - 150);
    for (uint64_t number = 10; number <= 1000; number += 10)
        assert_int_equal(tasks.items[cunei_tasks_find(&tasks, number)].steps, 1);
    assert_int_equal(tasks.items[cunei_tasks_find(&tasks, 999)].number, 999);
    assert_int_equal(tasks.items[cunei_tasks_find(&tasks, 946)].steps, 1);
    assert_int_equal(tasks.count, 1 + 100 + 50);
    assert_int_equal(tasks.items[cunei_tasks_find(&tasks, 1)].steps, 0);
    cunei_tasks_fini(&tasks);
}

static void few_tasks_are_not_forgotten(void **state)
{
    (void)state;
    struct cunei_tasks tasks = {0};
    make_tasks(&tasks, 90);

    cunei_tasks_forget(&tasks, 50);

    assert_int_equal(tasks.count, 91);
    assert_int_equal(tasks.forgotten, 0);
    cunei_tasks_fini(&tasks);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_that_ended_long_ago_are_forgotten),
        cmocka_unit_test(few_tasks_are_not_forgotten),
        TEST(steps_are_run_time_and_what_lies_between_is_waiting),
        TEST(tasks_are_the_same_in_pieces),
        TEST(a_task_inside_another_takes_its_place),
        TEST(calls_of_its_own_coroutine_do_not_end_a_step),
        TEST(a_switch_to_another_greenlet_does_not_end_a_step),
        TEST(a_task_that_runs_at_the_end_ran_up_to_it),
        TEST(a_step_whose_end_is_lost_ends_where_events_do),
        TEST(an_exception_that_passes_through_its_coroutines_is_one_step),
        TEST(it_is_one_step_in_pieces_too),
        TEST(a_task_event_without_its_step_names_it),
        TEST(a_name_takes_no_more_than_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
