// SPDX-License-Identifier: MIT
/*
 * Streams cut into pieces at packets, so that threads can read them apart.
 *
 *     struct cunei_trace_pieces pieces = {0};
 *     int rc = cunei_trace_pieces_add(&pieces, process, index, stream, target_bytes);
 *     …
 *     cunei_trace_pieces_fini(&pieces);
 */
#ifndef CUNEI_TRACE_DIRECTORY_PIECES_H
#define CUNEI_TRACE_DIRECTORY_PIECES_H

#include <stddef.h>
#include <stdint.h>

struct cunei_trace_process;
struct cunei_trace_stream;

/* A range of a stream's file. */
struct cunei_trace_piece {
    size_t process;                          /* the index that the caller gave */
    const struct cunei_trace_stream *stream; /* borrowed */
    uint64_t begin, end;
};

struct cunei_trace_pieces {
    struct cunei_trace_piece *items; /* owned; those of a stream follow each other */
    size_t count, capacity;
};

/* -ENOMEM.  A stream that cannot be cut is one piece: its reader says what is wrong. */
int cunei_trace_pieces_add(struct cunei_trace_pieces *pieces,
                           const struct cunei_trace_process *process, size_t index,
                           const struct cunei_trace_stream *stream,
                           uint64_t target_bytes);
void cunei_trace_pieces_fini(struct cunei_trace_pieces *pieces);

#endif
