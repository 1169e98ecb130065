// SPDX-License-Identifier: MIT
#include "trace/packet/stream_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace/packet/check.h"
#include "trace/packet/packet_scan.h"
#include "trace/process/error.h"
#include "trace/process/file.h"
#include "trace/process/process.h"

struct cunei_trace_reader {
    const struct cunei_trace_process *process; /* borrowed */
    const struct cunei_trace_stream *stream;   /* borrowed */
    uint64_t offset;                           /* of the next packet */
    uint64_t end; /* stop at a packet that begins here or later */
    size_t live_index;
    bool has_last;
    uint64_t last_sequence; /* of the packet before, where there was one */
    uint64_t last_end;
    uint64_t filled_offset; /* where the bytes in `memory` are in the file … */
    size_t filled_size;     /* … and how many there are */
    uint64_t damages;       /* places that could not be read */
    uint64_t skipped;       /* bytes in these places */
    struct cunei_trace_error error; /* what stopped it, or was damaged */
    size_t memory_size;
    uint64_t memory[];
};

struct cunei_trace_reader *cunei_trace_reader_open(
    const struct cunei_trace_process *process, const struct cunei_trace_stream *stream,
    uint64_t begin, uint64_t end)
{
    size_t size =
        stream->size < CUNEI_PACKET_SIZE ? (size_t)stream->size : CUNEI_PACKET_SIZE;
    struct cunei_trace_reader *reader = malloc(sizeof(*reader) + size);

    if (reader)
        *reader = (struct cunei_trace_reader){.process = process,
                                              .stream = stream,
                                              .offset = begin,
                                              .end = end,
                                              .memory_size = size};
    return reader;
}

void cunei_trace_reader_close(struct cunei_trace_reader *reader)
{
    free(reader);
}

const struct cunei_trace_error *cunei_trace_reader_error(
    const struct cunei_trace_reader *reader)
{
    return &reader->error;
}

/* Have the file's bytes from the next packet on in memory, as many as there is room. */
static int fill(struct cunei_trace_reader *reader)
{
    const struct cunei_trace_stream *stream = reader->stream;
    uint64_t rest = stream->size - reader->offset;
    size_t size = rest < reader->memory_size ? (size_t)rest : reader->memory_size;
    uint64_t file_size = 0;

    int fd = cunei_trace_stream_open(reader->process, stream, &file_size);
    int64_t count =
        fd < 0 ? fd : cunei_trace_file_read(fd, reader->memory, size, reader->offset);
    if (fd >= 0)
        close(fd);
    if (count < 0)
        return cunei_trace_fail_to_read(&reader->error, (int)count, stream->path);
    reader->filled_offset = reader->offset;
    reader->filled_size = (size_t)count;
    return 0;
}

/* Say what is wrong at the first place, and count what is passed. */
static void note_damage(struct cunei_trace_reader *reader, uint64_t offset,
                        const char *what)
{
    if (reader->damages++ > 0)
        return;
    if (offset == UINT64_MAX)
        (void)cunei_trace_fail(&reader->error, -EBADMSG,
                               "'%s/.live' is damaged in the packets of stream %" PRIu64
                               ": %s",
                               reader->process->path, reader->stream->number, what);
    else
        (void)cunei_trace_fail(&reader->error, -EBADMSG,
                               "'%s' is damaged at byte %" PRIu64 ": %s",
                               reader->stream->path, offset, what);
}

/* No more comes: whether all of it was whole. */
static int end(struct cunei_trace_reader *reader)
{
    struct cunei_trace_error first = reader->error;

    if (reader->damages == 0)
        return 0;
    if (reader->skipped > 0)
        (void)cunei_trace_fail(
            &reader->error, -EBADMSG,
            "%s; %" PRIu64 " bytes at %" PRIu64 " place%s cannot be read", first.text,
            reader->skipped, reader->damages, reader->damages == 1 ? "" : "s");
    reader->skipped = 0;
    return -EBADMSG;
}

/* The packet that begins `offset`, whose head is in order: its place in the stream. */
static const char *check_order(const struct cunei_trace_reader *reader,
                               const struct cunei_packet *head)
{
    if (head->stream_class != reader->stream->stream_class)
        return "the packet has another stream class than those before it";
    return reader->has_last
               ? cunei_trace_check_order(head, reader->last_sequence, reader->last_end)
               : NULL;
}

/* Check the packet at `head`, all of whose bytes are there, and hand it out; 0: it is
 * damaged. */
static int take(struct cunei_trace_reader *reader, const struct cunei_packet *head,
                uint64_t offset, struct cunei_trace_packet *packet)
{
    const uint64_t *words = (const uint64_t *)(const void *)head;
    size_t word_count = (size_t)(head->content_bits / 64) - CUNEI_PACKET_WORDS;
    const char *wrong = check_order(reader, head);
    struct cunei_trace_events events = {0};

    if (!wrong) {
        events = cunei_trace_check_events(reader->process, head,
                                          words + CUNEI_PACKET_WORDS, word_count);
        wrong = events.wrong;
        if (!wrong && events.last_time > head->timestamp_end)
            wrong = "an event is later than the end of its packet";
    }
    if (wrong) {
        note_damage(reader, offset, wrong);
        return 0;
    }
    reader->has_last = true;
    reader->last_sequence = head->sequence;
    reader->last_end = head->timestamp_end;
    *packet = (struct cunei_trace_packet){.head = head,
                                          .words = words + CUNEI_PACKET_WORDS,
                                          .word_count = word_count,
                                          .event_count = events.event_count,
                                          .offset = offset};
    return 1;
}

/* Where the next packet is in memory, and how many of its bytes are there. */
static const struct cunei_packet *peek(const struct cunei_trace_reader *reader,
                                       size_t *size)
{
    uint64_t skip = reader->offset - reader->filled_offset;

    if (reader->offset < reader->filled_offset || skip >= reader->filled_size) {
        *size = 0;
        return NULL;
    }
    *size = reader->filled_size - (size_t)skip;
    return (const void *)((const char *)reader->memory + skip);
}

static bool is_whole(const struct cunei_packet *head, size_t size)
{
    return size >= sizeof(*head) && head->packet_bits / 8 <= size;
}

/*
 * Go on at the next packet behind `offset`.  What was checked is not looked at again,
 * so that hostile files take no longer than whole ones.
 */
static int pass(struct cunei_trace_reader *reader, uint64_t offset)
{
    const struct cunei_trace_stream *stream = reader->stream;
    uint64_t last = reader->end < stream->size ? reader->end : stream->size;
    uint64_t file_size = 0;
    int64_t found = (int64_t)last;

    if (offset < last) {
        int fd = cunei_trace_stream_open(reader->process, stream, &file_size);
        found = fd < 0 ? fd
                       : cunei_trace_scan_find(fd, offset, last,
                                               reader->process->metadata.uuid,
                                               stream->number);
        if (fd >= 0)
            close(fd);
    }
    if (found < 0)
        return cunei_trace_fail_to_read(&reader->error, (int)found, stream->path);
    reader->skipped += (uint64_t)found - reader->offset;
    reader->offset = (uint64_t)found;
    return 0;
}

/* 0: that was damage, and what comes next may be a packet. */
static int next_in_file(struct cunei_trace_reader *reader,
                        struct cunei_trace_packet *packet)
{
    size_t size = 0;
    const struct cunei_packet *head = peek(reader, &size);

    if (!is_whole(head, size)) {
        int rc = fill(reader);
        if (rc < 0)
            return rc;
        head = peek(reader, &size);
    }
    const char *wrong =
        size < sizeof(*head)
            ? "it is cut short"
            : cunei_trace_check_head(head, reader->process->metadata.uuid,
                                     reader->stream->number);
    if (!wrong && !is_whole(head, size))
        wrong = "it is cut short";
    if (wrong) {
        note_damage(reader, reader->offset, wrong);
        return pass(reader, reader->offset + sizeof(uint64_t));
    }
    uint64_t next = reader->offset + head->packet_bits / 8;
    if (take(reader, head, reader->offset, packet) == 0)
        return pass(reader, next);
    reader->offset = next;
    return 1;
}

int cunei_trace_reader_next(struct cunei_trace_reader *reader,
                            struct cunei_trace_packet *packet)
{
    const struct cunei_trace_stream *stream = reader->stream;
    int rc = 0;

    while (rc == 0 && reader->offset < stream->size && reader->offset < reader->end)
        rc = next_in_file(reader, packet);
    while (rc == 0 && reader->end == UINT64_MAX &&
           reader->live_index < stream->live.count)
        rc = take(reader, stream->live.items[reader->live_index++], UINT64_MAX, packet);
    return rc == 0 ? end(reader) : rc;
}
