// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "chance.h"
#include "model/story.h"

#define ROUNDS 800

static struct tape tape;
static struct cunei_buffer told;

static const char *const begins[] = {"(", "(resume ", "(switch ", "(found "};
static const char *const ends[] = {")",        " yield)",  " raise)",
                                   " switch)", " unseen)", " open)"};

static int note_thread(void *context, const struct cunei_packet *packet, uint64_t time,
                       bool is_begin)
{
    (void)time;
    if (is_begin)
        cunei_buffer_format(context, "thread %u ", packet->thread);
    return 0;
}

static int note_open(void *context, uint32_t function, uint64_t time,
                     enum cunei_begin how)
{
    cunei_buffer_format(context, "%s%c%u ", begins[how], 'F' + (int)(function - F),
                        (unsigned)time);
    return 0;
}

static int note_close(void *context, uint32_t function, uint64_t time,
                      enum cunei_end how)
{
    cunei_buffer_format(context, "%c%u%s ", 'F' + (int)(function - F), (unsigned)time,
                        ends[how]);
    return 0;
}

static int note_event(void *context, const uint64_t *event, uint64_t time)
{
    cunei_buffer_format(context, "!%u-%u ", cunei_record_class(event[0]),
                        (unsigned)time);
    return 0;
}

static int note_lost(void *context, uint64_t time, uint64_t count)
{
    cunei_buffer_format(context, "lost %u at %u ", (unsigned)count, (unsigned)time);
    return 0;
}

static const struct cunei_story_methods methods = {
    .thread = note_thread,
    .open = note_open,
    .close = note_close,
    .event = note_event,
    .lost = note_lost,
};

static void tell_piece(struct cunei_seam *seam, size_t begin, size_t end)
{
    struct cunei_buffer text = {0};
    struct cunei_story piece = {
        .methods = seam->methods, .context = &text, .wanted = seam->wanted};

    for (size_t i = begin; i < end; i++)
        assert_int_equal(cunei_story_packet(&piece, &tape.packets[i]->head,
                                            tape.packets[i]->words,
                                            tape.packets[i]->count),
                         0);
    assert_int_equal(cunei_story_end(&piece), 0);
    assert_int_equal(cunei_seam_pass(seam, &piece), 0);
    if (text.data)
        cunei_buffer_append_text(&told, text.data);
    cunei_buffer_fini(&text);
    cunei_story_fini(&piece);
}

/* The tape's story, told in pieces of so many packets; 0: of any number. */
static const char *tell(const struct cunei_story_wanted *wanted, size_t size)
{
    struct cunei_seam seam = {.methods = &methods, .context = &told, .wanted = wanted};

    cunei_buffer_clear(&told);
    for (size_t begin = 0, end; begin < tape.count; begin = end) {
        end = begin + (size ? size : 1 + dice(5));
        end = end < tape.count ? end : tape.count;
        tell_piece(&seam, begin, end);
    }
    assert_int_equal(cunei_seam_end(&seam), 0);
    cunei_seam_fini(&seam);
    assert_false(told.failed);
    return told.data ? told.data : "";
}

static const char *tell_all(void)
{
    return tell(NULL, TAPE_PACKETS);
}

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

static void a_call_is_a_stretch(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_enter(&tape, G, 120);
    tape_leave(&tape, G, 130);
    tape_leave(&tape, F, 140);

    assert_string_equal(tell_all(), "thread 1 (F110 (G120 G130) F140) ");
}

static void what_is_open_at_the_begin_is_found_and_at_the_end_open(void **state)
{
    (void)state;
    tape.open[tape.depth++] = F;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, G, 120);

    assert_string_equal(tell_all(),
                        "thread 1 (found F100 (G120 G120 open) F120 open) ");
}

static void a_switch_ends_what_runs_and_begins_what_goes_on(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_switch(&tape, 2, NULL, 0, 120);
    tape_enter(&tape, G, 130);
    tape_switch(&tape, 1, (uint32_t[]){F}, 1, 140);
    tape_leave(&tape, F, 150);

    assert_string_equal(tell_all(), "thread 1 (F110 F120 switch) (G130 G140 switch) "
                                    "(switch F140 F150) ");
}

static void what_is_not_wanted_is_as_if_it_had_not_been_recorded(void **state)
{
    const struct cunei_story_wanted wanted = {
        .functions = (uint8_t[]){1, 0, 1}, .function_count = 3, .until = UINT64_MAX};

    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_enter(&tape, G, 120);
    tape_enter(&tape, H, 130);
    tape_leave(&tape, H, 140);
    tape_leave(&tape, G, 150);
    tape_leave(&tape, F, 160);

    assert_string_equal(tell(&wanted, TAPE_PACKETS),
                        "thread 1 (F110 (H130 H140) F160) ");
}

static void a_window_cuts_stretches(void **state)
{
    const struct cunei_story_wanted wanted = {.from = 115, .until = 145};

    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_enter(&tape, G, 120);
    tape_leave(&tape, G, 130);
    tape_packet(&tape, 1, 135);
    tape_enter(&tape, H, 140);
    tape_leave(&tape, H, 150);
    tape_leave(&tape, F, 160);

    const char *expected =
        "thread 1 (found F115 (G120 G130) (H140 H145 open) F145 open) ";
    assert_string_equal(tell(&wanted, TAPE_PACKETS), expected);
    assert_string_equal(tell(&wanted, 1), expected);
}

/* Between two pieces, where no event is. */
static void a_window_begins_and_ends_at_its_own_times(void **state)
{
    const struct cunei_story_wanted wanted = {.from = 125, .until = 145};

    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 110);
    tape_packet(&tape, 1, 130);
    tape_enter(&tape, G, 135);
    tape_packet(&tape, 1, 150);
    tape_leave(&tape, G, 155);

    const char *expected = "thread 1 (found F125 (G135 G145 open) F145 open) ";
    assert_string_equal(tell(&wanted, TAPE_PACKETS), expected);
    assert_string_equal(tell(&wanted, 1), expected);
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

static void any_pieces_tell_the_same(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        seed = round;
        write_tape(&tape);
        uint64_t from = dice(2000), until = from + dice(8000);
        const struct cunei_story_wanted windows[] = {
            {.until = UINT64_MAX},
            {.functions = (uint8_t[]){1, 0, 1, 1, 0, 1, 0, 1},
             .function_count = FUNCTION_COUNT,
             .until = UINT64_MAX},
            {.from = from, .until = until},
        };

        for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
            char *whole = strdup(tell(&windows[i], TAPE_PACKETS));
            compare(tell(&windows[i], 0), whole);
            compare(tell(&windows[i], 1), whole);
            free(whole);
        }
        tape_fini(&tape);
        tape = (struct tape){0};
    }
}

/* When each task's steps begin and end: seams may tell of an end before it is due. */
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
                       enum cunei_begin how)
{
    (void)context, (void)function, (void)time, (void)how;
    return 0;
}

static int ignore_close(void *context, uint32_t function, uint64_t time,
                        enum cunei_end how)
{
    (void)context, (void)function, (void)time, (void)how;
    return 0;
}

static const struct cunei_story_methods step_methods = {
    .thread = ignore_thread,
    .open = ignore_open,
    .close = ignore_close,
    .step = note_step,
};

static void tell_steps(struct steps *steps, size_t size)
{
    struct cunei_seam seam = {.methods = &step_methods, .context = steps};

    for (size_t i = 0; i < tape.count; i += size) {
        struct cunei_story piece = {.methods = &step_methods, .context = steps};
        for (size_t j = i; j < i + size && j < tape.count; j++)
            assert_int_equal(cunei_story_packet(&piece, &tape.packets[j]->head,
                                                tape.packets[j]->words,
                                                tape.packets[j]->count),
                             0);
        assert_int_equal(cunei_story_end(&piece), 0);
        assert_int_equal(cunei_seam_pass(&seam, &piece), 0);
        cunei_story_fini(&piece);
    }
    assert_int_equal(cunei_seam_end(&seam), 0);
    cunei_seam_fini(&seam);
}

static void steps_of_tasks_end_in_whichever_piece(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct steps whole[8] = {0}, pieces[8] = {0};
        seed = round;
        write_tape(&tape);
        tell_steps(whole, TAPE_PACKETS);
        tell_steps(pieces, 1 + dice(3));
        assert_memory_equal(whole, pieces, sizeof(whole));
        for (size_t i = 0; i < 8; i++)
            assert_int_equal(whole[i].begun, whole[i].ended);
        tape_fini(&tape);
        tape = (struct tape){0};
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_call_is_a_stretch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            what_is_open_at_the_begin_is_found_and_at_the_end_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_switch_ends_what_runs_and_begins_what_goes_on,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            what_is_not_wanted_is_as_if_it_had_not_been_recorded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_window_cuts_stretches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_window_begins_and_ends_at_its_own_times,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_pieces_tell_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(steps_of_tasks_end_in_whichever_piece, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
