// SPDX-License-Identifier: MIT
/*
 * A fixture's trace, opened: what the tests of the reader and of recovery share.
 *
 *     cmocka_unit_test_setup_teardown(a_test, set_up, tear_down)
 */
#ifndef CUNEI_TESTS_OPENED_H
#define CUNEI_TESTS_OPENED_H

#include <stddef.h>
#include <stdint.h>

#include "fixture.h"
#include "trace/directory/trace.h"
#include "trace/recovery/recover.h"

/* Anew for each test. */
extern struct fixture fixture;
extern struct cunei_trace trace;
extern struct cunei_trace_error error;
extern struct cunei_trace_recovery recovery;
extern struct cunei_trace_recover_options options;

int set_up(void **state);
int tear_down(void **state);

void open_trace(void);

/* Read stream `index` of the first process to its end: its events, or an error. */
int read_stream(size_t index, uint64_t *events, uint64_t begin, uint64_t end);

void recover(enum cunei_trace_outcome outcome);

/* Open the trace anew and count the events of all its streams. */
uint64_t count_events(void);

#endif
