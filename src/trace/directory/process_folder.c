// SPDX-License-Identifier: MIT
#include "trace/directory/process_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/safe_open.h"
#include "base/units.h"
#include "trace/directory/functions.h"
#include "trace/directory/open_options.h"
#include "trace/live/live.h"
#include "trace/live/ring_streams.h"
#include "trace/live/writer_alive.h"
#include "trace/packet/check.h"
#include "trace/packet/packet_scan.h"
#include "trace/packet/packet_trim.h"
#include "trace/process/error.h"
#include "trace/process/file.h"
#include "trace/process/folder_packets.h"
#include "trace/process/process.h"
#include "trace/process/process_streams.h"
#include "wire/ring.h"

/* More than a preamble of ours, of this or a later version, has. */
#define PREAMBLE_MAX (64u << 10)

int cunei_process_folder_is_one(const char *path)
{
    char *metadata = cunei_trace_path(path, CUNEI_METADATA_NAME);
    if (!metadata)
        return -ENOMEM;
    int rc = access(metadata, F_OK) == 0 ? 1 : -errno;
    free(metadata);
    return rc == -ENOENT ? 0 : rc;
}

int cunei_process_folder_load_preamble(struct cunei_trace_process *process,
                                       struct cunei_trace_error *error)
{
    char text[PREAMBLE_MAX];
    uint64_t file_size = 0;
    size_t size = 0;

    char *path = cunei_trace_path(process->path, CUNEI_METADATA_NAME);
    if (!path)
        return -ENOMEM;
    int fd = cunei_trace_file_open(process, CUNEI_METADATA_NAME, &file_size);
    int64_t count = fd < 0 ? fd : cunei_trace_file_read(fd, text, sizeof(text), 0);
    if (fd >= 0)
        close(fd);
    int rc = count < 0
                 ? (int)count
                 : cunei_metadata_parse(&process->metadata, text, (size_t)count, &size);
    if (rc == -EINVAL)
        rc = cunei_trace_fail(error, -ENODATA,
                              "'%s' is not the metadata of a cunei trace", path);
    else if (rc == -EPROTO)
        (void)cunei_trace_fail(
            error, rc,
            "'%s' was recorded by %s cunei (format %u, this one reads %u); %s",
            process->path,
            process->metadata.version > CUNEI_WIRE_VERSION ? "a newer" : "an older",
            process->metadata.version, CUNEI_WIRE_VERSION,
            process->metadata.version > CUNEI_WIRE_VERSION
                ? "upgrade cunei"
                : "read it with that version");
    else if (rc < 0)
        (void)cunei_trace_fail_to_read(error, rc, path);
    free(path);
    return rc;
}

/* A trace without a readable description can still be read. */
int cunei_process_folder_load_description(struct cunei_trace_process *process,
                                          struct cunei_trace_error *error)
{
    size_t size = 0;
    char *text = NULL;

    char *path = cunei_trace_path(process->path, CUNEI_PROCESS_NAME);
    if (!path)
        return -ENOMEM;
    int rc = cunei_trace_file_load(process, CUNEI_PROCESS_NAME, CUNEI_PROCESS_MAX,
                                   &text, &size);
    if (rc == 0)
        rc = cunei_process_parse(&process->description, text, size);
    if (rc == -EPROTO)
        (void)cunei_trace_fail(error, rc,
                               "'%s' was written by another version of cunei; read it "
                               "with that version",
                               path);
    else if (rc != -ENOMEM)
        rc = 0;
    free(text);
    free(path);
    if (process->description.pid == 0)
        process->description.pid = process->metadata.pid;
    return rc;
}

static int compare_streams(const void *left, const void *right)
{
    const struct cunei_trace_stream *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

int cunei_process_folder_add_slots(struct cunei_trace_process *process,
                                   const struct cunei_trace_live *live, uint32_t first)
{
    for (uint32_t i = first; live->is_whole && i < live->stream_count; i++) {
        struct cunei_trace_stream *stream = NULL;
        int rc = cunei_process_streams_add(process, i, &stream);
        if (rc == 0)
            rc = cunei_trace_live_class(live, i, &stream->stream_class);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int copy_live(struct cunei_trace_process *process, struct cunei_trace_live *live,
                     enum cunei_stream_class stream_class)
{
    for (uint32_t i = 0; live->is_whole && i < live->stream_count; i++) {
        struct cunei_trace_stream *stream = &process->streams[i];
        if (stream->stream_class != stream_class)
            continue;
        int rc = cunei_trace_live_copy(live, i, &stream->live);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Definitions after events: what an event uses was defined before it. */
static int load_live(struct cunei_trace_process *process, struct cunei_trace_live *live)
{
    int rc = cunei_process_folder_add_slots(process, live, 0);
    if (rc == 0)
        rc = copy_live(process, live, CUNEI_STREAM_EVENTS);
    if (rc == 0)
        rc = copy_live(process, live, CUNEI_STREAM_DEFINITIONS);
    return rc;
}

/* To list it, from its beginning. */
static DIR *open_folder(const struct cunei_trace_process *process)
{
    return process->is_held ? cunei_safe_list_folder(process->folder, ".")
                            : opendir(process->path);
}

int cunei_process_folder_add_files(struct cunei_trace_process *process,
                                   struct cunei_trace_error *error)
{
    int rc = 0;

    DIR *folder = open_folder(process);
    if (!folder)
        return cunei_trace_fail(error, -errno, "'%s' cannot be listed", process->path);
    for (struct dirent *entry; rc == 0 && (entry = readdir(folder));) {
        int64_t number = cunei_folder_stream_number(entry->d_name);
        struct cunei_trace_stream *stream = NULL;
        if (number >= 0)
            rc = cunei_process_streams_add(process, (uint64_t)number, &stream);
    }
    closedir(folder);
    return rc;
}

static void note_last(struct cunei_trace_process *process,
                      const struct cunei_packet *packet)
{
    if (packet->timestamp_end > process->last_tick)
        process->last_tick = packet->timestamp_end;
}

/*
 * How far a file is whole, and its last sequence number.  While nothing can be torn
 * only the first head is looked at; the reader reports what it finds later.
 */
static int measure(struct cunei_trace_process *process,
                   struct cunei_trace_stream *stream, bool *has_packets, uint64_t *last)
{
    struct cunei_trace_scan scan;

    int rc = cunei_trace_scan_open(&scan, process, stream);
    if (rc < 0)
        return rc == -ENOENT ? 0 : rc;
    while ((rc = cunei_trace_scan_next(&scan)) != 0) {
        if (rc == -EBADMSG) {
            stream->is_damaged = true;
            rc = cunei_trace_scan_pass(&scan);
            if (rc == 0)
                continue;
        }
        if (rc < 0)
            break;
        *has_packets = true;
        *last = scan.head.sequence;
        note_last(process, &scan.head);
        stream->stream_class = (enum cunei_stream_class)scan.head.stream_class;
        if (process->state == CUNEI_TRACE_ENDED && !process->has_live)
            break;
    }
    bool can_be_torn = process->state != CUNEI_TRACE_ENDED || process->has_live;
    if (rc == 0 && can_be_torn && !stream->is_damaged) {
        stream->size = scan.whole;
        stream->torn = scan.size - scan.whole;
    } else
        stream->size = scan.size;
    cunei_trace_scan_close(&scan);
    return rc > 0 ? 0 : rc;
}

static int measure_streams(struct cunei_trace_process *process,
                           struct cunei_trace_error *error)
{
    for (size_t i = 0; i < process->stream_count; i++) {
        struct cunei_trace_stream *stream = &process->streams[i];
        bool has_packets = false;
        uint64_t last = 0;
        if (stream->is_kept)
            continue;
        int rc = measure(process, stream, &has_packets, &last);
        if (rc < 0)
            return cunei_trace_fail_to_read(error, rc, stream->path);
        if (has_packets)
            cunei_process_streams_drop_written(stream, last);
    }
    return 0;
}

/* An open packet ends with its last event; one that is damaged is left to be found. */
static void close_packet(const struct cunei_trace_process *process,
                         struct cunei_packet *packet)
{
    const uint64_t *words = (const uint64_t *)(const void *)packet;
    struct cunei_trace_events events =
        cunei_trace_check_events(process, packet, words + CUNEI_PACKET_WORDS,
                                 packet->content_bits / 64 - CUNEI_PACKET_WORDS);

    if (!events.wrong &&
        (packet->timestamp_end < events.last_time ||
         packet->timestamp_end - packet->timestamp_begin == CUNEI_PACKET_OPEN_SPAN))
        packet->timestamp_end = events.last_time;
}

/* Packets that begin after the last wanted event are the last ones of their streams. */
static void close_packets(struct cunei_trace_process *process)
{
    for (size_t i = 0; i < process->stream_count; i++) {
        struct cunei_trace_stream *stream = &process->streams[i];
        /* A function is defined after the clock of its first event was read. */
        bool is_cut = stream->stream_class == CUNEI_STREAM_EVENTS;
        size_t kept = 0;
        for (size_t j = 0; j < stream->live.count; j++) {
            struct cunei_packet *live = stream->live.items[j];
            if (!is_cut || cunei_trace_packet_trim(live, process->until)) {
                close_packet(process, live);
                note_last(process, live);
                stream->live.items[kept++] = live;
            } else
                free(live);
        }
        stream->live.count = kept;
    }
}

static uint64_t ticks_of(const struct cunei_trace_process *process, uint64_t ns)
{
    return (uint64_t)((unsigned __int128)ns * process->metadata.frequency /
                      CUNEI_NS_PER_S);
}

/* The tick at a wall clock; 0: before the trace. */
static uint64_t tick_at(const struct cunei_trace_process *process, uint64_t wall_ns)
{
    uint64_t origin_ns = cunei_metadata_wall_ns(&process->metadata, 0);

    return wall_ns > origin_ns ? ticks_of(process, wall_ns - origin_ns) : 0;
}

/* What is wanted of a process, in its ticks. */
static struct cunei_trace_window find_window(
    const struct cunei_trace_process *process, const struct cunei_trace_live *live,
    const struct cunei_trace_open_options *options)
{
    uint64_t base = live->head.base, last = ticks_of(process, options->last_ns);
    struct cunei_trace_window window = {.until = UINT64_MAX};

    if (options->has_until && process->state == CUNEI_TRACE_RUNNING && live->is_whole &&
        cunei_trace_is_this_boot(live->head.boot_id)) {
        window.until =
            options->until_counter > base ? options->until_counter - base : 0;
        window.from = last > 0 && last < window.until ? window.until - last : 0;
    } else if (options->from_ns)
        window.from = tick_at(process, options->from_ns);
    return window;
}

/* Since when nothing is missing; what was missing before it began is of no concern. */
static void note_complete(struct cunei_trace_process *process)
{
    uint64_t complete_ns =
        cunei_metadata_wall_ns(&process->metadata, process->complete_from);

    if (process->complete_from && complete_ns > process->description.start_ns)
        process->description.complete_ns = complete_ns;
}

/* After the live packets were copied: what was in a buffer is there, or in the ring. */
static int load_ring(struct cunei_trace_process *process,
                     const struct cunei_trace_live *live,
                     const struct cunei_trace_open_options *options)
{
    struct cunei_trace_window window = find_window(process, live, options);

    process->from = window.from;
    process->until = window.until;
    if (window.from)
        process->complete_from = window.from;
    if (options->without_ring)
        return cunei_trace_ring_streams_find(process);
    return cunei_trace_ring_streams_load(
        process, &window, options->has_ring_folder ? options->ring_folder : -1);
}

/*
 * Open the live file and find out whether its writer still runs.  If not, what is read
 * from here on is final; what was read while its writer was still alive is not.
 */
static int open_live(const struct cunei_trace_process *process,
                     struct cunei_trace_live *live, bool *is_alive)
{
    int rc = cunei_trace_live_open(live, process);
    if (rc < 0)
        return rc;
    *is_alive = cunei_trace_live_is_alive(live, &process->metadata);
    if (*is_alive)
        return 0;
    cunei_trace_live_close(live);
    return cunei_trace_live_open(live, process);
}

enum cunei_trace_state cunei_process_folder_state(
    const struct cunei_trace_process *process, const struct cunei_trace_live *live,
    bool is_alive)
{
    if (is_alive)
        return CUNEI_TRACE_RUNNING;
    if (process->description.running)
        return CUNEI_TRACE_SNAPSHOT;
    /* Without a description it is unknown whether it was killed. */
    bool is_described = process->description.start_ns != 0;
    if (process->description.ended || (!live->file.is_there && !is_described))
        return CUNEI_TRACE_ENDED;
    if (process->description.became)
        return CUNEI_TRACE_REPLACED;
    return process->description.exited ? CUNEI_TRACE_EXITED : CUNEI_TRACE_KILLED;
}

/*
 * The order matters while the process runs: it describes its end before it removes the
 * live file, writes a packet before it reuses the buffer, and defines a function before
 * it uses it.  So here the live file comes first, the files second, functions last.
 */
static int load(struct cunei_trace_process *process, struct cunei_trace_live *live,
                const struct cunei_trace_open_options *options,
                struct cunei_trace_error *error)
{
    int rc = cunei_process_folder_load_preamble(process, error);
    if (rc < 0)
        return rc;
    bool is_alive = false;
    rc = open_live(process, live, &is_alive);
    if (rc == 0)
        rc = load_live(process, live);
    if (rc < 0)
        return cunei_trace_fail(error, rc, "'%s/%s' cannot be read", process->path,
                                CUNEI_LIVE_NAME);
    rc = cunei_process_folder_load_description(process, error);
    if (rc < 0)
        return rc;
    process->has_live = live->file.is_there;
    /* A process that ended normally has its losses in the description; otherwise take
     * them from the live file. */
    if (live->is_whole && !process->description.ended)
        cunei_trace_live_count(live, &process->description);
    process->state = cunei_process_folder_state(process, live, is_alive);
    rc = load_ring(process, live, options);
    if (rc < 0)
        return cunei_trace_fail(error, rc, "'%s/%s' cannot be read", process->path,
                                CUNEI_RING_NAME);
    rc = cunei_process_folder_add_files(process, error);
    if (rc == 0 && process->stream_count > 0)
        qsort(process->streams, process->stream_count, sizeof(process->streams[0]),
              compare_streams);
    if (rc == 0)
        rc = measure_streams(process, error);
    if (rc == 0)
        rc = cunei_trace_functions_load(process, live, error);
    if (rc == 0)
        close_packets(process);
    if (rc == 0)
        note_complete(process);
    return rc;
}

int cunei_process_folder_open(struct cunei_trace_process *process, const char *path,
                              const struct cunei_trace_open_options *options,
                              struct cunei_trace_error *error)
{
    return cunei_process_folder_hold(process, path, -1, options, NULL, error);
}

int cunei_process_folder_hold(struct cunei_trace_process *process, const char *path,
                              int folder,
                              const struct cunei_trace_open_options *options,
                              struct cunei_trace_live *live,
                              struct cunei_trace_error *error)
{
    struct cunei_trace_live own = {.file.fd = -1};

    *process = (struct cunei_trace_process){
        .path = strdup(path), .is_held = folder >= 0, .folder = folder};
    *error = (struct cunei_trace_error){0};
    int rc = process->path ? load(process, &own, options, error) : -ENOMEM;
    if (rc < 0)
        cunei_process_folder_close(process);
    if (rc == 0 && live)
        *live = own;
    else
        cunei_trace_live_close(&own);
    return rc;
}

void cunei_process_folder_close(struct cunei_trace_process *process)
{
    for (size_t i = 0; i < process->stream_count; i++) {
        free(process->streams[i].path);
        if (process->streams[i].is_kept)
            close(process->streams[i].fd);
        cunei_trace_packets_fini(&process->streams[i].live);
    }
    free(process->streams);
    free(process->path);
    cunei_process_fini(&process->description);
    cunei_trace_functions_fini(process);
    *process = (struct cunei_trace_process){0};
}
