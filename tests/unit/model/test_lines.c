// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "model/walk/lines.h"
#include "packets.h"

static struct tape tape;
static char text[4096];

static int set_up(void **state)
{
    (void)state;
    tape = (struct tape){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tape_fini(&tape);
    return 0;
}

static const uint8_t regions[FUNCTION_COUNT] = {[2] = CUNEI_DEFINITION_REGION};
static struct cunei_id_kinds kinds;

static void put_line(uint32_t function, uint32_t line, int phase, uint64_t time)
{
    tape_put(&tape, cunei_record(time, CUNEI_CLASS_LINE, (uint32_t)phase));
    tape_put(&tape, (uint64_t)function << 32 | line);
}

static void hit(uint32_t function, uint32_t line, uint64_t time)
{
    put_line(function, line, CUNEI_PHASE_ENTER, time);
}

/* A line that is so far below the last one that was reported in full. */
static void put_near(int below, int phase, uint64_t time)
{
    uint32_t class = (uint32_t)(CUNEI_NEAR_FIRST + CUNEI_NEAR_ABOVE + below);
    tape_put(&tape, cunei_record(time, class, (uint32_t)phase));
}

/* `F12 3×40`: line 12 of F began 3 times and took 40 ticks; in order of appearance. */
static const char *read_tape(void)
{
    struct cunei_lines lines = {0};
    size_t size = 0;

    struct cunei_lines_reader *reader = cunei_lines_begin(&lines, kinds);
    for (size_t i = 0; i < tape.count; i++)
        assert_int_equal(cunei_lines_read(reader, &tape.packets[i]->head,
                                          tape.packets[i]->words,
                                          tape.packets[i]->count),
                         0);
    assert_int_equal(cunei_lines_end(reader), 0);
    text[0] = '\0';
    for (uint32_t i = 1; i < lines.count; i++) {
        const struct cunei_line_facts *line = &lines.items[i];
        assert_int_equal(line->open, 0);
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%c%u %ux%u",
                                 size ? ", " : "", (char)('F' + line->function - F),
                                 (unsigned)line->line, (unsigned)line->hits,
                                 (unsigned)line->time);
    }
    cunei_lines_fini(&lines);
    return text;
}

static void a_line_lasts_until_the_next_one_of_its_frame(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    hit(F, 2, 1);
    hit(F, 3, 11);
    hit(F, 2, 31);
    tape_leave(&tape, F, 36);
    tape_leave(&tape, G, 99);

    assert_string_equal(read_tape(), "F2 2x15, F3 1x20");
}

static void the_time_of_its_calls_belongs_to_a_line(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    hit(F, 2, 0);
    tape_enter(&tape, G, 10);
    hit(G, 7, 11);
    tape_leave(&tape, G, 30);
    hit(F, 3, 32);
    tape_leave(&tape, F, 40);

    assert_string_equal(read_tape(), "F2 1x32, G7 1x19, F3 1x8");
}

static void a_recursion_counts_time_once(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    hit(F, 2, 0);
    tape_enter(&tape, F, 10);
    hit(F, 2, 10);
    hit(F, 3, 15);
    tape_leave(&tape, F, 30);
    tape_leave(&tape, F, 40);

    assert_string_equal(read_tape(), "F2 2x40, F3 1x15");
}

static void suspended_time_belongs_to_no_line(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    hit(F, 2, 0);
    tape_event(&tape, F, CUNEI_PHASE_YIELD, 10);
    tape_event(&tape, F, CUNEI_PHASE_RESUME, 100);
    put_line(F, 2, CUNEI_PHASE_RESUME, 100);
    hit(F, 3, 105);
    tape_leave(&tape, F, 107);

    assert_string_equal(read_tape(), "F2 1x15, F3 1x2");
}

static void an_exception_ends_a_line(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    hit(F, 2, 0);
    tape_enter(&tape, G, 5);
    hit(G, 7, 5);
    tape_unwind(&tape, 1, 9);
    tape_leave(&tape, G, 9);
    hit(F, 4, 10);
    tape_leave(&tape, F, 20);

    assert_string_equal(read_tape(), "F2 1x10, G7 1x4, F4 1x10");
}

static void a_line_continues_in_the_next_packet(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    hit(F, 2, 0);
    tape_packet(&tape, 1, 50);
    hit(F, 3, 60);
    tape_leave(&tape, F, 61);

    assert_string_equal(read_tape(), "F2 1x60, F3 1x1");
}

static void after_a_gap_no_line_is_guessed(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    hit(F, 2, 5);
    tape_enter(&tape, G, 8);
    tape_leave(&tape, G, 9);
    tape.discarded = 7;
    tape_packet(&tape, 1, 1000);
    tape_enter(&tape, G, 1010);
    tape_leave(&tape, G, 1020);
    hit(F, 3, 1030);
    tape_leave(&tape, F, 1040);

    assert_string_equal(read_tape(), "F2 1x4, F3 1x10");
}

static void another_thread_has_lines_of_its_own(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    hit(F, 2, 10);
    tape.depth = 0;
    tape_packet(&tape, 2, 100);
    tape_enter(&tape, F, 100);
    hit(F, 2, 110);
    tape_leave(&tape, F, 115);

    assert_string_equal(read_tape(), "F2 2x5"); /* the first ended with its thread */
}

static void a_line_of_a_greenlet_waits_with_it(void **state)
{
    (void)state;
    const uint32_t other[] = {G}, first[] = {F};

    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    hit(F, 2, 0);
    tape_switch(&tape, 2, other, 1, 10);
    hit(G, 7, 20);
    tape_switch(&tape, 1, first, 1, 50);
    hit(F, 3, 55);
    tape_switch(&tape, 2, other, 1, 60);
    tape_leave(&tape, G, 65);

    assert_string_equal(read_tape(), "F2 1x15, G7 1x35, F3 1x5");
}

static void a_line_without_its_frame_is_only_counted(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    hit(F, 2, 10);
    tape_enter(&tape, G, 20);
    hit(F, 2, 30);
    tape_leave(&tape, G, 40);

    assert_string_equal(read_tape(), "F2 2x0");
}

static void instructions_of_a_line_begin_it_once(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    put_line(F, 2, CUNEI_PHASE_YIELD, 0);
    put_line(F, 2, CUNEI_PHASE_YIELD, 5);
    tape_enter(&tape, F, 6);
    put_line(F, 2, CUNEI_PHASE_YIELD, 6);
    tape_leave(&tape, F, 7);
    put_line(F, 2, CUNEI_PHASE_YIELD, 8);
    put_line(F, 3, CUNEI_PHASE_YIELD, 10);
    put_line(F, 2, CUNEI_PHASE_YIELD, 20);
    tape_event(&tape, F, CUNEI_PHASE_YIELD, 21);
    tape_event(&tape, F, CUNEI_PHASE_RESUME, 31);
    put_line(F, 2, CUNEI_PHASE_RESUME, 31);
    put_line(F, 2, CUNEI_PHASE_YIELD, 32);
    tape_leave(&tape, F, 33);

    assert_string_equal(read_tape(), "F2 3x13, F3 1x10");
}

static void a_line_may_be_reported_by_how_far_it_is_from_another(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    hit(F, 200, 1);
    put_near(-128, CUNEI_PHASE_ENTER, 11);
    put_near(127, CUNEI_PHASE_ENTER, 31); /* from 200, not from 72 */
    tape_enter(&tape, F, 36);
    put_near(0, CUNEI_PHASE_ENTER, 37);
    tape_leave(&tape, F, 39);
    tape_enter(&tape, G, 40);
    hit(G, 300, 40);
    put_near(1, CUNEI_PHASE_ENTER, 45);
    put_near(1, CUNEI_PHASE_YIELD, 46);
    tape_leave(&tape, G, 47);
    tape_packet(&tape, 1, 50);
    hit(F, 72, 51);
    put_near(128 - 1, CUNEI_PHASE_ENTER, 52);
    tape_leave(&tape, F, 60);

    assert_string_equal(read_tape(), "F200 2x12, F72 2x21, F327 1x20, G300 1x5, "
                                     "G301 1x2, F199 1x8");
}

static void lines_are_added_under_other_numbers(void **state)
{
    (void)state;
    struct cunei_lines lines = {0}, sum = {0};
    const uint32_t map[] = {0, 9, 0};

    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    hit(F, 2, 0);
    tape_enter(&tape, G, 1);
    hit(G, 2, 1); /* a line that the map does not have */
    tape_leave(&tape, G, 2);
    tape_leave(&tape, F, 10);
    struct cunei_lines_reader *reader = cunei_lines_begin(&lines, kinds);
    assert_int_equal(cunei_lines_read(reader, &tape.packets[0]->head,
                                      tape.packets[0]->words, tape.packets[0]->count),
                     0);
    assert_int_equal(cunei_lines_end(reader), 0);

    assert_int_equal(cunei_lines_add(&sum, &lines, map, 3, 1000, 1), 0);
    assert_int_equal(cunei_lines_add(&sum, &lines, map, 3, 1, 2), 0);

    assert_int_equal(sum.count, 2);
    assert_int_equal(sum.items[1].function, 9);
    assert_int_equal(sum.items[1].hits, 2);
    assert_int_equal(sum.items[1].time, 10005);
    cunei_lines_fini(&lines);
    cunei_lines_fini(&sum);
}

static void many_lines_are_all_found_again(void **state)
{
    (void)state;
    struct cunei_lines lines = {0};

    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    for (uint32_t i = 0; i < 1000; i++)
        hit(F, 1 + i % 500, i);
    tape_leave(&tape, F, 1000);
    struct cunei_lines_reader *reader = cunei_lines_begin(&lines, kinds);
    assert_int_equal(cunei_lines_read(reader, &tape.packets[0]->head,
                                      tape.packets[0]->words, tape.packets[0]->count),
                     0);
    assert_int_equal(cunei_lines_end(reader), 0);

    assert_int_equal(lines.count, 501);
    for (uint32_t i = 1; i < lines.count; i++) {
        assert_int_equal(lines.items[i].hits, 2);
        assert_int_equal(lines.items[i].time, 2);
    }
    cunei_lines_fini(&lines);
}

static void lines_continue_in_a_region(void **state)
{
    (void)state;
    kinds = (struct cunei_id_kinds){regions, FUNCTION_COUNT};
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 100);
    hit(F, 1, 100);
    tape_enter(&tape, H, 110);
    hit(F, 2, 120);
    tape_leave(&tape, H, 150);
    hit(F, 3, 160);
    tape_leave(&tape, F, 200);

    assert_string_equal(read_tape(), "F1 1x20, F2 1x40, F3 1x40");
    kinds = (struct cunei_id_kinds){0};
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_line_lasts_until_the_next_one_of_its_frame),
        TEST(the_time_of_its_calls_belongs_to_a_line),
        TEST(lines_continue_in_a_region),
        TEST(a_recursion_counts_time_once),
        TEST(suspended_time_belongs_to_no_line),
        TEST(an_exception_ends_a_line),
        TEST(a_line_continues_in_the_next_packet),
        TEST(after_a_gap_no_line_is_guessed),
        TEST(another_thread_has_lines_of_its_own),
        TEST(a_line_of_a_greenlet_waits_with_it),
        TEST(a_line_without_its_frame_is_only_counted),
        TEST(instructions_of_a_line_begin_it_once),
        TEST(a_line_may_be_reported_by_how_far_it_is_from_another),
        TEST(lines_are_added_under_other_numbers),
        TEST(many_lines_are_all_found_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
