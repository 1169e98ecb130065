// SPDX-License-Identifier: MIT
#include "trace/follow/follow_process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "trace/directory/process_choice.h"
#include "trace/directory/process_folder.h"
#include "trace/directory/trace.h"
#include "trace/live/live.h"
#include "trace/live/ring_streams.h"
#include "trace/process/file.h"
#include "trace/process/process_streams.h"
#include "wire/process.h"

/* Bytes of live words that are in memory at a time. */
#define GATHER_MAX ((size_t)16 << 20)
/* Bytes of a ring that one poll reads. */
#define RING_MAX (UINT64_C(64) << 20)

/* Whether a quiet process still lives is checked in one of this many polls at least:
 * the check takes as long as reading some thousand events. */
#define LOOK_PERIOD 16u

int cunei_follow_process_open(struct cunei_follow_process *follow,
                              struct cunei_trace_process *process, const char *path,
                              struct cunei_trace_error *error)
{
    *follow = (struct cunei_follow_process){0};
    *process = (struct cunei_trace_process){.path = strdup(path), .until = UINT64_MAX};
    int rc =
        process->path ? cunei_process_folder_load_preamble(process, error) : -ENOMEM;
    if (rc < 0)
        cunei_process_folder_close(process);
    process->state = CUNEI_TRACE_RUNNING;
    process->class_end = CUNEI_FUNCTION_CLASS_END;
    return rc;
}

void cunei_follow_process_fini(struct cunei_follow_process *follow)
{
    for (size_t i = 0; i < follow->stream_count; i++)
        cunei_follow_stream_fini(&follow->streams[i]);
    free(follow->streams);
    cunei_trace_ring_place_fini(&follow->ring);
    *follow = (struct cunei_follow_process){0};
}

/* Read the description again if it has changed. */
static int update_description(struct cunei_follow_process *follow,
                              struct cunei_trace_process *process,
                              struct cunei_trace_error *error)
{
    struct cunei_process before = process->description;
    struct stat status = {0};

    char *path = cunei_trace_path(process->path, CUNEI_PROCESS_NAME);
    if (!path)
        return -ENOMEM;
    bool is_there = stat(path, &status) == 0;
    free(path);
    uint64_t changed_ns = (uint64_t)status.st_mtim.tv_sec * CUNEI_NS_PER_S +
                          (uint64_t)status.st_mtim.tv_nsec;
    if (!is_there || (follow->described_size == (uint64_t)status.st_size &&
                      follow->described_ns == changed_ns))
        return 0;
    process->description = (struct cunei_process){0};
    int rc = cunei_process_folder_load_description(process, error);
    if (rc == 0 && process->description.start_ns == 0 && before.start_ns != 0) {
        cunei_process_fini(&process->description);
        process->description = before; /* it is being written */
        return 0;
    }
    cunei_process_fini(&before);
    follow->described_size = (uint64_t)status.st_size;
    follow->described_ns = changed_ns;
    return rc;
}

/*
 * Whether the writer may still be at work.  While events come it is; a process that is
 * gone is noticed at once, one that runs another program within some polls.
 */
static bool is_alive(struct cunei_follow_process *follow,
                     const struct cunei_trace_process *process,
                     const struct cunei_trace_live *live)
{
    unsigned quiet = follow->quiet++;

    if (!live->file.is_there)
        return false;
    bool is_gone = kill((pid_t)process->metadata.pid, 0) < 0 && errno == ESRCH;
    bool is_power = (quiet & (quiet - 1)) == 0;
    if (!is_gone && (quiet % LOOK_PERIOD != 0 && !is_power))
        return true;
    return cunei_trace_live_is_alive(live, &process->metadata);
}

/* Open the live file; if its writer has ended, so that what is read next is final. */
static int open_live(struct cunei_follow_process *follow,
                     struct cunei_follow_poll *poll, struct cunei_trace_live *live)
{
    struct cunei_trace_process *process = cunei_follow_process_of(poll);

    int rc = cunei_trace_live_open(live, process);
    if (rc < 0)
        return rc;
    poll->is_final = !is_alive(follow, process, live);
    if (!poll->is_final)
        return 0;
    cunei_trace_live_close(live);
    return cunei_trace_live_open(live, process);
}

/* As many as the process has. */
static int reserve_streams(struct cunei_follow_process *follow,
                           const struct cunei_trace_process *process)
{
    if (process->stream_count == follow->stream_count)
        return 0;
    struct cunei_follow_stream *streams =
        realloc(follow->streams, process->stream_count * sizeof(*streams));
    if (!streams)
        return -ENOMEM;
    memset(streams + follow->stream_count, 0,
           (process->stream_count - follow->stream_count) * sizeof(*streams));
    follow->streams = streams;
    follow->stream_count = process->stream_count;
    return 0;
}

/* Streams that came since the last poll. */
static int add_streams(struct cunei_follow_process *follow,
                       struct cunei_follow_poll *poll, struct cunei_trace_error *error)
{
    struct cunei_trace_process *process = cunei_follow_process_of(poll);
    const struct cunei_trace_live *live = poll->live;
    int rc = 0;

    if (live->is_whole && live->stream_count > follow->slot_count) {
        rc = cunei_process_folder_add_slots(process, live, follow->slot_count);
        follow->slot_count = live->stream_count;
    }
    if (rc == 0 && (poll->is_final || !live->is_whole))
        rc = cunei_process_folder_add_files(process, error);
    return rc < 0 ? rc : reserve_streams(follow, process);
}

static int update_functions(struct cunei_follow_process *follow,
                            struct cunei_follow_poll *poll,
                            struct cunei_trace_error *error)
{
    struct cunei_trace_process *process = cunei_follow_process_of(poll);
    uint64_t tail[2] = {0};
    bool has_tail =
        poll->live->is_whole && cunei_trace_live_tail_state(poll->live, tail) == 0;

    if (has_tail && follow->has_tail && memcmp(tail, follow->tail, sizeof(tail)) == 0)
        return 0;
    memcpy(follow->tail, tail, sizeof(tail));
    follow->has_tail = has_tail;
    return cunei_trace_functions_update(process, poll->live, &follow->place, error);
}

/* Streams of a class from `*next` on, until memory is used up. */
static int gather(struct cunei_follow_process *follow, struct cunei_follow_poll *poll,
                  enum cunei_stream_class stream_class, size_t *next)
{
    struct cunei_trace_process *process = cunei_follow_process_of(poll);
    int rc = 0;

    /* What is in memory comes after the ring, which all streams share. */
    size_t most = poll->has_ring ? SIZE_MAX : GATHER_MAX;
    poll->gathered = 0;
    for (; rc == 0 && *next < follow->stream_count && poll->gathered < most; ++*next) {
        if (process->streams[*next].stream_class == stream_class)
            rc = cunei_follow_stream_gather(poll, &follow->streams[*next],
                                            &process->streams[*next]);
    }
    return rc;
}

static int hand_out(struct cunei_follow_process *follow, struct cunei_follow_poll *poll,
                    enum cunei_stream_class stream_class, size_t first, size_t end)
{
    struct cunei_trace_process *process = cunei_follow_process_of(poll);
    int rc = 0;

    for (size_t i = first; rc == 0 && i < end; i++) {
        if (process->streams[i].stream_class == stream_class)
            rc = cunei_follow_stream_hand_out(poll, &follow->streams[i],
                                              &process->streams[i]);
    }
    return rc;
}

/* All definitions there are; they come after the events that use them were gathered. */
static int read_definitions(struct cunei_follow_process *follow,
                            struct cunei_follow_poll *poll,
                            struct cunei_trace_error *error)
{
    int rc = update_functions(follow, poll, error);

    for (size_t next = 0; rc == 0 && next < follow->stream_count;) {
        size_t first = next;
        rc = gather(follow, poll, CUNEI_STREAM_DEFINITIONS, &next);
        if (rc == 0)
            rc = hand_out(follow, poll, CUNEI_STREAM_DEFINITIONS, first, next);
    }
    return rc;
}

/* What a poll of the ring works with. */
struct ring_poll {
    struct cunei_follow_process *follow;
    struct cunei_follow_poll *poll;
};

/* A packet of the ring is checked as one of a file. */
static int hand_ring_packet(void *context, struct cunei_packet *head)
{
    const struct ring_poll *ring = context;
    struct cunei_trace_process *process = cunei_follow_process_of(ring->poll);
    struct cunei_trace_stream *stream = NULL;

    int rc = cunei_process_streams_add(process, head->stream, &stream);
    if (rc == 0)
        rc = reserve_streams(ring->follow, process);
    if (rc < 0)
        return rc;
    const uint64_t *words = (const uint64_t *)(const void *)head + CUNEI_PACKET_WORDS;
    struct cunei_trace_packet packet = {
        .head = head,
        .words = words,
        .word_count = (size_t)(head->content_bits / 64) - CUNEI_PACKET_WORDS,
        .offset = UINT64_MAX};
    struct cunei_trace_events events =
        cunei_trace_check_events(process, head, words, packet.word_count);
    if (events.wrong)
        return 0;
    packet.event_count = events.event_count;
    return cunei_follow_stream_hand_packet(
        ring->poll, &ring->follow->streams[stream - process->streams], stream, &packet);
}

/* After the live words were gathered: what was in a buffer is there, or in the ring. */
static int read_ring(struct cunei_follow_process *follow,
                     struct cunei_follow_poll *poll)
{
    struct ring_poll context = {follow, poll};
    struct cunei_trace_ring ring;

    int rc = cunei_trace_ring_open(&ring, cunei_follow_process_of(poll));
    if (rc == 0 && ring.is_whole)
        rc = cunei_trace_ring_continue(&ring, &follow->ring, RING_MAX, poll->is_final,
                                       hand_ring_packet, &context);
    cunei_trace_ring_close(&ring);
    poll->has_more |= rc > 0;
    return rc < 0 ? rc : 0;
}

static int read_streams(struct cunei_follow_process *follow,
                        struct cunei_follow_poll *poll, struct cunei_trace_error *error)
{
    size_t next = 0;
    int rc = 0;

    if (follow->stream_count == 0 && !poll->has_ring)
        return 0;
    /* A ring may have packets of streams that are not known yet. */
    do {
        size_t first = next;
        rc = gather(follow, poll, CUNEI_STREAM_EVENTS, &next);
        if (rc == 0)
            rc = read_definitions(follow, poll, error);
        if (rc == 0 && poll->has_ring)
            rc = read_ring(follow, poll);
        if (rc == 0)
            rc = hand_out(follow, poll, CUNEI_STREAM_EVENTS, first, next);
    } while (rc == 0 && next < follow->stream_count);
    return rc;
}

static int read_all(struct cunei_follow_process *follow, struct cunei_follow_poll *poll,
                    struct cunei_trace_error *error)
{
    struct cunei_trace_process *process = cunei_follow_process_of(poll);

    int rc = cunei_trace_ring_streams_find(process);
    poll->has_ring = process->has_ring;
    poll->had_ring = follow->had_ring |= process->has_ring;
    if (rc == 0)
        rc = read_streams(follow, poll, error);
    return rc;
}

/* Close what is open, and take over what is only known at the end. */
static int end(struct cunei_follow_process *follow, struct cunei_follow_poll *poll,
               struct cunei_trace_error *error)
{
    struct cunei_trace_process *process = cunei_follow_process_of(poll);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < follow->stream_count; i++)
        rc = cunei_follow_stream_end(poll, &follow->streams[i], &process->streams[i]);
    if (rc == 0)
        rc = cunei_process_folder_load_preamble(process, error);
    follow->has_ended = true;
    return rc;
}

static int read_process(struct cunei_follow_process *follow,
                        struct cunei_follow_poll *poll,
                        const struct cunei_trace_choice *choice,
                        struct cunei_trace_error *error)
{
    struct cunei_trace_process *process = cunei_follow_process_of(poll);
    const struct cunei_trace_live *live = poll->live;

    int rc = update_description(follow, process, error);
    if (rc < 0)
        return rc;
    process->has_live = live->file.is_there;
    if (live->is_whole && !process->description.ended)
        cunei_trace_live_count(live, &process->description);
    follow->is_chosen |= cunei_trace_is_chosen(process, choice);
    rc = add_streams(follow, poll, error);
    if (rc == 0 && follow->is_chosen)
        rc = read_all(follow, poll, error);
    if (poll->handed > 0)
        follow->quiet = 1;
    process->state =
        cunei_process_folder_state(process, live, !poll->is_final || poll->has_more);
    if (rc == 0 && poll->is_final && !poll->has_more)
        rc = end(follow, poll, error);
    return rc;
}

int cunei_follow_process_poll(struct cunei_follow_process *follow,
                              struct cunei_follow_poll *poll,
                              const struct cunei_trace_choice *choice,
                              struct cunei_trace_error *error)
{
    struct cunei_trace_live live = {.file.fd = -1};

    int rc = open_live(follow, poll, &live);
    poll->live = &live;
    if (rc == 0)
        rc = read_process(follow, poll, choice, error);
    cunei_trace_live_close(&live);
    return rc;
}
