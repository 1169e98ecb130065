// SPDX-License-Identifier: MIT
/*
 * The streams that a ring holds, made as their files would be: into memory for a
 * reader, or into files.  While there is a ring, it holds all events of its process: a
 * file of such a stream is what an interrupted recovery left, and is not read.
 */
#ifndef CUNEI_TRACE_LIVE_RING_STREAMS_H
#define CUNEI_TRACE_LIVE_RING_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_trace_process;

/* What is taken of a process, in its ticks. */
struct cunei_trace_window {
    uint64_t from;  /* packets that end before this are left out; 0: none is */
    uint64_t until; /* events after this are left out; UINT64_MAX: none is */
};

/* Only find out whether there is a ring: has_ring. */
int cunei_trace_ring_streams_find(struct cunei_trace_process *process);

/*
 * Read the ring of the process, if there is one, after its live packets were copied.
 * Into files of this folder; -1: into memory.  Fills in has_ring, complete_from, and
 * the streams.
 */
int cunei_trace_ring_streams_load(struct cunei_trace_process *process,
                                  const struct cunei_trace_window *window, int folder);

#endif
