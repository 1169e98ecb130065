// SPDX-License-Identifier: MIT
/* Lines as threads write them, most as one word each, and as they are read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/clock.h"
#include "rt/recorder.h"
#include "scratch.h"
#include "trace/directory/merge_by_time.h"

/* Enough for several packets even at a word each. */
#define LINES 100000u

static char owners[SCRATCH_FUNCTIONS]; /* the owners of the functions' lines */
static uint32_t epoch;
static uint64_t words; /* that were written */

static void put(const struct scratch *scratch, uint32_t function, uint32_t line,
                enum cunei_phase phase)
{
    uint64_t now = cunei_clock_read();
    struct cunei_stream *stream = cunei_stream_own;

    if (cunei_stream_is_near(stream, &owners[function], epoch, line) &&
        cunei_stream_has_room(stream, now, 1)) {
        cunei_stream_put_near(stream, now, phase, line);
        words++;
        return;
    }
    if (!cunei_stream_has_room(stream, now, 2))
        stream = cunei_recorder_room(&now, 2, false);
    assert_non_null(stream);
    words += 2;
    cunei_stream_put_line(stream, now, phase, scratch->first + function, line,
                          &owners[function], epoch);
}

struct line_event {
    uint32_t function, line;
    enum cunei_phase phase;
};

/* The event to write as number `i`. */
typedef struct line_event line_source(uint32_t i);

static struct line_event loop(uint32_t i)
{
    return (struct line_event){0, 100 + i % 7, CUNEI_PHASE_ENTER};
}

static struct line_event instructions(uint32_t i)
{
    return (struct line_event){3, 1 + i % 100,
                               i % 2 ? CUNEI_PHASE_YIELD : CUNEI_PHASE_ENTER};
}

/* As far as it is near, and further, in both directions. */
static struct line_event jumps(uint32_t i)
{
    static const uint32_t lines[] = {1000, 872, 1127, 1000, 871, 1000, 1128, 1, 70000};
    return (struct line_event){1, lines[i % 9], CUNEI_PHASE_ENTER};
}

static struct line_event two_functions(uint32_t i)
{
    return (struct line_event){i / 3 % 2, 50 + i % 3, CUNEI_PHASE_ENTER};
}

static void read_back(const struct scratch *scratch, line_source *event_at)
{
    struct cunei_trace trace;
    struct cunei_trace_merge merge;
    struct cunei_trace_event event;
    uint32_t i = 0;

    scratch_open(scratch, &trace);
    assert_int_equal(cunei_trace_merge_open(&merge, &trace, NULL, NULL), 0);
    while (cunei_trace_merge_next(&merge, &event) > 0) {
        const struct cunei_line *line = (const void *)event.words;
        if (event.class == CUNEI_CLASS_STACK)
            continue;
        assert_int_equal(event.class, CUNEI_CLASS_LINE);
        assert_int_equal(event.phase, event_at(i).phase);
        assert_int_equal(line->function, scratch->first + event_at(i).function);
        assert_int_equal(line->line, event_at(i).line);
        i++;
    }
    assert_int_equal(merge.rc, 0);
    cunei_trace_merge_close(&merge);
    cunei_trace_close(&trace);
    assert_int_equal(i, LINES);
}

static void check(const struct scratch *scratch, line_source *event_at)
{
    words = 0;
    for (uint32_t i = 0; i < LINES; i++)
        put(scratch, event_at(i).function, event_at(i).line, event_at(i).phase);
    assert_int_equal(cunei_recorder_stop(), 0);
    read_back(scratch, event_at);
}

/* In each packet the first is reported in full. */
static void lines_of_a_loop_take_a_word_each(void **state)
{
    check(*state, loop);
    assert_in_range(words, LINES + 2, LINES + 8);
}

static void so_do_those_of_instructions(void **state)
{
    check(*state, instructions);
    assert_in_range(words, LINES + 2, LINES + 8);
}

static void a_line_that_is_further_away_takes_two(void **state)
{
    check(*state, jumps);
    assert_in_range(words, LINES + LINES / 9 * 6, LINES + LINES / 9 * 6 + 20);
}

static void a_line_of_another_function_takes_two(void **state)
{
    check(*state, two_functions);
    assert_in_range(words, LINES + LINES / 3, LINES + LINES / 3 + 8);
}

static void the_same_address_may_be_another_function(void **state)
{
    struct scratch *scratch = *state;

    words = 0;
    for (uint32_t i = 0; i < LINES; i++) {
        epoch += i % 1000 == 0;
        put(scratch, 0, loop(i).line, CUNEI_PHASE_ENTER);
    }
    assert_int_equal(cunei_recorder_stop(), 0);
    read_back(scratch, loop);
    assert_in_range(words, LINES + LINES / 1000, LINES + LINES / 1000 + 8);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lines_of_a_loop_take_a_word_each),
        TEST(so_do_those_of_instructions),
        TEST(a_line_that_is_further_away_takes_two),
        TEST(a_line_of_another_function_takes_two),
        TEST(the_same_address_may_be_another_function),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
