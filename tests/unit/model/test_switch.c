// SPDX-License-Identifier: MIT
/* Greenlets that switch, generators that wait: time that is not running time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "readtape.h"

static const uint32_t only_f[] = {F}, f_and_g[] = {F, G};

/* F calls G, which switches to a new greenlet that runs H; then G continues. */
static void put_two_greenlets(bool cut)
{
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_enter(&tape, G, 10);
    tape_switch(&tape, 2, NULL, 0, 30);
    tape_enter(&tape, H, 35);
    if (cut)
        tape_packet(&tape, 1, 40);
    tape_switch(&tape, 1, f_and_g, 2, 60);
    tape_leave(&tape, G, 80);
    if (cut)
        tape_packet(&tape, 1, 85);
    tape_switch(&tape, 2, (uint32_t[]){H}, 1, 90);
    tape_leave(&tape, H, 95);
    tape_switch(&tape, 1, only_f, 1, 96);
    tape_leave(&tape, F, 100);
}

static void check_two_greenlets(void)
{
    assert_int_equal(profile.unclosed + profile.appeared + profile.orphans, 0);
    assert_int_equal(profile.switches, 4);
    assert_int_equal(facts(F)->calls, 1);
    assert_int_equal(facts(F)->total, 30 + 30 + 4);
    assert_int_equal(facts(F)->self, 10 + 10 + 4);
    assert_int_equal(facts(G)->total, 20 + 20);
    assert_int_equal(facts(G)->self, 20 + 20);
    assert_int_equal(facts(H)->total, 25 + 5);
    assert_int_equal(span.threads[0].open_depth, 0);
}

static void a_greenlet_runs_only_while_it_is_switched_to(void **state)
{
    (void)state;
    put_two_greenlets(false);

    read_tape();

    check_two_greenlets();
}

static void a_switch_ends_stretches_and_begins_others(void **state)
{
    (void)state;
    put_two_greenlets(false);

    read_tape();

    assert_int_equal(facts(F)->resumes, 2);
    assert_int_equal(cunei_histogram_count(&facts(F)->histogram), 3);
    assert_int_equal(facts(F)->max_ns, 30);
    assert_int_equal(facts(G)->resumes, 1);
    assert_int_equal(facts(G)->max_ns, 20);
    assert_int_equal(facts(H)->resumes, 1);
    assert_int_equal(facts(H)->max_ns, 25);
}

static void the_time_of_another_greenlet_is_suspended_time(void **state)
{
    (void)state;
    put_two_greenlets(false);

    read_tape();

    assert_int_equal(facts(F)->suspended, 30 + 6);
    assert_int_equal(facts(G)->suspended, 30);
    assert_int_equal(facts(H)->suspended, 30);
}

static void greenlets_are_the_same_in_pieces(void **state)
{
    (void)state;
    put_two_greenlets(true);

    read_tape_in(1);

    check_two_greenlets();
    assert_int_equal(cunei_histogram_count(&facts(F)->histogram), 3);
    assert_int_equal(facts(F)->suspended, 36);
    assert_int_equal(facts(H)->max_ns, 25);
}

static void open_calls_at_the_end_are_those_of_the_last_greenlet(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_enter(&tape, G, 10);
    tape_switch(&tape, 2, NULL, 0, 30);
    tape_enter(&tape, H, 35);

    read_tape();

    assert_int_equal(span.threads[0].open_depth, 1);
    assert_int_equal(span.threads[0].open[0], H);
    assert_int_equal(facts(F)->total, 30);
    assert_int_equal(facts(F)->suspended, 0);
}

static void put_generator(bool cut)
{
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, G, 0);
    tape_event(&tape, G, CUNEI_PHASE_YIELD, 10);
    if (cut)
        tape_packet(&tape, 1, 15);
    tape_event(&tape, G, CUNEI_PHASE_RESUME, 30);
    tape_event(&tape, G, CUNEI_PHASE_YIELD, 31);
    tape_enter(&tape, G, 32);
    if (cut)
        tape_packet(&tape, 1, 33);
    tape_event(&tape, G, CUNEI_PHASE_YIELD, 40);
    tape_event(&tape, G, CUNEI_PHASE_RESUME, 45);
    tape_leave(&tape, G, 50);
    if (cut)
        tape_packet(&tape, 1, 51);
    tape_event(&tape, G, CUNEI_PHASE_RESUME, 60);
    tape_leave(&tape, G, 61);
}

static void time_between_yield_and_resume_is_suspended(void **state)
{
    (void)state;
    put_generator(false);

    read_tape();

    assert_int_equal(facts(G)->suspended, 20 + 5 + 29);
    assert_int_equal(facts(G)->total, 10 + 1 + 8 + 5 + 1);
}

static void a_resumption_finds_its_yield_in_an_earlier_piece(void **state)
{
    (void)state;
    put_generator(true);

    read_tape_in(1);

    assert_int_equal(facts(G)->suspended, 20 + 5 + 29);
    assert_int_equal(facts(G)->total, 10 + 1 + 8 + 5 + 1);
}

static void a_generator_that_is_never_resumed_adds_nothing(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    for (uint64_t i = 0; i < 100; i++) {
        tape_enter(&tape, G, 10 * i);
        tape_event(&tape, G, CUNEI_PHASE_YIELD, 10 * i + 1);
    }
    tape_event(&tape, G, CUNEI_PHASE_RESUME, 1000);
    tape_leave(&tape, G, 1001);

    read_tape();

    assert_int_equal(facts(G)->suspended, 9);
}

static void a_resumption_without_a_yield_adds_nothing(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_event(&tape, G, CUNEI_PHASE_RESUME, 10);
    tape_leave(&tape, G, 20);
    tape_packet(&tape, 1, 30);
    tape_event(&tape, G, CUNEI_PHASE_RESUME, 40);
    tape_leave(&tape, G, 50);

    read_tape_in(1);

    assert_int_equal(facts(G)->suspended, 0);
    assert_int_equal(facts(G)->resumes, 2);
}

/* A piece with a million generators that never run again. */
static void abandoned_generators_take_no_end_of_memory(void **state)
{
    const size_t count = 1000000;
    struct cunei_packet head = {.thread = 1};
    uint64_t *words = calloc(2 + 2 * count, sizeof(*words));
    (void)state;

    words[0] = cunei_record(0, CUNEI_CLASS_STACK, 0);
    for (size_t i = 0; i < count; i++) {
        words[2 + 2 * i] = cunei_record(2 * i, G, CUNEI_PHASE_ENTER);
        words[3 + 2 * i] = cunei_record(2 * i + 1, G, CUNEI_PHASE_YIELD);
    }
    int rc = cunei_profile_read(&profile, &span, &head, words, 2 + 2 * count);
    free(words);

    assert_int_equal(rc, 0);
    assert_true(span.waits.capacity <= 1u << 18);
    assert_int_equal(cunei_profile_seal(&profile, &span), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_greenlet_runs_only_while_it_is_switched_to),
        TEST(a_switch_ends_stretches_and_begins_others),
        TEST(the_time_of_another_greenlet_is_suspended_time),
        TEST(greenlets_are_the_same_in_pieces),
        TEST(open_calls_at_the_end_are_those_of_the_last_greenlet),
        TEST(time_between_yield_and_resume_is_suspended),
        TEST(a_resumption_finds_its_yield_in_an_earlier_piece),
        TEST(a_generator_that_is_never_resumed_adds_nothing),
        TEST(a_resumption_without_a_yield_adds_nothing),
        TEST(abandoned_generators_take_no_end_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
