// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "readtape.h"

enum {
    START = CUNEI_PHASE_ENTER,
    STOP = CUNEI_PHASE_LEAVE
};

static const struct cunei_gc_pauses *collections(void)
{
    return &span.threads[0].collections;
}

static void pauses_last_from_start_to_stop(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_gc(&tape, START, 0, 0, 10);
    tape_enter(&tape, F, 12);
    tape_leave(&tape, F, 14);
    tape_gc(&tape, STOP, 0, 3, 20);
    tape_gc(&tape, START, 2, 0, 50);
    tape_gc(&tape, STOP, 2, 100, 90);

    read_tape();

    assert_int_equal(collections()->count[0], 1);
    assert_int_equal(collections()->count[1], 0);
    assert_int_equal(collections()->count[2], 1);
    assert_int_equal(cunei_gc_pauses_count(collections()), 2);
    assert_int_equal(collections()->pause, 50);
    assert_int_equal(collections()->pause_max, 40);
    assert_int_equal(collections()->collected, 103);
    assert_int_equal(facts(F)->total, 2);
}

static void a_pause_may_last_from_piece_to_piece(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_gc(&tape, START, 1, 0, 10);
    tape_packet(&tape, 1, 20);
    tape_enter(&tape, F, 30);
    tape_packet(&tape, 1, 40);
    tape_gc(&tape, STOP, 1, 5, 45);

    read_tape_in(1);

    assert_int_equal(collections()->count[1], 1);
    assert_int_equal(collections()->pause, 35);
}

static void a_stop_without_a_start_is_a_collection_of_unknown_length(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_gc(&tape, STOP, 0, 5, 45);

    read_tape();

    assert_int_equal(collections()->count[0], 1);
    assert_int_equal(collections()->pause, 0);
}

static void a_loss_in_between_hides_a_pause(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_gc(&tape, START, 1, 0, 10);
    tape.discarded = 3;
    tape_packet(&tape, 1, 20);
    tape_gc(&tape, STOP, 1, 5, 45);

    read_tape_in(1);

    assert_int_equal(collections()->count[1], 1);
    assert_int_equal(collections()->pause, 0);
}

static void each_thread_has_its_own(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_gc(&tape, START, 0, 0, 10);
    tape_packet(&tape, 2, 20);
    tape_gc(&tape, START, 7, 0, 30);
    tape_gc(&tape, STOP, 7, 1, 33);

    read_tape_in(1);

    assert_int_equal(cunei_gc_pauses_count(collections()), 0);
    assert_int_equal(span.threads[1].collections.pause, 3);
    assert_int_equal(span.threads[1].collections.count[2], 1);
}

static void a_thread_has_the_name_that_it_was_given_last(void **state)
{
    static const char long_name[] = "a name that is longer than a packet has room for";
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_name(&tape, 1, "first", 10);
    tape_name(&tape, 1, long_name, 20);
    tape_name(&tape, 2, "of another thread", 30);
    tape_packet(&tape, 1, 40);
    memcpy(tape.packets[1]->head.thread_name, long_name, CUNEI_PACKET_THREAD_NAME);

    read_tape();

    assert_string_equal(span.threads[0].name, long_name);
}

/* Its packets hold no more of it than whole characters. */
static void a_name_that_packets_cut_short_stays_whole(void **state)
{
    static const char name[] = "aéééééééééééééééééééé";
    const size_t pieces[] = {TAPE_PACKETS, 1};

    for (size_t i = 0; i < 2; i++) {
        tape_packet(&tape, 1, 0);
        memcpy(tape.packets[0]->head.thread_name, name, CUNEI_PACKET_THREAD_NAME - 1);
        tape_name(&tape, 1, name, 10);
        tape_packet(&tape, 1, 40);
        tape.packets[1]->head = tape.packets[0]->head;
        tape.packets[1]->head.timestamp_begin = 40;

        read_tape_in(pieces[i]);

        assert_string_equal(span.threads[0].name, name);
        assert_int_equal(tear_down(state), 0);
        assert_int_equal(set_up(state), 0);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(pauses_last_from_start_to_stop),
        TEST(a_pause_may_last_from_piece_to_piece),
        TEST(a_stop_without_a_start_is_a_collection_of_unknown_length),
        TEST(a_loss_in_between_hides_a_pause),
        TEST(each_thread_has_its_own),
        TEST(a_thread_has_the_name_that_it_was_given_last),
        TEST(a_name_that_packets_cut_short_stays_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
