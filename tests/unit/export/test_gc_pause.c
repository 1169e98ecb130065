// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "export/gc_pause.h"
#include "wire/event.h"

static struct cunei_gc_pause pauses[4];
static size_t pause_count;

static void take(bool is_whole, const struct cunei_gc_pause *pause)
{
    assert_in_range(pause_count, 0, 3);
    if (is_whole)
        pauses[pause_count++] = *pause;
}

/*
 * The events of a stream, a letter each: ( and ) the ends of a pause, + and - those of
 * a call, ? events that were lost, | the next piece.  Each takes a tick.
 */
static void read_events(const char *events)
{
    struct cunei_gc_tracker before = {0}, piece = {0};
    struct cunei_gc_pause pause;
    uint64_t time = 1;

    pause_count = 0;
    for (; *events; events++, time++) {
        struct cunei_gc event = {
            .record = cunei_record(
                time, CUNEI_CLASS_GC,
                (uint32_t)(*events == '(' ? CUNEI_PHASE_ENTER : CUNEI_PHASE_LEAVE)),
            .collected = time,
        };
        switch (*events) {
        case '(':
        case ')':
            take(cunei_gc_tracker_event(&piece, &event, time, &pause), &pause);
            break;
        case '+':
        case '-':
            cunei_gc_tracker_nest(&piece, *events == '+' ? 1 : -1);
            break;
        case '?':
            cunei_gc_tracker_interrupt(&piece);
            break;
        default:
            take(cunei_gc_tracker_join(&before, &piece, &pause), &pause);
            piece = (struct cunei_gc_tracker){0};
        }
    }
    take(cunei_gc_tracker_join(&before, &piece, &pause), &pause);
}

static void a_pause_has_both_of_its_ends(void **state)
{
    static const struct {
        const char *events;
        uint64_t begin, end; /* 0: there is none */
    } rows[] = {
        {"()", 1, 2},
        {"+(+-)-", 2, 5},
        /* Of one that began earlier, or continues, nothing is known. */
        {")", 0, 0},
        {"(", 0, 0},
        {")(", 0, 0},
        /* In another piece, or in one behind that. */
        {"(|)", 1, 3},
        {"+(+|-)-", 2, 6},
        {"(|+-|)", 1, 6},
        {")(|)", 2, 4},
        {"|)", 0, 0},
        /* What was lost may have been an end, and another begin. */
        {"(?)", 0, 0},
        {"(?|)", 0, 0},
        {"(|?)", 0, 0},
        /* Calls that are not over, or were not begun in it. */
        {"(+)", 0, 0},
        {"+(-)", 0, 0},
        {"(-+)", 0, 0},
        {"(|+)", 0, 0},
        {"(+|)", 0, 0},
        {"+(|-+)", 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        read_events(rows[i].events);
        print_message("%s\n", rows[i].events);
        assert_int_equal(pause_count, rows[i].begin ? 1 : 0);
        if (pause_count == 0)
            continue;
        assert_int_equal(pauses[0].begin, rows[i].begin);
        assert_int_equal(pauses[0].end, rows[i].end);
        assert_int_equal(pauses[0].collected, rows[i].end);
    }
}

static void several_pauses_stay_apart(void **state)
{
    (void)state;
    read_events("()(|)()");

    /* A piece has its own before it is joined. */
    assert_int_equal(pause_count, 3);
    assert_int_equal(pauses[0].end, 2);
    assert_int_equal(pauses[1].end, 7);
    assert_int_equal(pauses[2].begin, 3);
    assert_int_equal(pauses[2].end, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pause_has_both_of_its_ends),
        cmocka_unit_test(several_pauses_stay_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
