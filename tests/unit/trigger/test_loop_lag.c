// SPDX-License-Identifier: MIT
/* When an event loop was busy, from events with invented times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "model/walk/walk.h"
#include "packets.h"
#include "trigger/loop_lag.h"
#include "wire/metadata.h"

enum {
    RUN_ONCE = CUNEI_FUNCTION_FIRST,
    SELECT,
    HANDLE,
    CALLBACK,
    CORO,
    ROLES
};

static const uint8_t roles[ROLES - CUNEI_FUNCTION_FIRST] = {CUNEI_LOOP_RUN_ONCE,
                                                            CUNEI_LOOP_SELECT};
static struct tape tape;
static struct cunei_loop_lag lag;
static char text[1024];

static int note_step(void *context, const struct cunei_walk_step *step)
{
    struct cunei_loop_busy busy;
    size_t size = strlen(text);

    (void)context;
    if (cunei_loop_lag_step(&lag, step, roles, sizeof(roles), &busy))
        (void)snprintf(text + size, sizeof(text) - size, "%s%u by %u", size ? ", " : "",
                       (unsigned)busy.ticks,
                       busy.function ? busy.function - CUNEI_FUNCTION_FIRST : 0);
    return 0;
}

/* The busy times of the tape: ticks, and the function that took longest. */
static const char *busy_times(void)
{
    struct cunei_walk *walk =
        cunei_walk_new(note_step, NULL, (struct cunei_id_kinds){0});

    text[0] = '\0';
    lag = (struct cunei_loop_lag){0};
    for (size_t i = 0; i < tape.count; i++)
        assert_int_equal(cunei_walk_packet(walk, &tape.packets[i]->head,
                                           tape.packets[i]->words,
                                           tape.packets[i]->count),
                         0);
    assert_int_equal(cunei_walk_end(walk), 0);
    cunei_walk_free(walk);
    tape_fini(&tape);
    return text;
}

/* A call of a function that calls nothing. */
static void call(uint32_t function, uint64_t begin, uint64_t end)
{
    tape_enter(&tape, function, begin);
    tape_leave(&tape, function, end);
}

static void run_callback(uint32_t function, uint64_t begin, uint64_t end)
{
    tape_enter(&tape, HANDLE, begin);
    call(function, begin, end);
    tape_leave(&tape, HANDLE, end);
}

static void waiting_in_select_is_not_busy(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 100);
    for (uint64_t at = 100; at < 400; at += 100) {
        tape_enter(&tape, RUN_ONCE, at);
        call(SELECT, at + 1, at + 90);
        tape_leave(&tape, RUN_ONCE, at + 95);
    }

    assert_string_equal(busy_times(), "5 by 0, 5 by 0, 5 by 0");
}

static void all_callbacks_of_an_iteration_count_together(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, RUN_ONCE, 100);
    call(SELECT, 101, 110);
    run_callback(CALLBACK, 110, 130);
    run_callback(CORO, 130, 180);
    run_callback(CALLBACK, 180, 200);
    tape_leave(&tape, RUN_ONCE, 201);

    assert_string_equal(busy_times(), "91 by 4");
}

static void a_loop_that_is_cut_off_was_busy_until_then(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, RUN_ONCE, 100);
    call(SELECT, 101, 110);
    tape_enter(&tape, HANDLE, 110);
    tape_enter(&tape, CALLBACK, 110);
    tape_enter(&tape, CORO, 170);

    assert_string_equal(busy_times(), "60 by 0");
}

static void steps_of_tasks_count_where_the_loop_is_not_recorded(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 100);
    tape_step(&tape, 1, "job", CORO, CUNEI_PHASE_ENTER, 100);
    call(CALLBACK, 110, 150);
    tape_event(&tape, CORO, CUNEI_PHASE_YIELD, 160);
    tape_step(&tape, 1, "", CORO, CUNEI_PHASE_RESUME, 300);
    tape_leave(&tape, CORO, 320);

    assert_string_equal(busy_times(), "60 by 4, 20 by 4");
}

static void steps_of_tasks_do_not_count_twice(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, RUN_ONCE, 100);
    call(SELECT, 101, 110);
    tape_enter(&tape, HANDLE, 110);
    tape_step(&tape, 1, "job", CORO, CUNEI_PHASE_ENTER, 110);
    tape_leave(&tape, CORO, 150);
    tape_leave(&tape, HANDLE, 151);
    tape_leave(&tape, RUN_ONCE, 152);

    assert_string_equal(busy_times(), "42 by 4");
}

static void the_functions_of_the_loop_are_known_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *module, *qualname;
        enum cunei_loop_role role;
    } rows[] = {
        {"asyncio.base_events", "BaseEventLoop._run_once", CUNEI_LOOP_RUN_ONCE},
        {"app", "BaseEventLoop._run_once", CUNEI_LOOP_NONE},
        {"selectors", "EpollSelector.select", CUNEI_LOOP_SELECT},
        {"selectors", "SelectSelector.select", CUNEI_LOOP_SELECT},
        {"selectors", "EpollSelector.selector", CUNEI_LOOP_NONE},
        {"selectors", "f", CUNEI_LOOP_NONE},
        {"app", "EpollSelector.select", CUNEI_LOOP_NONE},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct cunei_function function = {.module = rows[i].module,
                                                .qualname = rows[i].qualname};
        assert_int_equal(cunei_loop_role_of(&function), rows[i].role);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_in_select_is_not_busy),
        cmocka_unit_test(all_callbacks_of_an_iteration_count_together),
        cmocka_unit_test(a_loop_that_is_cut_off_was_busy_until_then),
        cmocka_unit_test(steps_of_tasks_count_where_the_loop_is_not_recorded),
        cmocka_unit_test(steps_of_tasks_do_not_count_twice),
        cmocka_unit_test(the_functions_of_the_loop_are_known_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
