// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "opened.h"

static void put_tail(const char *text)
{
    struct cunei_live_tail *tail = calloc(1, sizeof(*tail));
    assert_non_null(tail);
    tail->length = strlen(text);
    memcpy(tail->text, text, tail->length);
    int fd = open(fixture_path(&fixture, CUNEI_LIVE_NAME), O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(fd, tail, sizeof(*tail), CUNEI_LIVE_TAIL_OFFSET),
                     sizeof(*tail));
    close(fd);
    free(tail);
}

/* The lines of functions a:f0, a:f1 … with these ids. */
static char *lines_of(const uint32_t *ids, size_t count)
{
    struct cunei_buffer text = {0};
    for (size_t i = 0; i < count; i++) {
        struct cunei_function function = {ids[i], 1, "a", "late", "/x/a.py", 0};
        cunei_metadata_format_function(&function, &text);
    }
    return text.data;
}

static void definitions_that_are_only_live_are_appended_once(void **state)
{
    (void)state;
    static const uint32_t ids[] = {1025, 1026, 1027};
    fixture_live_create(&fixture, 1, false);
    char *lines = lines_of(ids, 3);
    put_tail(lines);
    free(lines);
    fixture_packet_begin(&fixture, 0, 0, 3000);
    fixture_put(&fixture, 3001, 1027, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);
    assert_int_equal(count_events(), 2);

    recover(CUNEI_RECOVER_DONE);

    assert_int_equal(count_events(), 2);
    assert_int_equal(trace.processes[0].function_count, 4);
    assert_string_equal(cunei_trace_function(&trace.processes[0], 1025)->qualname, "g");
    assert_string_equal(cunei_trace_function(&trace.processes[0], 1027)->qualname,
                        "late");
}

static void ids_that_go_back_end_the_live_definitions(void **state)
{
    (void)state;
    static const uint32_t ids[] = {1026, 1024, 1027};
    fixture_live_create(&fixture, 1, false);
    char *lines = lines_of(ids, 3);
    put_tail(lines);
    free(lines);

    recover(CUNEI_RECOVER_DONE);

    assert_int_equal(count_events(), 0);
    assert_non_null(cunei_trace_function(&trace.processes[0], 1026));
    assert_null(cunei_trace_function(&trace.processes[0], 1027));
}

static void a_clock_is_corrected_by_packets_far_enough_apart(void **state)
{
    (void)state;
    uint64_t second = 1000000000;
    fixture_append_calls(&fixture, 0, 5000, 3);
    fixture_live_create(&fixture, 1, false);
    fixture_packet_begin(&fixture, 0, 1, 10 * second + 5000);
    fixture.packet->monotonic_ns = 10000 + 10 * second + 1000; /* 100 ppb slow */
    fixture_put(&fixture, 10 * second + 6000, 1024, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);

    recover(CUNEI_RECOVER_DONE);

    assert_true(recovery.is_clock_changed);
    assert_int_equal(count_events(), 9);
    const struct cunei_metadata *metadata = &trace.processes[0].metadata;
    assert_int_equal(metadata->frequency, 999999900);
    uint64_t start = FIXTURE_START_S * second;
    assert_in_range(cunei_metadata_wall_ns(metadata, 5000), start + 4998, start + 5002);
    assert_in_range(cunei_metadata_wall_ns(metadata, 10 * second + 5000),
                    start + 10 * second + 5998, start + 10 * second + 6002);
}

static void a_clock_is_left_alone_where_packets_say_nothing_better(void **state)
{
    (void)state;
    uint64_t second = 1000000000;
    fixture_append_calls(&fixture, 0, 5000, 3);
    fixture_live_create(&fixture, 1, false);
    fixture_packet_begin(&fixture, 0, 1, 10 * second);
    fixture.packet->monotonic_ns = 20 * second; /* the machine slept */
    fixture_put(&fixture, 10 * second, 1024, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);

    recover(CUNEI_RECOVER_DONE);

    assert_false(recovery.is_clock_changed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(definitions_that_are_only_live_are_appended_once),
        TEST(ids_that_go_back_end_the_live_definitions),
        TEST(a_clock_is_corrected_by_packets_far_enough_apart),
        TEST(a_clock_is_left_alone_where_packets_say_nothing_better),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
