// SPDX-License-Identifier: MIT
#include "trace/recovery/snapshot_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/safe_open.h"
#include "trace/directory/functions.h"
#include "trace/directory/process_folder.h"
#include "trace/directory/trace.h"
#include "trace/live/live.h"
#include "trace/packet/check.h"
#include "trace/packet/packet_scan.h"
#include "trace/packet/packet_trim.h"
#include "trace/process/file.h"
#include "trace/recovery/clock_correction.h"
#include "trace/recovery/snapshot_data.h"
#include "wire/temporary_name.h"

#define PRIVATE_MODE 0700

/* A process that is copied. */
struct work {
    const struct cunei_snapshot_options *options;
    struct cunei_snapshot *snapshot;
    struct cunei_trace_error *error;
    int to;     /* the snapshot */
    int folder; /* of the process in it */
    struct cunei_trace_open_options opening;
    struct cunei_trace_process process;
    uint64_t from;                /* tick: packets that end before it are left out */
    bool has_packets;             /* of the window */
    uint64_t *packet;             /* room for one; owned */
    _Atomic uint64_t *file_bytes; /* of all processes; borrowed */
    struct cunei_trace_live live;
};

static int cannot_write(struct work *work, int rc, const char *name)
{
    return cunei_trace_fail(work->error, rc,
                            rc == -ESTALE
                                ? "'%s' of the snapshot is not the folder that was "
                                  "made: another has its place"
                                : "'%s' of the snapshot cannot be written",
                            name);
}

/* Count bytes that are written. */
static int take(struct work *work, uint64_t size)
{
    uint64_t max = work->options->max_bytes;
    uint64_t before =
        atomic_fetch_add_explicit(work->file_bytes, size, memory_order_relaxed);

    if (max == 0 || before + size <= max)
        return 0;
    return cunei_trace_fail(work->error, -E2BIG, "the snapshot would be too large");
}

static int create(struct work *work, const char *name)
{
    struct stat status;

    return cunei_safe_open_file(work->folder, name, O_WRONLY | O_CREAT, &status);
}

static int write_file(struct work *work, const char *name,
                      const struct cunei_buffer *text)
{
    int rc = take(work, text->size);
    if (rc < 0)
        return rc;
    int fd = text->failed ? -ENOMEM : create(work, name);
    rc = fd < 0 ? fd : cunei_trace_file_write(fd, text->data, text->size, 0);

    if (rc == 0 && ftruncate(fd, (off_t)text->size) < 0)
        rc = -errno;
    if (fd >= 0)
        close(fd);
    return rc < 0 ? cannot_write(work, rc, name) : 0;
}

/* A stream of the snapshot, whose file is made for its first packet. */
struct output {
    const char *name;
    int fd; /* -1: not made yet */
    uint64_t size;
};

static int put(struct work *work, struct output *output,
               const struct cunei_packet *packet)
{
    size_t size = (size_t)(packet->packet_bits / 8);

    int rc = take(work, size);
    if (rc < 0)
        return rc;
    if (output->fd < 0)
        output->fd = create(work, output->name);
    rc = output->fd < 0
             ? output->fd
             : cunei_trace_file_write(output->fd, packet, size, output->size);
    if (rc < 0)
        return cannot_write(work, rc, output->name);
    output->size += size;
    work->snapshot->bytes += size;
    return 0;
}

/* Copy the packets of a stream's file that are in the window. */
static int copy_file(struct work *work, const struct cunei_trace_stream *stream,
                     struct output *output)
{
    bool is_cut = stream->stream_class == CUNEI_STREAM_EVENTS;
    struct cunei_packet *packet = (void *)work->packet;
    struct cunei_trace_scan scan;

    int rc = cunei_trace_scan_open(&scan, &work->process, stream);
    if (rc < 0)
        return rc == -ENOENT ? 0 : rc;
    /* What was appended since the live packets were copied is in them. */
    if (scan.size > stream->size)
        scan.size = stream->size;
    while ((rc = cunei_trace_scan_next(&scan)) != 0) {
        if (rc == -EBADMSG)
            rc = cunei_trace_scan_pass(&scan);
        if (rc < 0 || scan.head.timestamp_begin > work->process.until)
            break;
        if (rc == 0 || (is_cut && scan.head.timestamp_end < work->from))
            continue;
        rc = cunei_trace_scan_read(&scan, packet);
        if (rc == -EBADMSG) {
            work->snapshot->damaged++;
            continue;
        }
        if (rc == 0 &&
            (!is_cut || cunei_trace_packet_trim(packet, work->process.until)))
            rc = put(work, output, packet);
        work->has_packets |= is_cut;
        if (rc < 0)
            break;
    }
    cunei_trace_scan_close(&scan);
    return rc > 0 ? 0 : rc;
}

/* What is in order of a live packet, closed. */
static int copy_live(struct work *work, struct cunei_packet *packet,
                     struct output *output)
{
    struct cunei_trace_events events = cunei_trace_check_events(
        &work->process, packet,
        (const uint64_t *)(const void *)packet + CUNEI_PACKET_WORDS,
        (size_t)(packet->content_bits / 64) - CUNEI_PACKET_WORDS);

    if (events.wrong) {
        work->snapshot->damaged++;
        packet->timestamp_end = events.last_time;
    }
    if (events.word_count == 0)
        return 0;
    packet->content_bits = 64 * (CUNEI_PACKET_WORDS + events.word_count);
    packet->packet_bits = packet->content_bits;
    work->has_packets |= packet->stream_class == CUNEI_STREAM_EVENTS;
    return put(work, output, packet);
}

static int copy_stream(struct work *work, struct cunei_trace_stream *stream)
{
    struct output output = {.name = cunei_trace_stream_name(stream),
                            .fd = -1,
                            .size = stream->is_kept ? stream->size : 0};
    int rc = 0;

    if (stream->is_kept) {
        work->snapshot->bytes += stream->size;
        work->has_packets |= stream->size > 0;
        rc = take(work, stream->size);
    } else
        rc = copy_file(work, stream, &output);
    for (size_t i = 0; rc == 0 && i < stream->live.count; i++)
        rc = copy_live(work, stream->live.items[i], &output);
    if (output.fd >= 0)
        close(output.fd);
    return rc;
}

static int copy_streams(struct work *work)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < work->process.stream_count; i++)
        rc = copy_stream(work, &work->process.streams[i]);
    return rc;
}

/* The clock that recovery would correct. */
static void correct_clock(const struct work *work, struct cunei_buffer *text)
{
    char clock[CUNEI_METADATA_CLOCK_SIZE + 1];
    struct cunei_metadata metadata;
    size_t offset = 0;

    if (work->process.state == CUNEI_TRACE_ENDED ||
        work->process.state == CUNEI_TRACE_RUNNING ||
        cunei_trace_clock_correct(&work->process, &metadata) <= 0 || text->failed ||
        cunei_metadata_find_clock(text->data, text->size, &offset) < 0)
        return;
    cunei_metadata_format_clock(&metadata, clock);
    memcpy(text->data + offset, clock, CUNEI_METADATA_CLOCK_SIZE);
}

/* The tail first: a line that moves to the file in between is then seen twice. */
static int copy_metadata(struct work *work)
{
    size_t size = 0, tail_size = 0, begin = 0;
    char *text = NULL, *tail = NULL;
    struct cunei_buffer whole = {0};

    int rc = cunei_trace_live_tail(&work->live, &tail, &tail_size);
    if (rc == 0)
        rc = cunei_trace_file_load(&work->process, CUNEI_METADATA_NAME, SIZE_MAX / 2,
                                   &text, &size);
    if (rc == 0) {
        const char *end = memrchr(text, '\n', size);
        size = end ? (size_t)(end - text) + 1 : size;
        uint32_t newest = cunei_trace_functions_last(text, size);
        size_t newer = cunei_trace_functions_newer(tail, tail_size, newest, &begin);
        cunei_buffer_append(&whole, text, size);
        cunei_buffer_append(&whole, tail + begin, newer);
        correct_clock(work, &whole);
        rc = write_file(work, CUNEI_METADATA_NAME, &whole);
    } else
        (void)cunei_trace_fail(work->error, rc, "the metadata of '%s' cannot be read",
                               work->process.path);
    cunei_buffer_fini(&whole);
    free(text);
    free(tail);
    return rc;
}

static int write_description(struct work *work)
{
    struct cunei_process *description = &work->process.description;
    struct cunei_buffer text = {0};

    description->snapshot_ns = work->snapshot->until_ns;
    description->running = work->process.state == CUNEI_TRACE_RUNNING;
    cunei_process_format(description, &text);
    for (size_t i = 0; i < work->options->cause_count; i++) {
        const struct cunei_caused *caused = &work->options->causes[i];
        if (strcmp(caused->folder, cunei_trace_folder(&work->process)) == 0)
            cunei_cause_format(&caused->cause, &text);
    }
    int rc = write_file(work, CUNEI_PROCESS_NAME, &text);
    cunei_buffer_fini(&text);
    return rc;
}

/* It has nothing in the window: as if it was not part of the recording. */
static void remove_folder(const struct work *work, const char *name)
{
    static const char *const files[] = {CUNEI_METADATA_NAME, CUNEI_PROCESS_NAME};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        (void)unlinkat(work->folder, files[i], 0);
    for (size_t i = 0; i < work->process.stream_count; i++)
        (void)unlinkat(work->folder, cunei_trace_stream_name(&work->process.streams[i]),
                       0);
    (void)unlinkat(work->to, name, AT_REMOVEDIR);
}

static void add_up(struct work *work)
{
    struct cunei_snapshot *snapshot = work->snapshot;
    const struct cunei_process *description = &work->process.description;

    snapshot->processes++;
    snapshot->running += work->process.state == CUNEI_TRACE_RUNNING;
    snapshot->overtaken += description->complete_ns > snapshot->until_ns;
    if (description->complete_ns > snapshot->complete_ns)
        snapshot->complete_ns = description->complete_ns;
    if (description->keep > snapshot->ring_bytes)
        snapshot->ring_bytes = description->keep;
    if (!work->options->last_ns && description->keep_ns > snapshot->asked_ns)
        snapshot->asked_ns = description->keep_ns;
}

/* The process in its folder, which is open. */
static int copy_opened(struct work *work, const char *name)
{
    work->has_packets = false;
    int rc = copy_streams(work);
    if (rc < 0 && work->error->text[0] == '\0')
        (void)cunei_trace_fail(work->error, rc, "the packets of '%s' cannot be read",
                               work->process.path);
    if (rc == 0 && !work->has_packets && work->process.state != CUNEI_TRACE_RUNNING &&
        work->options->last_ns) {
        remove_folder(work, name);
        return 0;
    }
    if (rc == 0)
        rc = copy_metadata(work);
    if (rc == 0)
        rc = write_description(work);
    if (rc == 0)
        add_up(work);
    return rc;
}

/* By this file the folder is known for one of ours, if its rest cannot be made.  A
 * folder that has one is not the one that was made just now. */
static int mark(int folder)
{
    struct stat status;

    int fd = cunei_safe_open_file(folder, CUNEI_PROCESS_NAME,
                                  O_WRONLY | O_CREAT | O_EXCL, &status);
    if (fd < 0)
        return fd == -EEXIST ? -ESTALE : fd;
    close(fd);
    return 0;
}

/* A descriptor of the new folder.  Another user who may rename it can have put another
 * one in its place by now. */
static int make_folder(int to, const char *name)
{
    struct stat status;

    if (mkdirat(to, name, PRIVATE_MODE) < 0)
        return -errno;
    int folder = cunei_safe_open_folder(to, name, &status);
    if (folder < 0)
        return folder;
    int rc = cunei_safe_check_made(folder, &status, CUNEI_OWNER_PROBE_NAME);
    if (rc == 0)
        rc = mark(folder);
    if (rc < 0)
        close(folder);
    return rc < 0 ? rc : folder;
}

static int copy_process(struct work *work, const struct cunei_trace_process *listed)
{
    const char *name = cunei_trace_folder(listed);

    work->folder = make_folder(work->to, name);
    if (work->folder < 0)
        return cannot_write(work, work->folder, name);
    work->opening.has_ring_folder = true;
    work->opening.ring_folder = work->folder;
    int rc = cunei_process_folder_hold(&work->process, listed->path, -1, &work->opening,
                                       &work->live, work->error);
    if (rc == 0) {
        /* How it ended may be known from other processes. */
        if (work->process.state == CUNEI_TRACE_KILLED)
            work->process.state = listed->state;
        work->from = work->process.from;
        rc = copy_opened(work, name);
        cunei_trace_live_close(&work->live);
        cunei_process_folder_close(&work->process);
    }
    close(work->folder);
    return rc;
}

int cunei_snapshot_process_copy(const struct cunei_snapshot_process *copy,
                                const struct cunei_trace_process *listed)
{
    struct work work = {.options = copy->options,
                        .snapshot = copy->snapshot,
                        .error = copy->error,
                        .to = copy->to,
                        .opening = copy->opening,
                        .file_bytes = copy->file_bytes,
                        .packet = malloc(CUNEI_PACKET_SIZE)};

    if (!work.packet)
        return -ENOMEM;
    int rc = copy_process(&work, listed);
    free(work.packet);
    return rc;
}
