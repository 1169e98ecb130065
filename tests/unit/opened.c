// SPDX-License-Identifier: MIT
#include "opened.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

struct fixture fixture;
struct cunei_trace trace;
struct cunei_trace_error error;
struct cunei_trace_recovery recovery;
struct cunei_trace_recover_options options;

int set_up(void **state)
{
    (void)state;
    fixture_init(&fixture);
    trace = (struct cunei_trace){0};
    options = (struct cunei_trace_recover_options){0};
    return 0;
}

int tear_down(void **state)
{
    (void)state;
    cunei_trace_close(&trace);
    fixture_fini(&fixture);
    return 0;
}

void open_trace(void)
{
    int rc = cunei_trace_open(&trace, fixture.directory, &error);
    if (rc < 0)
        print_error("%s\n", error.text);
    assert_int_equal(rc, 0);
}

int read_stream(size_t index, uint64_t *events, uint64_t begin, uint64_t end)
{
    struct cunei_trace_reader *reader = cunei_trace_reader_open(
        &trace.processes[0], &trace.processes[0].streams[index], begin, end);
    struct cunei_trace_packet packet;
    int rc;

    *events = 0;
    assert_non_null(reader);
    while ((rc = cunei_trace_reader_next(reader, &packet)) > 0)
        *events += packet.event_count;
    error = *cunei_trace_reader_error(reader);
    cunei_trace_reader_close(reader);
    return rc;
}

void recover(enum cunei_trace_outcome outcome)
{
    int rc = cunei_trace_recover(fixture.folder, &options, &recovery, &error);
    if (rc < 0)
        print_error("%s\n", error.text);
    assert_int_equal(rc, 0);
    assert_int_equal(recovery.outcome, outcome);
}

uint64_t count_events(void)
{
    uint64_t count = 0;

    cunei_trace_close(&trace);
    assert_int_equal(cunei_trace_open(&trace, fixture.directory, &error), 0);
    for (size_t i = 0; i < trace.processes[0].stream_count; i++) {
        struct cunei_trace_reader *reader = cunei_trace_reader_open(
            &trace.processes[0], &trace.processes[0].streams[i], 0, UINT64_MAX);
        struct cunei_trace_packet packet;
        int rc = 0;
        assert_non_null(reader);
        while (rc == 0 && (rc = cunei_trace_reader_next(reader, &packet)) > 0) {
            count += packet.event_count;
            rc = 0;
        }
        if (rc < 0)
            print_error("%s\n", cunei_trace_reader_error(reader)->text);
        assert_int_equal(rc, 0);
        cunei_trace_reader_close(reader);
    }
    return count;
}
