// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "readtape.h"

static void time_is_split_between_caller_and_callee(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_enter(&tape, G, 130);
    tape_leave(&tape, G, 170);
    tape_leave(&tape, F, 200);

    read_tape();

    assert_int_equal(facts(F)->calls, 1);
    assert_int_equal(facts(F)->self, 50);
    assert_int_equal(facts(F)->total, 90);
    assert_int_equal(facts(F)->max_ns, 90);
    assert_int_equal(facts(G)->self, 40);
    assert_int_equal(facts(G)->total, 40);
    assert_int_equal(profile.events, 5);
    assert_int_equal(profile.orphans + profile.unclosed + profile.appeared, 0);
}

static void a_recursion_counts_its_time_once(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_enter(&tape, F, 10);
    tape_enter(&tape, F, 20);
    tape_leave(&tape, F, 30);
    tape_leave(&tape, F, 40);
    tape_leave(&tape, F, 50);

    read_tape();

    assert_int_equal(facts(F)->calls, 3);
    assert_int_equal(facts(F)->recursive, 2);
    assert_int_equal(facts(F)->total, 50);
    assert_int_equal(facts(F)->self, 50);
    assert_int_equal(facts(F)->max_ns, 50);
    assert_int_equal(cunei_histogram_count(&facts(F)->histogram), 3);
    assert_int_equal(cunei_facts_spent(facts(F)), 50 + 30 + 10);
}

static void each_activation_counts_however_the_stream_is_cut(void **state)
{
    (void)state;
    tape.open[tape.depth++] = F;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 10);
    tape_enter(&tape, G, 20);
    tape_packet(&tape, 1, 30);
    tape_enter(&tape, F, 40);
    tape_leave(&tape, F, 45);
    tape_packet(&tape, 1, 50);
    tape_leave(&tape, G, 60);
    tape_leave(&tape, F, 80);
    tape_enter(&tape, G, 90);
    tape_leave(&tape, F, 100);

    read_tape_in(1);

    assert_int_equal(facts(F)->total, 100);
    assert_int_equal(cunei_histogram_count(&facts(F)->histogram), 2);
    assert_int_equal(cunei_facts_spent(facts(F)), 70 + 5);
    assert_int_equal(cunei_facts_spent(facts(G)), 40);
}

static void a_generator_counts_resumes_and_times_each_stretch(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_event(&tape, G, CUNEI_PHASE_ENTER, 10);
    tape_event(&tape, G, CUNEI_PHASE_YIELD, 15);
    tape_event(&tape, G, CUNEI_PHASE_RESUME, 40);
    tape_event(&tape, G, CUNEI_PHASE_LEAVE, 47);
    tape_leave(&tape, F, 50);

    read_tape();

    assert_int_equal(facts(G)->calls, 1);
    assert_int_equal(facts(G)->resumes, 1);
    assert_int_equal(facts(G)->total, 12);
    assert_int_equal(cunei_facts_spent(facts(G)), 12);
    assert_int_equal(facts(G)->max_ns, 7);
    assert_int_equal(facts(F)->self, 38);
}

static void what_was_open_at_the_start_is_timed_and_not_counted(void **state)
{
    (void)state;
    tape.open[tape.depth++] = F;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, G, 110);
    tape_leave(&tape, G, 120);
    tape_leave(&tape, F, 130);

    read_tape();

    assert_int_equal(facts(F)->calls, 0);
    assert_int_equal(facts(F)->self, 20);
    assert_int_equal(facts(F)->total, 30);
    assert_int_equal(cunei_facts_spent(facts(F)), 0);
    assert_int_equal(facts(F)->max_ns, 0);
    assert_int_equal(profile.orphans, 0);
}

static void a_call_inside_what_was_open_already_is_recursive(void **state)
{
    (void)state;
    tape.open[tape.depth++] = F;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_leave(&tape, F, 120);

    read_tape();

    assert_int_equal(facts(F)->recursive, 1);
    assert_int_equal(facts(F)->total, 20);
    assert_int_equal(cunei_facts_spent(facts(F)), 10);
}

static void an_open_function_is_timed_up_to_the_last_event(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 10);
    tape_enter(&tape, G, 30);

    read_tape();

    assert_int_equal(facts(F)->total, 20);
    assert_int_equal(cunei_facts_spent(facts(F)), 0);
    assert_int_equal(span.threads[0].open_depth, 2);
    assert_int_equal(span.threads[0].open[0], F);
    assert_int_equal(span.threads[0].open[1], G);
}

static void a_leave_of_what_was_never_entered_is_ignored_and_counted(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_leave(&tape, G, 10);
    tape_leave(&tape, F, 20);

    read_tape();

    assert_int_equal(profile.orphans, 1);
    assert_int_equal(facts(G)->total, 0);
    assert_int_equal(facts(F)->total, 20);
}

static void a_leave_below_the_top_closes_what_is_above_it(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_enter(&tape, G, 10);
    tape_leave(&tape, F, 30);

    read_tape();

    assert_int_equal(profile.unclosed, 1);
    assert_int_equal(facts(G)->total, 20);
    assert_int_equal(cunei_histogram_count(&facts(G)->histogram), 0);
    assert_int_equal(facts(F)->max_ns, 30);
    assert_int_equal(span.threads[0].open_depth, 0);
}

static void an_unwind_that_finds_fewer_frames_than_there_are_is_an_orphan(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_unwind(&tape, 2, 10);
    tape_put(&tape, cunei_record(10, F, CUNEI_PHASE_LEAVE));
    tape_unwind(&tape, 1, 20);
    tape_leave(&tape, F, 20);

    read_tape();

    assert_int_equal(profile.orphans, 1);
    assert_int_equal(facts(F)->raised, 1);
    assert_int_equal(facts(F)->max_ns, 20);
    assert_int_equal(profile.events, 6);
}

static void an_unwind_that_finds_more_frames_than_there_are_drops_them(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_enter(&tape, F, 10);
    tape_enter(&tape, F, 20);
    tape_unwind(&tape, 1, 30);
    tape_leave(&tape, F, 30);

    read_tape();

    assert_int_equal(profile.unclosed, 2);
    assert_int_equal(span.threads[0].open_depth, 0);
    assert_int_equal(facts(F)->max_ns, 30);
}

static void a_packet_says_what_is_open_and_the_difference_is_counted(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_enter(&tape, G, 10);
    tape.depth = 1;
    tape.open[tape.depth++] = H;
    tape_packet(&tape, 1, 50);
    tape_leave(&tape, H, 60);
    tape_leave(&tape, F, 70);

    read_tape();

    assert_int_equal(profile.unclosed, 1);
    assert_int_equal(profile.appeared, 1);
    assert_int_equal(facts(G)->total, 40);
    assert_int_equal(facts(H)->total, 10);
    assert_int_equal(facts(F)->max_ns, 70);
}

static void put_pause(void)
{
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_enter(&tape, G, 10);
    tape.depth = 1;
    tape.open[tape.depth++] = H;
    tape.flags = CUNEI_PACKET_RENEWED;
    tape_packet(&tape, 1, 50);
    tape_leave(&tape, H, 60);
    tape_leave(&tape, F, 70);
}

static void check_pause(void)
{
    assert_int_equal(profile.unclosed + profile.appeared + profile.orphans, 0);
    assert_int_equal(profile.gaps, 0);
    assert_int_equal(facts(G)->total, 40);
    assert_int_equal(facts(H)->total, 10);
    assert_int_equal(facts(F)->max_ns, 70);
}

static void a_pause_explains_a_difference(void **state)
{
    (void)state;
    put_pause();

    read_tape();

    check_pause();
}

static void a_pause_between_two_pieces_explains_it_too(void **state)
{
    (void)state;
    put_pause();

    read_tape_in(1);

    check_pause();
}

static void a_pause_explains_a_difference_of_regions(void **state)
{
    static const uint8_t kinds[FUNCTION_COUNT] = {[G - F] = CUNEI_DEFINITION_REGION,
                                                  [H - F] = CUNEI_DEFINITION_REGION};
    (void)state;
    profile.kinds = (struct cunei_id_kinds){kinds, FUNCTION_COUNT};
    put_pause();

    read_tape();

    check_pause();
}

static void a_pause_explains_nothing_behind_it(void **state)
{
    (void)state;
    put_pause();
    tape.flags = 0;
    tape.open[tape.depth++] = G;
    tape_packet(&tape, 1, 80);
    tape_leave(&tape, H, 90);
    tape.depth = 0;
    tape_packet(&tape, 1, 100);

    read_tape();

    assert_int_equal(profile.appeared, 1);
    assert_int_equal(profile.orphans, 1);
    assert_int_equal(profile.unclosed, 1);
}

static void lost_packets_explain_a_difference(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_enter(&tape, G, 10);
    tape.depth = 1;
    tape.open[tape.depth++] = H;
    tape.sequence += 3;
    tape_packet(&tape, 1, 50);
    tape_leave(&tape, H, 60);
    tape_leave(&tape, F, 70);

    read_tape();

    assert_int_equal(profile.unclosed + profile.appeared, 0);
    assert_int_equal(profile.gaps, 1);
    assert_int_equal(span.gap.missing, 3);
    assert_int_equal(facts(G)->total, 0);
    assert_int_equal(facts(F)->total, 70);
    assert_int_equal(facts(F)->self, 20);
}

static void a_stream_handed_on_starts_the_next_thread_afresh(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_enter(&tape, G, 5);
    tape.depth = 0;
    tape_packet(&tape, 2, 100);
    tape_enter(&tape, F, 110);
    tape_leave(&tape, F, 130);

    read_tape();

    assert_int_equal(span.thread_count, 2);
    assert_int_equal(span.threads[0].open_depth, 2);
    assert_int_equal(span.threads[1].open_depth, 0);
    assert_int_equal(facts(F)->total, 5 + 20);
    assert_int_equal(facts(F)->recursive, 0);
    assert_int_equal(profile.unclosed, 0);
}

static void frames_left_out_of_a_deep_stack_can_still_be_left(void **state)
{
    (void)state;
    tape.open[tape.depth++] = G;
    tape_packet(&tape, 1, 0);
    tape.packets[0]->words[1] |= 2; /* omitted */
    tape_leave(&tape, G, 10);
    tape_leave(&tape, F, 20);
    tape_leave(&tape, F, 30);
    tape_leave(&tape, F, 40);

    read_tape();

    assert_int_equal(profile.orphans, 1);
    assert_int_equal(facts(G)->total, 10);
}

static void functions_beyond_the_classes_are_calls(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_put(&tape, cunei_record(5, CUNEI_CLASS_CALL, CUNEI_PHASE_ENTER));
    tape_put(&tape, F);
    tape_put(&tape, cunei_record(9, CUNEI_CLASS_CALL, CUNEI_PHASE_LEAVE));
    tape_put(&tape, F);

    read_tape();

    assert_int_equal(facts(F)->calls, 1);
    assert_int_equal(facts(F)->total, 4);
    assert_int_equal(profile.events, 3);
}

static void nonsense_is_counted_and_does_no_harm(void **state)
{
    static const uint64_t words[] = {
        UINT64_MAX,
        (uint64_t)CUNEI_CLASS_STACK << 40,
        UINT64_MAX,
        (uint64_t)CUNEI_CLASS_CALL << 40,
    };
    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        tape_packet(&tape, 1, UINT64_MAX - i);
        for (size_t j = i; j < sizeof(words) / sizeof(words[0]); j++)
            tape_put(&tape, words[j]);
    }

    read_tape();

    assert_true(profile.unknown > 0);
}

static void a_stack_deeper_than_the_limit_stays_balanced(void **state)
{
    const size_t depth = CUNEI_DEPTH_MAX + 1000;
    struct cunei_packet head = {.thread = 1};
    uint64_t *words = calloc(2 + 2 * depth, sizeof(*words));
    (void)state;

    words[0] = cunei_record(0, CUNEI_CLASS_STACK, 0);
    for (size_t i = 0; i < depth; i++) {
        words[2 + i] = cunei_record(i, F, CUNEI_PHASE_ENTER);
        words[2 + depth + i] = cunei_record(depth + i, F, CUNEI_PHASE_LEAVE);
    }
    int rc = cunei_profile_read(&profile, &span, &head, words, 2 + 2 * depth);
    free(words);

    assert_int_equal(rc, 0);
    assert_int_equal(facts(F)->calls, depth);
    assert_int_equal(facts(F)->max_ns, 2 * depth - 1);
    assert_int_equal(cunei_histogram_count(&facts(F)->histogram), CUNEI_DEPTH_MAX);
    assert_int_equal(profile.orphans + profile.unclosed, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(time_is_split_between_caller_and_callee),
        TEST(a_recursion_counts_its_time_once),
        TEST(each_activation_counts_however_the_stream_is_cut),
        TEST(a_generator_counts_resumes_and_times_each_stretch),
        TEST(what_was_open_at_the_start_is_timed_and_not_counted),
        TEST(a_call_inside_what_was_open_already_is_recursive),
        TEST(an_open_function_is_timed_up_to_the_last_event),
        TEST(a_leave_of_what_was_never_entered_is_ignored_and_counted),
        TEST(a_leave_below_the_top_closes_what_is_above_it),
        TEST(an_unwind_that_finds_fewer_frames_than_there_are_is_an_orphan),
        TEST(an_unwind_that_finds_more_frames_than_there_are_drops_them),
        TEST(a_packet_says_what_is_open_and_the_difference_is_counted),
        TEST(a_pause_explains_a_difference),
        TEST(a_pause_between_two_pieces_explains_it_too),
        TEST(a_pause_explains_a_difference_of_regions),
        TEST(a_pause_explains_nothing_behind_it),
        TEST(lost_packets_explain_a_difference),
        TEST(a_stream_handed_on_starts_the_next_thread_afresh),
        TEST(frames_left_out_of_a_deep_stack_can_still_be_left),
        TEST(functions_beyond_the_classes_are_calls),
        TEST(nonsense_is_counted_and_does_no_harm),
        TEST(a_stack_deeper_than_the_limit_stays_balanced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
