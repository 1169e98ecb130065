// SPDX-License-Identifier: MIT
#include "trace/live/ring_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/safe_open.h"
#include "base/units.h"
#include "trace/live/ring.h"
#include "trace/packet/check.h"
#include "trace/packet/packet_trim.h"
#include "trace/process/file.h"
#include "trace/process/process.h"
#include "trace/process/process_streams.h"
#include "wire/live.h"

/* A stream while it is made. */
struct stream {
    uint64_t size, packets;
    uint64_t last_sequence, last_end;
    int fd;
};

struct making {
    struct cunei_trace_process *process;
    const struct cunei_trace_window *window;
    int folder;
    struct stream *streams; /* owned: by number */
};

static int open_stream(const struct making *making,
                       const struct cunei_trace_stream *stream)
{
    struct stat status;

    if (making->folder < 0) {
        int fd = memfd_create("cunei", MFD_CLOEXEC);
        return fd < 0 ? -errno : fd;
    }
    int fd = cunei_safe_open_file(making->folder, cunei_trace_stream_name(stream),
                                  O_RDWR | O_CREAT, &status);
    if (fd < 0)
        return fd;
    int rc = !cunei_safe_is_own_file(&status) ? -EPERM
             : ftruncate(fd, 0) < 0           ? -errno
                                              : 0;
    if (rc < 0)
        close(fd);
    return rc < 0 ? rc : fd;
}

/* The stream's first packet: it is known from now on, and empty. */
static int begin_stream(struct making *making, uint64_t number)
{
    struct cunei_trace_stream *stream = NULL;

    int rc = cunei_process_streams_add(making->process, number, &stream);
    if (rc < 0)
        return rc;
    int fd = open_stream(making, stream);
    if (fd < 0)
        return fd;
    making->streams[number].fd = fd;
    return 0;
}

static bool is_in_order(const struct stream *stream, const struct cunei_packet *packet)
{
    return stream->size == 0 ||
           !cunei_trace_check_order(packet, stream->last_sequence, stream->last_end);
}

static int add_packet(void *context, struct cunei_packet *packet)
{
    struct making *making = context;
    struct stream *stream = &making->streams[packet->stream];

    if (!is_in_order(stream, packet) ||
        !cunei_trace_packet_trim(packet, making->window->until))
        return 0;
    int rc =
        stream->size == 0 && stream->fd < 0 ? begin_stream(making, packet->stream) : 0;
    if (rc == 0)
        rc = cunei_trace_file_write(stream->fd, packet, packet->packet_bits / 8,
                                    stream->size);
    if (rc < 0)
        return rc;
    stream->size += packet->packet_bits / 8;
    stream->packets++;
    stream->last_sequence = packet->sequence;
    stream->last_end = packet->timestamp_end;
    return 0;
}

/* The bytes at the beginning of a stream whose packets end at this tick or before. */
static int64_t measure_until(struct stream *stream, uint64_t tick)
{
    struct cunei_packet head;
    uint64_t at = 0;

    while (at < stream->size) {
        int64_t count = cunei_trace_file_read(stream->fd, &head, sizeof(head), at);
        if (count < 0)
            return count;
        if (head.timestamp_end > tick)
            break;
        at += head.packet_bits / 8;
        stream->packets--;
    }
    return (int64_t)at;
}

static int move_down(struct stream *stream, uint64_t skip)
{
    uint64_t words[8192];
    uint64_t to = 0;

    while (skip + to < stream->size) {
        int64_t count =
            cunei_trace_file_read(stream->fd, words, sizeof(words), skip + to);
        int rc = count < 0 ? (int)count
                 : count == 0
                     ? -EIO
                     : cunei_trace_file_write(stream->fd, words, (size_t)count, to);
        if (rc < 0)
            return rc;
        to += (uint64_t)count;
    }
    stream->size = to;
    return ftruncate(stream->fd, (off_t)to) < 0 ? -errno : 0;
}

/*
 * A packet was overwritten before it was copied, and packets from before it were not:
 * leave these out, so that what there is has no gap.
 */
static int drop_until(struct making *making, uint64_t tick)
{
    for (size_t i = 0; i < CUNEI_LIVE_STREAMS_MAX; i++) {
        struct stream *stream = &making->streams[i];
        int64_t skip = stream->fd < 0 ? 0 : measure_until(stream, tick);
        int rc = skip > 0 ? move_down(stream, (uint64_t)skip) : (int)skip;
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The streams of the ring replace what there is of them. */
static void hand_over(struct making *making)
{
    for (size_t i = 0; i < making->process->stream_count; i++) {
        struct cunei_trace_stream *stream = &making->process->streams[i];
        struct stream *made = stream->number < CUNEI_LIVE_STREAMS_MAX
                                  ? &making->streams[stream->number]
                                  : NULL;
        if (!made || made->fd < 0)
            continue;
        stream->stream_class = CUNEI_STREAM_EVENTS;
        stream->size = made->size;
        stream->packets = made->packets;
        stream->is_kept = true;
        stream->fd = made->fd;
        made->fd = -1;
        cunei_process_streams_drop_written(stream, made->last_sequence);
    }
}

static void close_streams(struct making *making)
{
    for (size_t i = 0; i < CUNEI_LIVE_STREAMS_MAX; i++) {
        if (making->streams[i].fd >= 0)
            close(making->streams[i].fd);
    }
    free(making->streams);
}

static int make_streams(struct making *making, struct cunei_trace_ring *ring,
                        uint64_t from)
{
    making->streams = malloc(CUNEI_LIVE_STREAMS_MAX * sizeof(*making->streams));
    if (!making->streams)
        return -ENOMEM;
    for (size_t i = 0; i < CUNEI_LIVE_STREAMS_MAX; i++)
        making->streams[i] = (struct stream){.fd = -1};
    int rc = cunei_trace_ring_read(ring, from, add_packet, making);
    if (rc == 0 && ring->complete_from > from)
        rc = drop_until(making, ring->complete_from);
    if (rc == 0)
        hand_over(making);
    close_streams(making);
    return rc;
}

/* The tick from which on packets are wanted: the time of --keep ends with the last
 * event that is known. */
static uint64_t wanted_from(const struct cunei_trace_process *process,
                            const struct cunei_trace_ring *ring,
                            const struct cunei_trace_window *window)
{
    unsigned __int128 kept = (unsigned __int128)ring->head.keep_ns *
                             process->metadata.frequency / CUNEI_NS_PER_S;
    uint64_t last = ring->last_end, from = window->from;

    for (size_t i = 0; i < process->stream_count; i++) {
        const struct cunei_trace_packets *live = &process->streams[i].live;
        for (size_t j = 0; j < live->count; j++) {
            if (live->items[j]->timestamp_begin > last)
                last = live->items[j]->timestamp_begin;
        }
    }
    last = last < window->until ? last : window->until;
    if (kept > 0 && kept < last && last - (uint64_t)kept > from)
        from = last - (uint64_t)kept;
    return from > ring->complete_from ? from : ring->complete_from;
}

int cunei_trace_ring_streams_find(struct cunei_trace_process *process)
{
    struct cunei_trace_ring ring;

    int rc = cunei_trace_ring_open(&ring, process);
    process->has_ring = ring.file.is_there;
    process->last_tick = ring.last_end;
    cunei_trace_ring_close(&ring);
    return rc;
}

int cunei_trace_ring_streams_load(struct cunei_trace_process *process,
                                  const struct cunei_trace_window *window, int folder)
{
    struct making making = {.process = process, .window = window, .folder = folder};
    struct cunei_trace_ring ring;

    int rc = cunei_trace_ring_open(&ring, process);
    process->has_ring = ring.file.is_there;
    if (rc == 0 && ring.is_whole) {
        process->from = wanted_from(process, &ring, window);
        rc = make_streams(&making, &ring, process->from);
        process->complete_from =
            ring.complete_from > process->from ? ring.complete_from : process->from;
        process->last_tick = ring.last_end;
    }
    cunei_trace_ring_close(&ring);
    return rc;
}
