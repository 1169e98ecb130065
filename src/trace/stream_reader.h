// SPDX-License-Identifier: MIT
/*
 * Reading the packets of one stream, each checked as a whole.
 *
 *     struct cunei_trace_reader reader;
 *     cunei_trace_reader_open(&reader, process, stream, 0, UINT64_MAX);
 *     while ((rc = cunei_trace_reader_next(&reader, &packet)) > 0)
 *         …
 *     cunei_trace_reader_close(&reader);
 */
#ifndef CUNEI_TRACE_STREAM_READER_H
#define CUNEI_TRACE_STREAM_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/error.h"

struct cunei_packet;
struct cunei_trace_process;
struct cunei_trace_stream;

/* A checked packet, borrowed until the reader's next call. */
struct cunei_trace_packet {
    const struct cunei_packet *head;
    const uint64_t *words; /* its events: classes, lengths, ids, times are checked */
    size_t word_count;
    size_t event_count;
    uint64_t offset; /* in the stream file; UINT64_MAX: from the live file */
};

/* All but `error` is private. */
struct cunei_trace_reader {
    const struct cunei_trace_process *process; /* borrowed */
    const struct cunei_trace_stream *stream;   /* borrowed */
    uint64_t offset;                           /* of the next packet */
    uint64_t end; /* stop at a packet that begins here or later */
    unsigned live_index;
    bool has_last;
    uint64_t last_sequence; /* of the packet before, where there was one */
    uint64_t last_end;
    uint64_t *memory; /* owned: bytes of the file from `filled_offset` on */
    size_t memory_size;
    uint64_t filled_offset;
    size_t filled_size;
    uint64_t damages;               /* places where it passed something … */
    uint64_t skipped;               /* … of so many bytes */
    struct cunei_trace_error error; /* what stopped it, or was damaged */
};

/*
 * Read the stream's packets from byte `begin` of its file up to one that begins at or
 * after `end`; with `end` UINT64_MAX all of them, and the live ones behind them.  No
 * file stays open between calls, so that any number of readers may live side by side.
 */
int cunei_trace_reader_open(struct cunei_trace_reader *reader,
                            const struct cunei_trace_process *process,
                            const struct cunei_trace_stream *stream, uint64_t begin,
                            uint64_t end);

/*
 * 1: a packet, 0: no more.  Damage is passed, up to the next packet that is in order:
 * -EBADMSG: no more, and some was damaged; the packets returned are whole.  Other
 * negative errno: it could not be read.  reader->error describes either.
 */
int cunei_trace_reader_next(struct cunei_trace_reader *reader,
                            struct cunei_trace_packet *packet);
void cunei_trace_reader_close(struct cunei_trace_reader *reader);

#endif
