// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "spans_text.h"

#define ROUNDS 800

static void a_call_is_a_stretch(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_enter(&tape, G, 120);
    tape_leave(&tape, G, 130);
    tape_leave(&tape, F, 140);

    assert_string_equal(spans_at_once(), "thread 1 (F110 (G120 G130) F140) ");
}

static void what_is_open_at_the_begin_is_found_and_at_the_end_open(void **state)
{
    (void)state;
    tape.open[tape.depth++] = F;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, G, 120);

    assert_string_equal(spans_at_once(),
                        "thread 1 (found F100 (G120 G120 open) F120 open) ");
}

static void a_switch_ends_what_runs_and_begins_what_continues(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_switch(&tape, 2, NULL, 0, 120);
    tape_enter(&tape, G, 130);
    tape_switch(&tape, 1, (uint32_t[]){F}, 1, 140);
    tape_leave(&tape, F, 150);

    assert_string_equal(spans_at_once(),
                        "thread 1 (F110 F120 switch) (G130 G140 switch) "
                        "(switch F140 F150) ");
}

/* Stories are long: only where they part is shown. */
static void compare(const char *one, const char *two)
{
    size_t same = 0;

    while (one[same] && one[same] == two[same])
        same++;
    size_t begin = same > 100 ? same - 100 : 0;
    if (one[same] != two[same])
        fail_msg("%.150s\n%.150s", one + begin, two + begin);
}

static void regions_do_not_nest(void **state)
{
    (void)state;
    choose_kinds(1);
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_enter(&tape, G, 120);
    tape_enter(&tape, H, 130);
    tape_leave(&tape, G, 140); /* H's time ends here as well */
    tape_leave(&tape, H, 150);
    tape_enter(&tape, G, 160);
    tape_leave(&tape, F, 170); /* which G survives */
    tape_leave(&tape, G, 180);

    assert_string_equal(spans_at_once(),
                        "thread 1 (F110 (G120 (H130 H140 switch) G140) "
                        "(switch H140 H150) (G160 G170 switch) F170) (switch G170 "
                        "G180) ");
}

/* A packet may know it to be elsewhere: that is no end of anything. */
static void a_region_may_stand_elsewhere_in_the_next_packet(void **state)
{
    (void)state;
    choose_kinds(1);
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_enter(&tape, G, 120);
    tape_enter(&tape, H, 130);
    memcpy(tape.open, ((uint32_t[]){F, H, G}), 3 * sizeof(uint32_t));
    tape_packet(&tape, 1, 140);
    tape_leave(&tape, G, 150);
    tape_leave(&tape, H, 160);
    tape_leave(&tape, F, 170);
    static const char expected[] =
        "thread 1 (F110 (G120 (H130 H140 switch) G140 switch) (switch H140 (switch "
        "G140 G150) H160) F170) ";

    assert_string_equal(spans_at_once(), expected);
    assert_string_equal(spans_in_pieces(1), expected);
}

static void any_pieces_show_the_same(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        seed = round;
        choose_kinds(round);
        write_tape(&tape);
        char *whole = strdup(spans_at_once());
        compare(spans_in_pieces(0), whole);
        compare(spans_in_pieces(1), whole);
        free(whole);
        tape_fini(&tape);
        tape = (struct tape){0};
    }
}

/* When each task's steps begin and end: a join may report an end before it is due. */
struct steps {
    uint64_t begun, ended; /* how many */
    uint64_t begins, ends; /* the sum of their times */
};

static int note_step(void *context, uint64_t task, uint64_t time, bool is_begin)
{
    struct steps *steps = context;
    steps += task;
    *(is_begin ? &steps->begun : &steps->ended) += 1;
    *(is_begin ? &steps->begins : &steps->ends) += time;
    return 0;
}

static int ignore_thread(void *context, const struct cunei_packet *packet,
                         uint64_t time, bool is_begin)
{
    (void)context, (void)packet, (void)time, (void)is_begin;
    return 0;
}

static int ignore_open(void *context, uint32_t function, uint64_t time,
                       enum cunei_span_begin how)
{
    (void)context, (void)function, (void)time, (void)how;
    return 0;
}

static int ignore_close(void *context, uint32_t function, uint64_t time,
                        enum cunei_span_end how)
{
    (void)context, (void)function, (void)time, (void)how;
    return 0;
}

static const struct cunei_spans_methods step_methods = {
    .thread = ignore_thread,
    .open = ignore_open,
    .close = ignore_close,
    .step = note_step,
};

static void read_steps(struct steps *steps, size_t size)
{
    struct cunei_piece_join *seam = cunei_piece_join_new(&step_methods, steps, kinds);

    for (size_t i = 0; i < tape.count; i += size) {
        struct cunei_spans *piece = cunei_spans_new(&(struct cunei_spans_options){
            .methods = &step_methods, .context = steps, .kinds = kinds});
        for (size_t j = i; j < i + size && j < tape.count; j++)
            assert_int_equal(cunei_spans_packet(piece, &tape.packets[j]->head,
                                                tape.packets[j]->words,
                                                tape.packets[j]->count),
                             0);
        assert_int_equal(cunei_spans_end(piece), 0);
        assert_int_equal(cunei_piece_join_pass(seam, piece), 0);
        cunei_spans_free(piece);
    }
    assert_int_equal(cunei_piece_join_end(seam), 0);
    cunei_piece_join_free(seam);
}

static void steps_of_tasks_end_in_whichever_piece(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct steps whole[8] = {0}, pieces[8] = {0};
        seed = round;
        choose_kinds(round);
        write_tape(&tape);
        read_steps(whole, TAPE_PACKETS);
        read_steps(pieces, 1 + dice(3));
        assert_memory_equal(whole, pieces, sizeof(whole));
        for (size_t i = 0; i < 8; i++)
            assert_int_equal(whole[i].begun, whole[i].ended);
        tape_fini(&tape);
        tape = (struct tape){0};
    }
}

/* The thread that the methods get, for each stretch that ends. */
struct threads {
    uint32_t now;
    uint32_t closed[4];
    uint32_t count;
};

static int note_now(void *context, const struct cunei_packet *packet, uint64_t time,
                    bool is_begin)
{
    struct threads *threads = context;
    (void)time, (void)is_begin;
    threads->now = packet->thread;
    return 0;
}

static int note_closed(void *context, uint32_t function, uint64_t time,
                       enum cunei_span_end how)
{
    struct threads *threads = context;
    (void)function, (void)time, (void)how;
    threads->closed[threads->count++] = threads->now;
    return 0;
}

static const struct cunei_spans_methods thread_methods = {
    .thread = note_now,
    .open = ignore_open,
    .close = note_closed,
};

static void open_calls_at_the_end_are_those_of_the_last_thread(void **state)
{
    struct threads first = {0}, rest = {0};
    struct cunei_spans *piece = cunei_spans_new(
        &(struct cunei_spans_options){.methods = &thread_methods, .context = &rest});
    struct cunei_piece_join *seam =
        cunei_piece_join_new(&thread_methods, &first, (struct cunei_id_kinds){0});

    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_leave(&tape, F, 120);
    tape_packet(&tape, 2, 200);
    tape_enter(&tape, G, 210);

    for (size_t i = 0; i < tape.count; i++)
        assert_int_equal(cunei_spans_packet(piece, &tape.packets[i]->head,
                                            tape.packets[i]->words,
                                            tape.packets[i]->count),
                         0);
    assert_int_equal(cunei_spans_end(piece), 0);
    assert_int_equal(cunei_piece_join_pass(seam, piece), 0);
    assert_int_equal(cunei_piece_join_end(seam), 0);

    assert_int_equal(rest.count, 1);
    assert_int_equal(rest.closed[0], 1);
    assert_int_equal(first.count, 1);
    assert_int_equal(first.closed[0], 2);
    cunei_spans_free(piece);
    cunei_piece_join_free(seam);
}

/* Times of damaged files may be anything: 0 is when something ended as well. */
static void a_step_may_end_at_tick_0(void **state)
{
    struct steps steps[8] = {0};

    (void)state;
    tape_packet(&tape, 1, 1000);
    tape_step(&tape, 3, "three", F, CUNEI_PHASE_ENTER, 1010);
    tape_packet(&tape, 1, 0);
    tape_leave(&tape, F, 0);
    tape_packet(&tape, 1, 10);

    read_steps(steps, 1);

    assert_int_equal(steps[3].begun, 1);
    assert_int_equal(steps[3].ended, 1);
    assert_int_equal(steps[3].ends, 0);
}

static void a_count_of_lost_events_that_goes_back_is_unknown(void **state)
{
    (void)state;
    tape.discarded = 5;
    tape_packet(&tape, 1, 100);
    tape.discarded = 3;
    tape_packet(&tape, 1, 200);

    assert_string_equal(spans_at_once(), "thread 1 lost 0 at 200 ");
    assert_string_equal(spans_in_pieces(1), "thread 1 lost 0 at 200 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_call_is_a_stretch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            what_is_open_at_the_begin_is_found_and_at_the_end_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_switch_ends_what_runs_and_begins_what_continues, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_pieces_show_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(regions_do_not_nest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_region_may_stand_elsewhere_in_the_next_packet,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            open_calls_at_the_end_are_those_of_the_last_thread, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_step_may_end_at_tick_0, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_count_of_lost_events_that_goes_back_is_unknown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(steps_of_tasks_end_in_whichever_piece, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
