// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "readtape.h"

enum {
    RAISED = CUNEI_PHASE_ENTER,
    CAUGHT = CUNEI_PHASE_LEAVE,
    RAISED_AGAIN = CUNEI_PHASE_RESUME
};

static uint32_t slot(uint32_t function)
{
    return function - CUNEI_FUNCTION_FIRST + 1;
}

static const struct cunei_raise *raise_of(const char *type, uint32_t line)
{
    for (uint32_t i = 1; i < profile.exceptions.count; i++) {
        const struct cunei_raise *item = &profile.exceptions.items[i];
        if (strcmp(item->type, type) == 0 && item->line == line)
            return item;
    }
    fail_msg("no %s at line %u", type, line);
    return NULL;
}

static int64_t kept_by(const struct cunei_raise *raise, uint32_t handler, uint32_t line)
{
    for (uint32_t i = 1; i < profile.exceptions.handler_count; i++) {
        const struct cunei_handler *item = &profile.exceptions.handlers[i];
        if (item->exception == raise - profile.exceptions.items &&
            item->slot == handler && item->line == line)
            return item->count;
    }
    return -1;
}

static void an_exception_is_counted_once_where_it_was_raised(void **state)
{
    (void)state;
    const struct tape_raise value = {"ValueError", F, 10, G, 20, 2};
    const struct tape_raise key = {"KeyError", F, 10, 0, 0, 1};
    const struct tape_raise other = {"ValueError", F, 11, 0, 0, 0};
    tape_packet(&tape, 1, 0);
    tape_exception(&tape, &value, RAISED, 1);
    tape_exception(&tape, &value, CAUGHT, 2);
    tape_exception(&tape, &value, RAISED, 3);
    tape_exception(&tape, &key, RAISED, 4);
    tape_exception(&tape, &key, CAUGHT, 5);
    tape_exception(&tape, &other, RAISED, 6);

    read_tape();

    const struct cunei_raise *raise = raise_of("ValueError", 10);
    assert_int_equal(raise->count, 2);
    assert_int_equal(raise->caught, 1);
    assert_int_equal(raise->unwound, 2);
    assert_int_equal(raise->unwound_max, 2);
    assert_int_equal(raise->slot, slot(F));
    assert_int_equal(kept_by(raise, slot(G), 20), 1);
    assert_int_equal(raise_of("KeyError", 10)->count, 1);
    assert_int_equal(kept_by(raise_of("KeyError", 10), 0, 0), 1);
    assert_int_equal(raise_of("ValueError", 11)->caught, 0);
}

static void a_handler_that_raises_again_did_not_catch_it(void **state)
{
    (void)state;
    const struct tape_raise through = {"app.Error", F, 10, G, 20, 1};
    const struct tape_raise kept = {"app.Error", F, 10, H, 30, 3};
    tape_packet(&tape, 1, 0);
    tape_exception(&tape, &through, RAISED, 1);
    tape_exception(&tape, &through, CAUGHT, 2);
    tape_packet(&tape, 1, 3);
    tape_exception(&tape, &through, RAISED_AGAIN, 4);
    tape_exception(&tape, &kept, CAUGHT, 5);

    read_tape_in(1);

    const struct cunei_raise *raise = raise_of("app.Error", 10);
    assert_int_equal(raise->count, 1);
    assert_int_equal(raise->caught, 1);
    assert_int_equal(raise->unwound, 3);
    assert_int_equal(kept_by(raise, slot(G), 20), 0);
    assert_int_equal(kept_by(raise, slot(H), 30), 1);
}

static void an_exception_that_is_not_caught_is_unhandled_and_keeps_its_depth(
    void **state)
{
    (void)state;
    const struct tape_raise fatal = {
        "ValueError", F, 10, 0, CUNEI_EXCEPTION_UNHANDLED, 3};
    struct cunei_exceptions sum = {0};
    tape_packet(&tape, 1, 0);
    for (uint64_t time = 0; time < 9; time += 3) {
        tape_exception(&tape, &fatal, RAISED, time + 1);
        tape_exception(&tape, &fatal, CAUGHT, time + 2);
    }
    tape_exception(&tape, &fatal, RAISED_AGAIN, 10);

    read_tape();

    const struct cunei_raise *raise = raise_of("ValueError", 10);
    assert_int_equal(raise->caught, 0);
    assert_int_equal(raise->unhandled, 2);
    assert_int_equal(raise->unwound, 6);
    assert_int_equal(raise->unwound_max, 3);
    assert_int_equal(profile.exceptions.handler_count, 0);
    cunei_exceptions_add(&sum, &profile.exceptions, NULL);
    assert_int_equal(sum.items[1].unhandled, 2);
    cunei_exceptions_fini(&sum);
}

static void other_processes_add_up_by_type_function_and_line(void **state)
{
    (void)state;
    const struct tape_raise raise = {"ValueError", F, 10, G, 20, 2};
    static const uint32_t map[FUNCTION_COUNT + 1] = {0, 2, 1};
    struct cunei_exceptions sum = {0};
    tape_packet(&tape, 1, 0);
    tape_exception(&tape, &raise, RAISED, 1);
    tape_exception(&tape, &raise, CAUGHT, 2);
    read_tape();

    cunei_exceptions_add(&sum, &profile.exceptions, map);
    cunei_exceptions_add(&sum, &profile.exceptions, map);

    assert_int_equal(sum.count, 2);
    assert_int_equal(sum.items[1].slot, 2);
    assert_int_equal(sum.items[1].count, 2);
    assert_int_equal(sum.handler_count, 2);
    assert_int_equal(sum.handlers[1].slot, 1);
    assert_int_equal(sum.handlers[1].count, 2);
    cunei_exceptions_fini(&sum);
}

static void more_kinds_than_there_is_room_for_are_counted_together(void **state)
{
    struct cunei_exceptions many = {0};
    uint64_t words[5] = {cunei_record(0, CUNEI_CLASS_EXCEPTION, RAISED)};
    struct cunei_exception *event = (void *)words;
    (void)state;

    event->length = 8;
    memcpy(event->type, "Error", 5);
    for (uint32_t i = 0; i < CUNEI_EXCEPTIONS_MAX + 1000; i++) {
        event->line = i;
        cunei_exceptions_read(&many, event, 1, 0);
    }

    assert_int_equal(many.count, CUNEI_EXCEPTIONS_MAX);
    assert_int_equal(many.items[0].count, 1001);
    cunei_exceptions_fini(&many);
}

static void a_type_takes_no_more_than_its_room(void **state)
{
    const uint32_t length = 2 * CUNEI_EXCEPTION_TYPE_MAX;
    struct cunei_exception *event = calloc(1, sizeof(*event) + length);
    struct cunei_exceptions some = {0};
    (void)state;

    event->length = length;
    memset(event->type, 'E', length);
    cunei_exceptions_read(&some, event, 1, 0);
    cunei_exceptions_read(&some, event, 1, 0);

    assert_int_equal(strlen(some.items[1].type), CUNEI_EXCEPTION_TYPE_MAX);
    assert_int_equal(some.items[1].count, 2);
    cunei_exceptions_fini(&some);
    free(event);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(an_exception_is_counted_once_where_it_was_raised),
        TEST(a_handler_that_raises_again_did_not_catch_it),
        TEST(an_exception_that_is_not_caught_is_unhandled_and_keeps_its_depth),
        TEST(other_processes_add_up_by_type_function_and_line),
        TEST(more_kinds_than_there_is_room_for_are_counted_together),
        TEST(a_type_takes_no_more_than_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
