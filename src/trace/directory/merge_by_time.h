// SPDX-License-Identifier: MIT
/*
 * All events of a trace, one after the other in the order of their time.
 *
 *     struct cunei_trace_merge merge;
 *     cunei_trace_merge_open(&merge, &trace, NULL, NULL);
 *     while ((rc = cunei_trace_merge_next(&merge, &event)) > 0)
 *         …
 *     cunei_trace_merge_close(&merge);
 *
 * A stream that turns out to be damaged ends there; the others continue, and the damage
 * is what the last call returns.
 */
#ifndef CUNEI_TRACE_DIRECTORY_MERGE_BY_TIME_H
#define CUNEI_TRACE_DIRECTORY_MERGE_BY_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/directory/process_choice.h"
#include "trace/directory/trace.h"

/* Borrowed until the next call. */
struct cunei_trace_event {
    const struct cunei_trace_process *process;
    const struct cunei_trace_stream *stream;
    const struct cunei_packet *packet;
    const uint64_t *words; /* the record and its payload; of lines in full */
    size_t word_count;
    uint64_t time_ns; /* wall clock */
    uint32_t class;
    enum cunei_phase phase;
};

struct cunei_trace_cursor;

struct cunei_trace_merge {
    struct cunei_trace_cursor *cursors; /* owned */
    size_t cursor_count;
    struct cunei_trace_cursor **heap; /* owned: those with events left, first on top */
    size_t heap_count;
    bool is_handed_out; /* the event on top */
    const char *thread; /* borrowed: only this one's; NULL: all */
    bool is_found;      /* a process and a thread that are wanted */
    int rc;             /* of the first failure */
    struct cunei_trace_error error;
};

/*
 * Of the chosen processes, or of all where `choice` is NULL, and of the threads whose
 * number is `thread` or whose name matches it as a glob, where that is not NULL.
 */
int cunei_trace_merge_open(struct cunei_trace_merge *merge,
                           const struct cunei_trace *trace,
                           const struct cunei_trace_choice *choice, const char *thread);

/* 1: an event, 0: no more, negative errno: no more, for the reason in merge->error. */
int cunei_trace_merge_next(struct cunei_trace_merge *merge,
                           struct cunei_trace_event *event);
void cunei_trace_merge_close(struct cunei_trace_merge *merge);

#endif
