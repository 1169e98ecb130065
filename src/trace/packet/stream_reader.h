// SPDX-License-Identifier: MIT
/*
 * Reading the packets of one stream, each checked as a whole.
 *
 *     struct cunei_trace_reader *reader =
 *         cunei_trace_reader_open(process, stream, 0, UINT64_MAX);
 *     while ((rc = cunei_trace_reader_next(reader, &packet)) > 0)
 *         …
 *     cunei_trace_reader_close(reader);
 */
#ifndef CUNEI_TRACE_PACKET_STREAM_READER_H
#define CUNEI_TRACE_PACKET_STREAM_READER_H

#include <stddef.h>
#include <stdint.h>

struct cunei_packet;
struct cunei_trace_error;
struct cunei_trace_process;
struct cunei_trace_reader;
struct cunei_trace_stream;

/* A checked packet, borrowed until the reader's next call. */
struct cunei_trace_packet {
    const struct cunei_packet *head;
    const uint64_t *words; /* its events: classes, lengths, ids, times are checked */
    size_t word_count;
    size_t event_count;
    uint64_t offset; /* in the stream file; UINT64_MAX: from the live file */
};

/*
 * Read the stream's packets from byte `begin` of its file up to one that begins at or
 * after `end`; with `end` UINT64_MAX all of them, and the live ones behind them.  No
 * file stays open between calls, so that any number of readers may live side by side.
 * Process and stream are borrowed.  NULL: no memory.
 */
struct cunei_trace_reader *cunei_trace_reader_open(
    const struct cunei_trace_process *process, const struct cunei_trace_stream *stream,
    uint64_t begin, uint64_t end);
void cunei_trace_reader_close(struct cunei_trace_reader *reader);

/*
 * 1: a packet, 0: no more.  Damage is passed, up to the next packet that is in order:
 * -EBADMSG: no more, and some was damaged; the packets returned are whole.  Other
 * negative errno: it could not be read.
 */
int cunei_trace_reader_next(struct cunei_trace_reader *reader,
                            struct cunei_trace_packet *packet);

/* What was damaged, or why it could not be read; lent. */
const struct cunei_trace_error *cunei_trace_reader_error(
    const struct cunei_trace_reader *reader);

#endif
