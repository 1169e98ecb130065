// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "model/profile/profile.h"
#include "model/walk/greenlet_stacks.h"
#include "model/walk/walk.h"
#include "packets.h"

static struct tape tape;
static char text[4096];

static const char *const kinds[] = {
    [CUNEI_WALK_THREAD] = "thread", [CUNEI_WALK_FOUND] = "found",
    [CUNEI_WALK_ENTER] = "enter",   [CUNEI_WALK_LEAVE] = "leave",
    [CUNEI_WALK_MISSED] = "missed", [CUNEI_WALK_ORPHAN] = "orphan",
    [CUNEI_WALK_LOST] = "lost",     [CUNEI_WALK_OPEN] = "open",
    [CUNEI_WALK_SWITCH] = "switch", [CUNEI_WALK_EVENT] = "event",
};

static const char *name_of(uint32_t function)
{
    static const char *const names[] = {"F", "G", "H"};
    return function >= F && function <= H ? names[function - F] : "?";
}

/* One word a step: kind, function, depth, and how it was left. */
static int note_step(void *context, const struct cunei_walk_step *step)
{
    size_t size = strlen(text);
    bool has_function = step->kind != CUNEI_WALK_THREAD &&
                        step->kind != CUNEI_WALK_LOST &&
                        step->kind != CUNEI_WALK_SWITCH;
    const struct cunei_walk_frame *frame =
        step->depth > 0 ? &step->frames[step->depth - 1] : NULL;

    (void)context;
    (void)snprintf(
        text + size, sizeof(text) - size, "%s%s %s%s%u%s%s%s", size ? ", " : "",
        kinds[step->kind], has_function ? name_of(step->function) : "",
        has_function ? " " : "", step->depth, step->is_yield ? " yield" : "",
        step->is_raised ? " raised" : "", step->is_suspended ? " suspended" : "");
    if (step->kind == CUNEI_WALK_LEAVE && frame && frame->suspended > 0) {
        size = strlen(text);
        (void)snprintf(text + size, sizeof(text) - size, " ran %u",
                       (unsigned)(step->time - frame->entered - frame->suspended));
    }
    return 0;
}

static const char *walk_tape(void)
{
    struct cunei_walk *walk =
        cunei_walk_new(note_step, NULL, (struct cunei_id_kinds){0});

    text[0] = '\0';
    for (size_t i = 0; i < tape.count; i++)
        assert_int_equal(cunei_walk_packet(walk, &tape.packets[i]->head,
                                           tape.packets[i]->words,
                                           tape.packets[i]->count),
                         0);
    assert_int_equal(cunei_walk_end(walk), 0);
    cunei_walk_free(walk);
    return text;
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
    return 0;
}

static void calls_are_reported_in_order(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 10);
    tape_enter(&tape, G, 20);
    tape_leave(&tape, G, 30);
    tape_leave(&tape, F, 40);

    assert_string_equal(walk_tape(),
                        "thread 0, enter F 1, enter G 2, leave G 2, leave F 1");
}

static void what_was_open_is_found_and_what_stays_open_is_reported(void **state)
{
    (void)state;
    tape.open[tape.depth++] = F;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, G, 20);

    assert_string_equal(walk_tape(),
                        "thread 0, found F 1, enter G 2, open G 2, open F 1");
}

static void a_second_packet_continues_where_the_first_ended(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 10);
    tape_packet(&tape, 1, 20);
    tape_leave(&tape, F, 30);

    assert_string_equal(walk_tape(), "thread 0, enter F 1, leave F 1");
}

static void a_gap_is_reported_and_what_ended_in_it_is_missed(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 10);
    tape_enter(&tape, G, 20);
    tape.depth = 1;
    tape.discarded = 5;
    tape_packet(&tape, 1, 50);
    tape_leave(&tape, F, 60);

    assert_string_equal(
        walk_tape(), "thread 0, enter F 1, enter G 2, lost 2, missed G 2, leave F 1");
}

static void another_thread_ends_the_story_of_the_first(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 10);
    tape.depth = 0;
    tape_packet(&tape, 2, 20);

    assert_string_equal(walk_tape(), "thread 0, enter F 1, open F 1, thread 0");
}

static void orphans_and_missing_ends_are_distinguished(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 10);
    tape_leave(&tape, H, 20);
    tape_enter(&tape, G, 30);
    tape_leave(&tape, F, 40);

    assert_string_equal(walk_tape(), "thread 0, enter F 1, orphan H 1, enter G 2, "
                                     "missed G 2, leave F 1");
}

static void generators_and_exceptions_are_marked(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_event(&tape, G, CUNEI_PHASE_ENTER, 10);
    tape_event(&tape, G, CUNEI_PHASE_YIELD, 20);
    tape_event(&tape, G, CUNEI_PHASE_RESUME, 30);
    tape_unwind(&tape, 1, 40);
    tape_leave(&tape, G, 40);

    assert_string_equal(
        walk_tape(),
        "thread 0, enter G 1, leave G 1 yield, enter G 1, leave G 1 raised");
}

static void an_exception_resynchronises_a_recursion(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 10);
    tape_enter(&tape, F, 20);
    tape_unwind(&tape, 3, 30);
    tape_put(&tape, cunei_record(30, F, CUNEI_PHASE_LEAVE));
    tape_unwind(&tape, 1, 40);
    tape_leave(&tape, F, 40);

    assert_string_equal(walk_tape(),
                        "thread 0, enter F 1, enter F 2, orphan F 2 raised, "
                        "missed F 2, leave F 1 raised");
}

static void a_greenlet_continues_where_it_was(void **state)
{
    static const uint32_t first[] = {F, G};
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_enter(&tape, G, 10);
    tape_switch(&tape, 2, NULL, 0, 20);
    tape_enter(&tape, H, 21);
    tape_switch(&tape, 1, first, 2, 40);
    tape_leave(&tape, G, 50);
    tape_switch(&tape, 2, (uint32_t[]){H}, 1, 60);
    tape_leave(&tape, H, 70);
    tape_switch(&tape, 1, first, 1, 80);
    tape_leave(&tape, F, 90);

    assert_string_equal(
        walk_tape(),
        "thread 0, enter F 1, enter G 2, switch 2, enter H 1, switch 1, "
        "leave G 2 ran 20, switch 1, leave H 1 ran 29, switch 0, leave F 1 ran 50");
}

static void what_a_greenlet_has_open_is_found_or_stays_suspended(void **state)
{
    static const uint32_t stack[] = {G};
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_switch(&tape, 2, stack, 1, 20);
    tape_leave(&tape, G, 30);

    assert_string_equal(walk_tape(), "thread 0, enter F 1, switch 1, found G 1, "
                                     "leave G 1, open F 1 suspended");
}

static int count_suspended(void *context, const struct cunei_walk_step *step)
{
    *(uint64_t *)context += step->is_suspended;
    return 0;
}

/* Three words are a greenlet with thousands of frames. */
static void of_suspended_frames_only_so_many_are_kept(void **state)
{
    const uint64_t greenlets = 2 * CUNEI_GREENLETS_FRAMES_MAX / CUNEI_SWITCH_HIDDEN_MAX;
    uint64_t suspended = 0;
    struct cunei_walk *walk =
        cunei_walk_new(count_suspended, &suspended, (struct cunei_id_kinds){0});

    (void)state;
    tape_packet(&tape, 1, 0);
    for (uint64_t i = 1; i <= greenlets; i++) {
        tape_put(&tape, cunei_record(i, CUNEI_CLASS_SWITCH, 0));
        tape_put(&tape, i);
        tape_put(&tape, CUNEI_SWITCH_HIDDEN_MAX);
    }

    assert_int_equal(cunei_walk_packet(walk, &tape.packets[0]->head,
                                       tape.packets[0]->words, tape.packets[0]->count),
                     0);
    assert_int_equal(cunei_walk_end(walk), 0);
    cunei_walk_free(walk);

    assert_int_equal(suspended, CUNEI_GREENLETS_FRAMES_MAX);
}

static void other_events_are_reported_where_they_happen(void **state)
{
    (void)state;
    tape_packet(&tape, 1, 0);
    tape_enter(&tape, F, 0);
    tape_gc(&tape, CUNEI_PHASE_ENTER, 0, 0, 10);
    tape_leave(&tape, F, 20);
    tape_name(&tape, 1, "name", 30);

    assert_string_equal(walk_tape(),
                        "thread 0, enter F 1, event F 1, leave F 1, event ? 0");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(calls_are_reported_in_order),
        TEST(what_was_open_is_found_and_what_stays_open_is_reported),
        TEST(a_second_packet_continues_where_the_first_ended),
        TEST(a_gap_is_reported_and_what_ended_in_it_is_missed),
        TEST(another_thread_ends_the_story_of_the_first),
        TEST(orphans_and_missing_ends_are_distinguished),
        TEST(generators_and_exceptions_are_marked),
        TEST(an_exception_resynchronises_a_recursion),
        TEST(a_greenlet_continues_where_it_was),
        TEST(what_a_greenlet_has_open_is_found_or_stays_suspended),
        TEST(of_suspended_frames_only_so_many_are_kept),
        TEST(other_events_are_reported_where_they_happen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
