// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "export/encode.h"

static struct cunei_gc_pause told[4];
static size_t told_count;

static int take(struct cunei_encoding *encoding, const struct cunei_gc_pause *pause)
{
    (void)encoding;
    assert_in_range(told_count, 0, 3);
    told[told_count++] = *pause;
    return 0;
}

static const struct cunei_encoder encoder = {.pause = take};

/*
 * What happens in a piece, a letter each: ( and ) the ends of a pause, + and - those of
 * a call, ? events that were lost, | the next piece.  Each takes a tick.
 */
static void tell(const char *story)
{
    struct cunei_encoding seam = {.encoder = &encoder}, piece = {.encoder = &encoder};
    uint64_t time = 1;

    told_count = 0;
    for (; *story; story++, time++) {
        struct cunei_gc event = {
            .record = cunei_record(
                time, CUNEI_CLASS_GC,
                (uint32_t)(*story == '(' ? CUNEI_PHASE_ENTER : CUNEI_PHASE_LEAVE)),
            .collected = time,
        };
        switch (*story) {
        case '(':
        case ')':
            assert_int_equal(cunei_gc_pause_take(&piece, &event, time), 0);
            break;
        case '+':
        case '-':
            cunei_gc_pause_pass(&piece.pausing, *story == '+' ? 1 : -1);
            break;
        case '?':
            cunei_gc_pause_break(&piece.pausing);
            break;
        default:
            assert_int_equal(cunei_gc_pause_join(&seam, &piece), 0);
            piece = (struct cunei_encoding){.encoder = &encoder};
        }
    }
    assert_int_equal(cunei_gc_pause_join(&seam, &piece), 0);
}

static void a_pause_has_both_of_its_ends(void **state)
{
    static const struct {
        const char *story;
        uint64_t begin, end; /* 0: none is told */
    } rows[] = {
        {"()", 1, 2},
        {"+(+-)-", 2, 5},
        /* Of one that began earlier, or goes on, nothing is known. */
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
        tell(rows[i].story);
        print_message("%s\n", rows[i].story);
        assert_int_equal(told_count, rows[i].begin ? 1 : 0);
        if (told_count == 0)
            continue;
        assert_int_equal(told[0].begin, rows[i].begin);
        assert_int_equal(told[0].end, rows[i].end);
        assert_int_equal(told[0].collected, rows[i].end);
    }
}

static void several_pauses_are_told_apart(void **state)
{
    (void)state;
    tell("()(|)()");

    /* A piece tells its own before it is joined. */
    assert_int_equal(told_count, 3);
    assert_int_equal(told[0].end, 2);
    assert_int_equal(told[1].end, 7);
    assert_int_equal(told[2].begin, 3);
    assert_int_equal(told[2].end, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pause_has_both_of_its_ends),
        cmocka_unit_test(several_pauses_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
