// SPDX-License-Identifier: MIT
#include "stories.h"

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
    cunei_buffer_fini(&told);
    return 0;
}

/* The story of what is left, which is the same in whichever pieces it is told. */
static const char *tell_cut(const struct cunei_cut_options *options)
{
    cutting = options;
    char *whole = strdup(tell_all());
    assert_string_equal(tell(1), whole);
    free(whole);
    return told.data ? told.data : "";
}

static void what_is_not_wanted_is_as_if_it_had_not_been_recorded(void **state)
{
    const struct cunei_cut_options options = {
        .functions = (uint8_t[]){1, 0, 1}, .function_count = 3, .until = UINT64_MAX};

    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_enter(&tape, G, 120);
    tape_enter(&tape, F, 130);
    tape_packet(&tape, 1, 135);
    tape_unwind(&tape, 1, 140);
    tape_leave(&tape, F, 140);
    tape_unwind(&tape, 1, 150);
    tape_leave(&tape, G, 150);
    tape_leave(&tape, F, 160);

    assert_string_equal(tell_cut(&options), "thread 1 (F110 (F130 F140 raise) F160) ");
}

static void a_window_cuts_stretches(void **state)
{
    const struct cunei_cut_options options = {.from = 115, .until = 145};

    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_enter(&tape, G, 120);
    tape_leave(&tape, G, 130);
    tape_packet(&tape, 1, 135);
    tape_enter(&tape, H, 140);
    tape_leave(&tape, H, 150);
    tape_leave(&tape, F, 160);

    assert_string_equal(
        tell_cut(&options),
        "thread 1 (found F115 (G120 G130) (H140 H145 open) F145 open) ");
}

static void a_window_begins_and_ends_where_no_event_is(void **state)
{
    const struct cunei_cut_options options = {.from = 125, .until = 145};

    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape.packets[0]->head.timestamp_end = 129;
    tape_packet(&tape, 1, 130);
    tape_enter(&tape, G, 135);
    tape.packets[1]->head.timestamp_end = 149;
    tape_packet(&tape, 1, 150);
    tape_leave(&tape, G, 155);

    assert_string_equal(tell_cut(&options),
                        "thread 1 (found F125 (G135 G145 open) F145 open) ");
}

static void what_is_outside_leaves_nothing(void **state)
{
    const struct cunei_cut_options before = {.from = 0, .until = 90};
    const struct cunei_cut_options after = {.from = 200, .until = UINT64_MAX};

    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_leave(&tape, F, 120);

    assert_string_equal(tell_cut(&before), "");
    assert_string_equal(tell_cut(&after), "");
}

static void a_switch_keeps_what_is_wanted_of_its_stack(void **state)
{
    const struct cunei_cut_options options = {
        .functions = (uint8_t[]){1, 0, 1}, .function_count = 3, .until = UINT64_MAX};

    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_switch(&tape, 2, (uint32_t[]){G, H}, 2, 120);
    tape_leave(&tape, H, 130);
    tape_leave(&tape, G, 140);

    assert_string_equal(tell_cut(&options),
                        "thread 1 (F110 F120 switch) (switch H120 H130) ");
}

/* With nothing to leave out. */
static void what_is_wanted_stays_as_it_was(void **state)
{
    const struct cunei_cut_options all = {.until = UINT64_MAX};

    (void)state;
    for (uint64_t round = 0; round < 400; round++) {
        seed = round;
        write_tape(&tape);
        cutting = NULL;
        char *whole = strdup(tell_all());
        assert_string_equal(tell_cut(&all), whole);
        free(whole);
        tape_fini(&tape);
        tape = (struct tape){0};
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_is_not_wanted_is_as_if_it_had_not_been_recorded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_window_cuts_stretches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_window_begins_and_ends_where_no_event_is,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_outside_leaves_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_switch_keeps_what_is_wanted_of_its_stack,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_wanted_stays_as_it_was, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
