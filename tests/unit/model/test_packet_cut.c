// SPDX-License-Identifier: MIT
#include "spans_text.h"

/* The spans that a cut leaves, which are the same in whichever pieces it is read. */
static const char *spans_of_cut(const struct cunei_cut_options *options)
{
    cutting = options;
    char *whole = strdup(spans_at_once());
    assert_string_equal(spans_in_pieces(1), whole);
    free(whole);
    return spans_text.data ? spans_text.data : "";
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

    assert_string_equal(spans_of_cut(&options),
                        "thread 1 (F110 (F130 F140 raise) F160) ");
}

static void exceptions_that_only_folded_functions_see_are_cut(void **state)
{
    const struct cunei_cut_options options = {
        .functions =
            (uint8_t[]){CUNEI_CUT_WANTED, CUNEI_CUT_FOLDED, CUNEI_CUT_UNWANTED},
        .function_count = 3,
        .until = UINT64_MAX};
    const struct tape_raise folded = {.type = "KeyError", .function = G};
    const struct tape_raise caught = {.type = "KeyError", .function = G, .handler = F};
    const struct tape_raise unwanted = {.type = "KeyError", .function = H};

    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_enter(&tape, G, 120);
    tape_exception(&tape, &folded, 0, 130);
    tape_exception(&tape, &caught, 1, 140);
    tape_exception(&tape, &unwanted, 0, 150);
    tape_leave(&tape, G, 160);
    tape_leave(&tape, F, 170);

    assert_string_equal(spans_of_cut(&options),
                        "thread 1 (F110 !10-140 !10-150 F170) ");
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
        spans_of_cut(&options),
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

    assert_string_equal(spans_of_cut(&options),
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

    assert_string_equal(spans_of_cut(&before), "");
    assert_string_equal(spans_of_cut(&after), "");
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

    assert_string_equal(spans_of_cut(&options),
                        "thread 1 (F110 F120 switch) (switch H120 H130) ");
}

/* The number of each line that is left, one behind the other. */
static void lines_near_to_one_in_full_are_reported_in_full(void **state)
{
    const struct cunei_cut_options options = {
        .functions = (uint8_t[]){1, 0, 1}, .function_count = 3, .until = UINT64_MAX};
    struct cunei_cut cut = {.options = &options};
    const uint32_t near = CUNEI_NEAR_FIRST + CUNEI_NEAR_ABOVE;
    uint32_t lines[8] = {0}, count = 0;

    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_put(&tape, cunei_record(111, CUNEI_CLASS_LINE, 0));
    tape_put(&tape, 20 | (uint64_t)F << 32);
    for (uint32_t i = 1; i <= 3; i++)
        tape_put(&tape, cunei_record(111 + i, near + i, 0));
    tape_put(&tape, cunei_record(115, near - 2, 0));

    assert_int_equal(cunei_cut_packet(&cut, &tape.packets[0]->head,
                                      tape.packets[0]->words, tape.packets[0]->count),
                     0);
    for (size_t at = 0, size; at < cut.word_count; at += size) {
        const struct cunei_line *line = (const void *)(cut.words + at);
        size = cunei_event_words(cut.words + at, cut.word_count - at);
        assert_int_not_equal(size, 0);
        if (cunei_record_class(line->record) != CUNEI_CLASS_LINE)
            continue;
        assert_int_equal(line->function, F);
        lines[count++] = line->line;
    }

    assert_int_equal(count, 5);
    assert_memory_equal(lines, ((uint32_t[]){20, 21, 22, 23, 18}), 5 * sizeof(*lines));
    cunei_cut_fini(&cut);
}

/* A leave of what is not open changes nothing, whatever lies on the stack. */
static void leaves_of_what_is_not_open_change_nothing(void **state)
{
    const struct cunei_cut_options options = {
        .functions = (uint8_t[]){1, 0, 1}, .function_count = 3, .until = UINT64_MAX};

    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_leave(&tape, G, 120);
    tape_enter(&tape, H, 130);
    tape_leave(&tape, G, 140);
    tape_leave(&tape, F, 150);
    tape_leave(&tape, H, 160);

    assert_string_equal(spans_of_cut(&options),
                        "thread 1 (F110 (H130 H150 unseen) F150) ");
}

/* With nothing to leave out. */
static void what_is_wanted_stays_as_it_was(void **state)
{
    struct cunei_cut_options all = {.until = UINT64_MAX};

    (void)state;
    for (uint64_t round = 0; round < 400; round++) {
        seed = round;
        choose_kinds(round);
        all.kinds = kinds;
        write_tape(&tape);
        cutting = NULL;
        char *whole = strdup(spans_at_once());
        assert_string_equal(spans_of_cut(&all), whole);
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
        cmocka_unit_test_setup_teardown(
            exceptions_that_only_folded_functions_see_are_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_window_cuts_stretches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_window_begins_and_ends_where_no_event_is,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_outside_leaves_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_switch_keeps_what_is_wanted_of_its_stack,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_near_to_one_in_full_are_reported_in_full,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(leaves_of_what_is_not_open_change_nothing,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_wanted_stays_as_it_was, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
