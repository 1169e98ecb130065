// SPDX-License-Identifier: MIT
/* Splitting a stream, so that its parts can be read in parallel. */
#ifndef CUNEI_TRACE_PACKET_STREAM_SPLIT_H
#define CUNEI_TRACE_PACKET_STREAM_SPLIT_H

#include <stddef.h>
#include <stdint.h>

struct cunei_trace_process;
struct cunei_trace_stream;

/*
 * Split a stream's file into ranges of about `target_bytes` that begin at packets, so
 * that they can be read in parallel: fills `offsets` (owned by the caller; the first is
 * 0, the end is not among them).  Reads heads only, and stops at one that is damaged or
 * out of order, which the reader of the last range will come upon.
 */
int cunei_trace_split(const struct cunei_trace_process *process,
                      const struct cunei_trace_stream *stream, uint64_t target_bytes,
                      uint64_t **offsets, size_t *count);

#endif
