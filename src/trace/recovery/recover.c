// SPDX-License-Identifier: MIT
#include "trace/recovery/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/safe_open.h"
#include "trace/directory/functions.h"
#include "trace/directory/open_options.h"
#include "trace/directory/process_folder.h"
#include "trace/live/live.h"
#include "trace/live/writer_alive.h"
#include "trace/packet/check.h"
#include "trace/process/file.h"
#include "trace/recovery/clock_correction.h"
#include "wire/ring.h"
#include "wire/temporary_name.h"

/*
 * What one recovery works on.  The process is held: all of it is read and written in
 * the folder that was opened first, whatever its path leads to meanwhile.
 */
struct work {
    struct cunei_trace_process process;
    uid_t owner; /* of the folder */
    struct cunei_trace_recovery *recovery;
    struct cunei_trace_error *error;
    struct cunei_trace_live live;
};

static int cannot_write(struct work *work, int rc, const char *path)
{
    return cunei_trace_fail(work->error, rc, "'%s' cannot be written", path);
}

/*
 * Open a file of the folder to write it.  It must be the caller's: the name may be
 * a second name of a file that another user wants to be changed.
 */
static int open_own(const struct work *work, const char *name, int flags)
{
    struct stat status;

    int fd =
        cunei_safe_open_file(work->process.folder, name, O_WRONLY | flags, &status);
    if (fd < 0 || cunei_safe_is_own_file(&status))
        return fd;
    close(fd);
    return -EPERM;
}

/* Keep what is in order of a live packet and make it a closed one; 0: nothing is. */
static size_t trim(struct work *work, struct cunei_packet *packet)
{
    const uint64_t *words = (const uint64_t *)(const void *)packet;
    struct cunei_trace_events events = cunei_trace_check_events(
        &work->process, packet, words + CUNEI_PACKET_WORDS,
        (size_t)(packet->content_bits / 64) - CUNEI_PACKET_WORDS);

    if (events.wrong) {
        work->recovery->damaged++;
        packet->timestamp_end = events.last_time;
    }
    if (events.word_count == 0)
        return 0;
    size_t size = sizeof(*packet) + events.word_count * sizeof(uint64_t);
    packet->content_bits = 8 * size;
    packet->packet_bits = 8 * size;
    return size;
}

/* Append a packet, or leave the file as it is. */
static int append(struct work *work, int fd, struct cunei_trace_stream *stream,
                  struct cunei_packet *packet)
{
    size_t size = trim(work, packet);
    int rc = cunei_trace_file_write(fd, packet, size, stream->size);

    if (rc < 0) {
        (void)!ftruncate(fd, (off_t)stream->size);
        return rc;
    }
    stream->size += size;
    work->recovery->packets += size > 0;
    work->recovery->bytes += size;
    return 0;
}

/*
 * Other CTF readers count lost events from one packet of a file to the next, but not
 * those before the first packet.  So an empty packet is written in front of it, as the
 * recording itself does (rt/packet.c).
 */
static int append_first(struct work *work, int fd, struct cunei_trace_stream *stream)
{
    const struct cunei_packet *packet = stream->live.items[0];
    struct {
        struct cunei_packet head;
        uint64_t stack[2]; /* nothing is open */
    } first = {.stack = {cunei_record(packet->timestamp_begin, CUNEI_CLASS_STACK, 0)}};

    memcpy(&first.head, packet, sizeof(first.head));
    first.head.timestamp_end = first.head.timestamp_begin;
    first.head.content_bits = first.head.packet_bits = 8 * sizeof(first);
    first.head.sequence = first.head.events_discarded = 0;
    first.head.cpu_end_ns = first.head.cpu_begin_ns;
    first.head.flags = 0;
    return append(work, fd, stream, &first.head);
}

/* There must be a number before its own: a recovery may be cut off and done again. */
static bool needs_first(const struct cunei_trace_stream *stream)
{
    if (stream->size > 0 || stream->live.count == 0)
        return false;
    const struct cunei_packet *packet = stream->live.items[0];
    return packet->events_discarded > 0 && packet->sequence > 0;
}

/* The last packet also counts what was lost since it began. */
static void add_losses(const struct work *work, struct cunei_trace_stream *stream)
{
    if (stream->live.count == 0)
        return;
    struct cunei_packet *packet = stream->live.items[stream->live.count - 1];
    uint64_t discarded = cunei_trace_live_discarded(&work->live, stream->number);
    if (discarded > packet->events_discarded)
        packet->events_discarded = discarded;
}

static int repair_stream(struct work *work, struct cunei_trace_stream *stream)
{
    int rc = 0;

    if (stream->torn == 0 && stream->live.count == 0 && stream->size == 0)
        return 0;
    int fd = open_own(work, cunei_trace_stream_name(stream), O_CREAT);
    if (fd < 0)
        return cannot_write(work, fd, stream->path);
    if (stream->torn > 0 && ftruncate(fd, (off_t)stream->size) < 0)
        rc = -errno;
    if (rc == 0)
        work->recovery->cut_bytes += stream->torn;
    add_losses(work, stream);
    if (rc == 0 && needs_first(stream))
        rc = append_first(work, fd, stream);
    for (size_t i = 0; rc == 0 && i < stream->live.count; i++)
        rc = append(work, fd, stream, stream->live.items[i]);
    /* To the size that it has: gives back the place that was reserved behind it. */
    if (rc == 0)
        (void)!ftruncate(fd, (off_t)stream->size);
    close(fd);
    return rc < 0 ? cannot_write(work, rc, stream->path) : 0;
}

/* A damaged file keeps its live packets where they are, and the others are repaired. */
static int repair_streams(struct work *work)
{
    int rc = 0;

    for (size_t i = 0; i < work->process.stream_count; i++) {
        struct cunei_trace_stream *stream = &work->process.streams[i];
        if (!stream->is_damaged) {
            int failed = repair_stream(work, stream);
            if (failed < 0)
                return failed;
        } else if (stream->live.count > 0)
            rc = cunei_trace_fail(work->error, -EBADMSG,
                                  "'%s' is damaged, and nothing can be appended to it",
                                  stream->path);
    }
    return rc;
}

/* Where the last whole line of the metadata ends. */
static size_t end_of_lines(const char *text, size_t size)
{
    const char *end = memrchr(text, '\n', size);
    return end ? (size_t)(end - text) + 1 : size;
}

/* Append the lines of the live file that define what the file does not. */
static int append_tail(struct work *work, int fd, const char *text, size_t end)
{
    size_t size = 0, begin = 0;
    char *tail = NULL;

    int rc = cunei_trace_live_tail(&work->live, &tail, &size);
    if (rc < 0)
        return rc;
    uint32_t newest = cunei_trace_functions_last(text, end);
    size_t length = cunei_trace_functions_newer(tail, size, newest, &begin);
    if (length > 0)
        rc = cunei_trace_file_write(fd, tail + begin, length, end);
    if (rc < 0)
        (void)!ftruncate(fd, (off_t)end);
    else
        work->recovery->bytes += length;
    free(tail);
    return rc;
}

static int repair_lines(struct work *work, int fd, const char *text, size_t size)
{
    size_t end = end_of_lines(text, size);

    if (end < size) {
        if (ftruncate(fd, (off_t)end) < 0)
            return -errno;
        work->recovery->cut_bytes += size - end;
    }
    return append_tail(work, fd, text, end);
}

/* One write of a fixed width: no reader ever sees half of it. */
static int repair_clock(struct work *work, int fd, const char *text, size_t size)
{
    char clock[CUNEI_METADATA_CLOCK_SIZE + 1];
    struct cunei_metadata metadata;
    size_t offset = 0;

    int rc = cunei_trace_clock_correct(&work->process, &metadata);
    if (rc <= 0)
        return rc;
    rc = cunei_metadata_find_clock(text, size, &offset);
    if (rc < 0)
        return rc;
    cunei_metadata_format_clock(&metadata, clock);
    rc = cunei_trace_file_write(fd, clock, CUNEI_METADATA_CLOCK_SIZE, offset);
    work->recovery->is_clock_changed = rc == 0;
    return rc;
}

/* Do one of the two above. */
static int repair_metadata(struct work *work,
                           int (*repair)(struct work *, int, const char *, size_t))
{
    size_t size = 0;
    char *text = NULL;
    int fd = -1;

    char *path = cunei_trace_path(work->process.path, CUNEI_METADATA_NAME);
    if (!path)
        return -ENOMEM;
    int rc = cunei_trace_file_load(&work->process, CUNEI_METADATA_NAME, SIZE_MAX / 2,
                                   &text, &size);
    if (rc == 0) {
        fd = open_own(work, CUNEI_METADATA_NAME, 0);
        rc = fd < 0 ? fd : repair(work, fd, text, size);
    }
    if (rc < 0)
        (void)cannot_write(work, rc, path);
    if (fd >= 0)
        close(fd);
    free(text);
    free(path);
    return rc;
}

/* Opening has put the live file's counters into the description already. */
static int write_description(struct work *work)
{
    static const char draft[] = CUNEI_RECOVERED_PROCESS_NAME;
    int folder = work->process.folder;
    struct cunei_buffer text = {0};

    cunei_process_format(&work->process.description, &text);
    (void)unlinkat(folder, draft, 0); /* of a recovery that was interrupted */
    int fd = text.failed ? -ENOMEM : open_own(work, draft, O_CREAT | O_EXCL);
    int rc = fd < 0 ? fd : cunei_trace_file_write(fd, text.data, text.size, 0);
    if (fd >= 0)
        close(fd);
    if (rc == 0 && renameat(folder, draft, folder, CUNEI_PROCESS_NAME) < 0)
        rc = -errno;
    if (rc < 0)
        (void)cannot_write(work, rc, work->process.path);
    cunei_buffer_fini(&text);
    return rc;
}

static void remove_pointer(const struct work *work, const char *directory)
{
    struct stat status;
    char name[16];

    int fd = cunei_safe_open_folder(AT_FDCWD, directory, &status);
    if (fd < 0)
        return;
    (void)snprintf(name, sizeof(name), "%" PRIu32, work->process.metadata.pid);
    /* It is a link, and what it leads to must be this live file. */
    bool is_own = status.st_uid == geteuid();
    if (is_own && fstatat(fd, name, &status, 0) == 0 &&
        cunei_file_id_is(&work->live.file.named, &status))
        (void)unlinkat(fd, name, 0);
    close(fd);
}

static int remove_hidden(struct work *work, const struct cunei_trace_hidden *file,
                         const char *name, bool is_ours)
{
    int rc = cunei_trace_hidden_remove(file, work->process.folder, name, is_ours);

    return rc < 0 ? cannot_write(work, rc, file->path) : 0;
}

/*
 * Packets of the ring become stream files, over what an earlier recovery that was cut
 * off has left of them: until the ring is removed, no reader looks at these.
 */
static int write_ring(struct work *work)
{
    const struct cunei_trace_open_options opening = {
        .has_ring_folder = true, .ring_folder = work->process.folder};
    struct cunei_trace_process process;

    if (!work->process.has_ring)
        return 0;
    int rc =
        cunei_process_folder_hold(&process, work->process.path, work->process.folder,
                                  &opening, NULL, work->error);
    if (rc < 0)
        return rc;
    process.state = work->process.state;
    for (size_t i = 0; i < process.stream_count; i++) {
        work->recovery->packets += process.streams[i].packets;
        work->recovery->bytes +=
            process.streams[i].is_kept ? process.streams[i].size : 0;
    }
    cunei_process_folder_close(&work->process);
    work->process = process;
    return 0;
}

/* A file goes before the name that leads to it, as with the live file. */
static int remove_ring(struct work *work)
{
    struct cunei_trace_hidden ring;

    if (!work->process.has_ring)
        return 0;
    int rc = cunei_trace_hidden_open(&ring, CUNEI_RING_NAME, &work->process);
    if (rc == 0 && ring.is_there)
        rc = remove_hidden(work, &ring, CUNEI_RING_NAME, ring.fd >= 0);
    else if (rc < 0)
        rc = cannot_write(work, rc, work->process.path);
    cunei_trace_hidden_close(&ring);
    return rc;
}

static int remove_live(struct work *work)
{
    return work->live.file.is_there
               ? remove_hidden(work, &work->live.file, CUNEI_LIVE_NAME,
                               work->live.is_whole)
               : 0;
}

static bool is_elsewhere(const struct work *work)
{
    bool is_here =
        work->live.is_whole && cunei_trace_is_this_boot(work->live.head.boot_id);
    return !is_here && !cunei_trace_is_this_host(work->process.metadata.host);
}

/* Whether the metadata ends within a line. */
static int has_torn_line(const struct work *work)
{
    uint64_t size = 0;
    char last = '\n';

    int fd = cunei_trace_file_open(&work->process, CUNEI_METADATA_NAME, &size);
    if (fd < 0)
        return fd;
    if (size > 0)
        (void)cunei_trace_file_read(fd, &last, 1, size - 1);
    close(fd);
    return last != '\n';
}

static bool needs_repair(const struct work *work)
{
    bool needs =
        work->process.has_live || work->process.has_ring || has_torn_line(work) > 0;

    for (size_t i = 0; i < work->process.stream_count; i++)
        needs |= work->process.streams[i].torn > 0;
    return needs;
}

/* Another recovery, or a writer that this process cannot see, has a lock of its own. */
static bool is_locked(int fd)
{
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/*
 * Some kernels take the memory of a process that was killed apart a while after it has
 * ended, on one by 90 ms, and its lock lasts as long.
 */
static bool stays_locked(int fd)
{
    static const struct timespec moment = {.tv_nsec = 10000000};

    for (int i = 0; i < 50; i++) {
        if (!is_locked(fd))
            return false;
        (void)nanosleep(&moment, NULL);
    }
    return is_locked(fd);
}

static int recover(struct work *work, const struct cunei_trace_recover_options *options)
{
    struct cunei_trace_recovery *recovery = work->recovery;

    if (!needs_repair(work))
        return 0;
    if (work->process.state == CUNEI_TRACE_RUNNING) {
        bool elsewhere = is_elsewhere(work);
        recovery->outcome = elsewhere ? CUNEI_RECOVER_ELSEWHERE : CUNEI_RECOVER_RUNNING;
        if (!elsewhere || !options->elsewhere)
            return 0;
        work->process.state = CUNEI_TRACE_KILLED;
    }
    if (stays_locked(work->live.file.fd)) {
        recovery->outcome = CUNEI_RECOVER_RUNNING;
        return 0;
    }
    if (work->owner != geteuid()) {
        recovery->outcome = CUNEI_RECOVER_FOREIGN;
        return 0;
    }
    recovery->outcome = CUNEI_RECOVER_DONE;
    int rc = write_ring(work);
    if (rc < 0)
        return rc;
    /* A packet may need a function of the tail; the clock needs all packets. */
    rc = repair_metadata(work, repair_lines);
    if (rc == 0)
        rc = repair_streams(work);
    if (rc == 0 && work->process.state != CUNEI_TRACE_ENDED)
        rc = repair_metadata(work, repair_clock);
    if (rc == 0 && (work->live.is_whole || work->process.has_ring))
        rc = write_description(work);
    if (rc == 0)
        rc = remove_ring(work);
    if (rc < 0)
        return rc;
    for (size_t i = 0; work->live.file.fd >= 0 && i < 2; i++) {
        if (options->pointers[i])
            remove_pointer(work, options->pointers[i]);
    }
    return remove_live(work);
}

int cunei_trace_recover(const char *folder,
                        const struct cunei_trace_recover_options *options,
                        struct cunei_trace_recovery *recovery,
                        struct cunei_trace_error *error)
{
    struct work work = {.recovery = recovery, .error = error};
    struct stat status;

    *recovery = (struct cunei_trace_recovery){0};
    *error = (struct cunei_trace_error){0};
    int fd = cunei_safe_open_folder(AT_FDCWD, folder, &status);
    if (fd < 0)
        return cunei_trace_fail(error, fd == -ESTALE ? -ENOTDIR : fd,
                                "'%s' cannot be opened", folder);
    work.owner = status.st_uid;
    if (is_locked(fd)) {
        recovery->outcome = CUNEI_RECOVER_RUNNING;
        close(fd);
        return 0;
    }
    const struct cunei_trace_open_options opening = {.without_ring = true};
    int rc = cunei_process_folder_hold(&work.process, folder, fd, &opening, &work.live,
                                       error);
    if (rc == 0) {
        rc = recover(&work, options);
        cunei_trace_live_close(&work.live);
        cunei_process_folder_close(&work.process);
    }
    close(fd);
    return rc;
}
