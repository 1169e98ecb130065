// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "opened.h"
#include "trace/directory/merge_by_time.h"
#include "trace/directory/process_choice.h"
#include "trace/directory/trace_begin.h"
#include "trace/packet/stream_split.h"

static void ranges_of_a_split_hold_every_packet_once(void **state)
{
    (void)state;
    uint64_t *offsets = NULL, events = 0, sum = 0;
    size_t count = 0;
    for (uint64_t i = 0; i < 20; i++)
        fixture_append_calls(&fixture, i, 1000 + 10000 * i, 100 + 10 * i);
    open_trace();
    const struct cunei_trace_stream *stream = &trace.processes[0].streams[0];

    assert_int_equal(
        cunei_trace_split(&trace.processes[0], stream, 10000, &offsets, &count), 0);

    assert_in_range(count, 4, 10);
    assert_int_equal(offsets[0], 0);
    for (size_t i = 0; i < count; i++) {
        uint64_t end = i + 1 < count ? offsets[i + 1] : UINT64_MAX;
        assert_int_equal(read_stream(0, &events, offsets[i], end), 0);
        sum += events;
    }
    assert_int_equal(sum, 20 + 2 * (20 * 100 + 10 * 190));
    free(offsets);
}

static void a_small_stream_is_one_range(void **state)
{
    (void)state;
    uint64_t *offsets = NULL;
    size_t count = 0;
    fixture_append_calls(&fixture, 0, 1000, 3);
    open_trace();

    assert_int_equal(cunei_trace_split(&trace.processes[0],
                                       &trace.processes[0].streams[0], 1 << 20,
                                       &offsets, &count),
                     0);

    assert_int_equal(count, 1);
    assert_int_equal(offsets[0], 0);
    free(offsets);
}

/* So that the reader of the last range meets it, wherever ranges would part. */
static void a_split_ends_before_a_packet_out_of_order(void **state)
{
    const uint64_t sequences[] = {0, 1, 2, 1, 3, 4}, begins[] = {1, 2, 3, 4, 5, 6};
    const uint64_t backward[] = {1, 2, 3, 1, 5, 6}, ascending[] = {0, 1, 2, 3, 4, 5};
    const struct {
        const uint64_t *sequences, *begins;
    } rows[] = {{sequences, begins}, {ascending, backward}};

    for (size_t row = 0; row < 2; row++) {
        uint64_t *offsets = NULL, events = 0;
        size_t count = 0;
        for (size_t i = 0; i < 6; i++)
            fixture_append_calls(&fixture, rows[row].sequences[i],
                                 10000 * rows[row].begins[i], 100);
        open_trace();

        assert_int_equal(cunei_trace_split(&trace.processes[0],
                                           &trace.processes[0].streams[0], 1, &offsets,
                                           &count),
                         0);

        assert_int_equal(count, 3);
        assert_int_equal(read_stream(0, &events, offsets[2], UINT64_MAX), -EBADMSG);
        assert_int_equal(events, 3 * 201); /* all but that one */
        free(offsets);
        tear_down(state);
        assert_int_equal(set_up(state), 0);
    }
}

/* Only events are damaged: when the packet was, is known. */
static void a_trace_begins_with_a_packet_whose_events_are_damaged(void **state)
{
    uint64_t events = 0;

    (void)state;
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture_put(&fixture, 1001, 900, CUNEI_PHASE_ENTER);
    fixture_append(&fixture);
    fixture_append_calls(&fixture, 1, 5000, 3);
    open_trace();
    const struct cunei_trace_process *process = &trace.processes[0];

    assert_int_equal(read_stream(0, &events, 0, UINT64_MAX), -EBADMSG);
    assert_int_equal(cunei_trace_begin_ns(&trace),
                     cunei_metadata_wall_ns(&process->metadata, 1000));
}

static void a_trace_begins_behind_a_head_that_is_damaged(void **state)
{
    static const uint64_t nothing[64] = {0};

    (void)state;
    fixture_append_file(fixture_path(&fixture, "s0"), nothing, sizeof(nothing));
    fixture_append_calls(&fixture, 1, 5000, 3);
    open_trace();
    const struct cunei_trace_process *process = &trace.processes[0];

    assert_int_equal(cunei_trace_begin_ns(&trace),
                     cunei_metadata_wall_ns(&process->metadata, 5000));
}

static void a_merge_gives_all_events_in_order_of_time(void **state)
{
    (void)state;
    struct cunei_trace_merge merge;
    struct cunei_trace_event event;
    uint64_t last = 0, count = 0;
    fixture_append_calls(&fixture, 0, 1000, 3);
    fixture_packet_begin(&fixture, 1, 0, 1001);
    fixture_put(&fixture, 1004, 1025, CUNEI_PHASE_ENTER);
    fixture_append(&fixture);
    fixture_add_process(&fixture, 12);
    fixture_append_calls(&fixture, 0, 1002, 5);
    open_trace();

    assert_int_equal(cunei_trace_merge_open(&merge, &trace, NULL, NULL), 0);
    for (; cunei_trace_merge_next(&merge, &event) > 0; count++) {
        assert_true(event.time_ns >= last);
        last = event.time_ns;
    }
    assert_int_equal(cunei_trace_merge_next(&merge, &event), 0);
    cunei_trace_merge_close(&merge);

    assert_int_equal(count, 7 + 2 + 11);
    assert_int_equal(last, FIXTURE_START_S * 1000000000 + 1011);
}

static void put_line(uint64_t time, uint32_t function, uint32_t line)
{
    const uint64_t words[] = {cunei_record(time, CUNEI_CLASS_LINE, 0),
                              (uint64_t)function << 32 | line};
    fixture_put_words(&fixture, time, words, 2);
}

static void a_merge_gives_lines_in_full(void **state)
{
    (void)state;
    struct cunei_trace_merge merge;
    struct cunei_trace_event event;
    uint32_t expected[] = {17, 20, 1, 500, 372}, count = 0;
    fixture_packet_begin(&fixture, 0, 0, 1000);
    put_line(1001, 1024, 17);
    fixture_put(&fixture, 1003, CUNEI_NEAR_FIRST + CUNEI_NEAR_ABOVE + 3, 0);
    fixture_put(&fixture, 1005, CUNEI_NEAR_FIRST + CUNEI_NEAR_ABOVE - 16, 3);
    put_line(1006, 1024, 500);
    fixture_put(&fixture, 1007, CUNEI_NEAR_FIRST, 0);
    fixture_append(&fixture);
    fixture_packet_begin(&fixture, 1, 0, 1000); /* another stream in between */
    put_line(1002, 1025, 99);
    fixture_put(&fixture, 1004, CUNEI_NEAR_FIRST + CUNEI_NEAR_ABOVE, 0);
    fixture_append(&fixture);
    open_trace();

    assert_int_equal(cunei_trace_merge_open(&merge, &trace, NULL, NULL), 0);
    while (cunei_trace_merge_next(&merge, &event) > 0) {
        const struct cunei_line *line = (const void *)event.words;
        bool is_other = event.stream->number == 1;
        if (event.class == CUNEI_CLASS_STACK)
            continue;
        assert_int_equal(event.class, CUNEI_CLASS_LINE);
        assert_int_equal(event.word_count, 2);
        assert_int_equal(event.phase, !is_other && count == 2 ? 3 : 0);
        assert_int_equal(line->line, is_other ? 99 : expected[count++]);
        assert_int_equal(line->function, is_other ? 1025 : 1024);
    }
    cunei_trace_merge_close(&merge);

    assert_int_equal(count, 5);
}

static uint64_t count_merged(const char *process, const char *thread)
{
    const struct cunei_trace_choice choice = {&process, process != NULL};
    struct cunei_trace_merge merge;
    struct cunei_trace_event event;
    uint64_t count = 0;

    assert_int_equal(cunei_trace_merge_open(&merge, &trace, &choice, thread), 0);
    while (cunei_trace_merge_next(&merge, &event) > 0)
        count++;
    cunei_trace_merge_close(&merge);
    return count;
}

static void a_merge_can_be_of_one_process_or_thread(void **state)
{
    (void)state;
    fixture_append_calls(&fixture, 0, 1000, 3);
    fixture_packet_begin(&fixture, 1, 0, 1001);
    fixture_append(&fixture);
    fixture_add_process(&fixture, 12);
    fixture_append_calls(&fixture, 0, 1002, 5);
    open_trace();

    assert_int_equal(count_merged("12", NULL), 11);
    assert_int_equal(count_merged("host-12-0", NULL), 11);
    assert_int_equal(count_merged("host-4711-*", NULL), 8);
    assert_int_equal(count_merged("4711", NULL), 8);
    assert_int_equal(count_merged(NULL, "4712"), 1);
    assert_int_equal(count_merged("13", NULL), 0);
}

static void a_merge_continues_past_damage_and_says_it_at_the_end(void **state)
{
    (void)state;
    struct cunei_trace_merge merge;
    struct cunei_trace_event event;
    uint64_t count = 0;
    int rc;
    fixture_append_calls(&fixture, 0, 1000, 3);
    fixture_append_file(fixture_path(&fixture, "s0"), "junk", 4);
    fixture_add_process(&fixture, 12);
    fixture_append_calls(&fixture, 0, 5000, 5);
    open_trace();

    assert_int_equal(cunei_trace_merge_open(&merge, &trace, NULL, NULL), 0);
    while ((rc = cunei_trace_merge_next(&merge, &event)) > 0)
        count++;

    assert_int_equal(rc, -EBADMSG);
    assert_int_equal(count, 7 + 11);
    assert_non_null(strstr(merge.error.text, "host-4711-0/s0"));
    cunei_trace_merge_close(&merge);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ranges_of_a_split_hold_every_packet_once),
        TEST(a_small_stream_is_one_range),
        TEST(a_split_ends_before_a_packet_out_of_order),
        TEST(a_trace_begins_with_a_packet_whose_events_are_damaged),
        TEST(a_trace_begins_behind_a_head_that_is_damaged),
        TEST(a_merge_gives_all_events_in_order_of_time),
        TEST(a_merge_gives_lines_in_full),
        TEST(a_merge_can_be_of_one_process_or_thread),
        TEST(a_merge_continues_past_damage_and_says_it_at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
