// SPDX-License-Identifier: MIT
/*
 * A thread gets a stream, and a slot for it, at its first event.  When it ends, the
 * next thread takes over the slot.
 */
#include "rt/thread.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rt/live.h"
#include "rt/packet.h"
#include "rt/state.h"

/* No two threads write to the same one in the hot path. */
#define CACHE_LINE 64u

/* Slots without an owner that keep their memory. */
#define IDLE_SLOTS_MAX 4

_Thread_local struct cunei_stream *cunei_stream_own;

static pthread_key_t thread_end;
static struct cunei_recorder_state
    *watched; /* the callback at a thread's end gets only the stream */

/* Close the thread's packet and let another thread have its slot; lock held. */
static void give_slot_back(struct cunei_recorder_state *recording,
                           struct cunei_stream *stream)
{
    struct cunei_slot *slot = stream->slot;

    if (!slot)
        return;
    if (stream->packet)
        (void)cunei_packet_close(recording, stream, CUNEI_CLOSE_DISCARD, true);
    slot->vtid = stream->vtid;
    slot->thread = stream->thread;
    memcpy(slot->name, stream->name, sizeof(slot->name));
    stream->slot = NULL;
    recording->live->streams[slot->number].thread = 0;
    slot->next_free = recording->free_slots;
    recording->free_slots = slot;
    /* After many short threads most slots stay idle: free their memory. */
    if (++recording->free_count > IDLE_SLOTS_MAX)
        (void)madvise(slot->buffers, CUNEI_LIVE_STREAM_SIZE, MADV_DONTNEED);
}

static void unlink_stream(struct cunei_recorder_state *recording,
                          struct cunei_stream *stream)
{
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        recording->streams = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
}

/* A thread ends; the interpreter cannot be used here. */
static void end_thread(void *own)
{
    struct cunei_recorder_state *recording = watched;
    struct cunei_stream *stream = own;

    (void)pthread_mutex_lock(&recording->lock);
    give_slot_back(recording, stream);
    unlink_stream(recording, stream);
    (void)pthread_mutex_unlock(&recording->lock);
    cunei_stream_own = NULL;
    free(stream);
}

/* The thread's id and CPU clock. */
static void identify(struct cunei_stream *stream)
{
    stream->vtid = (uint32_t)gettid();
    if (pthread_getcpuclockid(pthread_self(), &stream->cpu_clock) != 0)
        stream->cpu_clock = CLOCK_THREAD_CPUTIME_ID;
}

static size_t round_up(size_t size)
{
    return (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

struct cunei_stream *cunei_thread_own(struct cunei_recorder_state *recording)
{
    const size_t head = round_up(sizeof(struct cunei_stream));
    const size_t functions = (CUNEI_RECORDER_STACK_MAX + 1) * sizeof(uint32_t);

    if (cunei_stream_own)
        return cunei_stream_own;
    char *block = aligned_alloc(CACHE_LINE, head + round_up(functions));
    struct cunei_stream *stream = (void *)block;
    if (!stream)
        return NULL;
    *stream = (struct cunei_stream){
        .content_bits = CUNEI_PACKET_BITS,
        .functions = (void *)(block + head),
    };
    identify(stream);
    if (pthread_setspecific(thread_end, stream) != 0) {
        free(stream);
        return NULL;
    }
    (void)pthread_mutex_lock(&recording->lock);
    stream->next = recording->streams;
    if (recording->streams)
        recording->streams->previous = stream;
    recording->streams = stream;
    (void)pthread_mutex_unlock(&recording->lock);
    cunei_stream_own = stream;
    return stream;
}

/* Whether it is worth trying; lock held. */
static bool may_add_slot(const struct cunei_recorder_state *recording, uint64_t now)
{
    return recording->on && now >= recording->no_slot_until &&
           !cunei_recorder_is_full(recording);
}

/* A slot without an owner; NULL: there is none.  The caller holds the lock. */
static struct cunei_slot *take_slot(struct cunei_recorder_state *recording,
                                    uint64_t now)
{
    struct cunei_slot *slot = recording->free_slots;

    if (slot) {
        recording->free_slots = slot->next_free;
        recording->free_count--;
        return slot;
    }
    if (!may_add_slot(recording, now))
        return NULL;
    slot = cunei_live_add_slot(recording, CUNEI_STREAM_EVENTS);
    /* Do not try again at once: a failure costs system calls. */
    if (!slot)
        recording->no_slot_until = now + recording->metadata.frequency / 10;
    return slot;
}

bool cunei_thread_may_begin(struct cunei_recorder_state *recording, uint64_t now)
{
    (void)pthread_mutex_lock(&recording->lock);
    bool may = recording->free_slots || may_add_slot(recording, now);
    (void)pthread_mutex_unlock(&recording->lock);
    return may;
}

bool cunei_thread_begin(struct cunei_recorder_state *recording,
                        struct cunei_stream *stream, uint64_t *now)
{
    (void)pthread_mutex_lock(&recording->lock);
    stream->slot = take_slot(recording, *now);
    if (stream->slot) {
        stream->packet = NULL;
        stream->thread = ++recording->thread_count;
        recording->live->streams[stream->slot->number].thread = stream->thread;
    }
    (void)pthread_mutex_unlock(&recording->lock);
    if (!stream->slot)
        return false;
    /* The slot's last owner may have read its clock after this thread did. */
    if (*now < stream->slot->last) {
        *now = stream->slot->last;
        cunei_recorder_count(recording, CUNEI_LIVE_CLAMPED, 1);
    }
    return true;
}

/*
 * The thread may be writing an event right now.  It would take a deadline before that
 * event for one in the far future, so we set the deadline a little ahead, and again if
 * this took too long.  A deadline that has passed stays.
 */
static void move_deadline(struct cunei_stream *stream)
{
    uint64_t deadline = stream->deadline;

    if (deadline <= stream->last)
        return;
    do {
        uint64_t now = cunei_clock_read(), last = stream->last;
        deadline = (now > last ? now : last) + CUNEI_SOON;
        atomic_store(&stream->deadline, deadline);
    } while (cunei_clock_read() >= deadline);
}

void cunei_thread_poke_all(struct cunei_recorder_state *recording)
{
    atomic_fetch_add(&recording->pokes, 1);
    for (struct cunei_stream *stream = recording->streams; stream;
         stream = stream->next) {
        if (stream == cunei_stream_own)
            atomic_store(&stream->deadline, stream->last);
        else
            move_deadline(stream);
    }
}

/* Send a stream through cunei_recorder_room at a coming tick, or at its next event. The
 * thread is not writing an event right now. */
static void set_deadline(struct cunei_stream *stream, uint64_t tick)
{
    uint64_t last = stream->last;

    if (tick < stream->deadline)
        stream->deadline = tick > last ? tick : last;
}

void cunei_thread_alarm_all(struct cunei_recorder_state *recording, uint64_t tick)
{
    (void)pthread_mutex_lock(&recording->lock);
    recording->alarm = tick;
    for (struct cunei_stream *stream = recording->streams; stream && tick;
         stream = stream->next)
        set_deadline(stream, tick);
    (void)pthread_mutex_unlock(&recording->lock);
}

void cunei_thread_renew_all(struct cunei_recorder_state *recording, bool keeps_on)
{
    (void)pthread_mutex_lock(&recording->lock);
    recording->renews = keeps_on;
    atomic_fetch_add(&recording->renewals, 1);
    for (struct cunei_stream *stream = recording->streams; stream;
         stream = stream->next)
        set_deadline(stream, 0);
    (void)pthread_mutex_unlock(&recording->lock);
}

void cunei_thread_undo_poke(const struct cunei_recorder_state *recording,
                            struct cunei_stream *stream)
{
    uint64_t begin = recording->base + stream->packet->timestamp_begin;

    /* As in cunei_packet_begin: the owner looks at the count after this. */
    atomic_store(&stream->deadline, cunei_recorder_deadline(recording, begin));
}

/* Close a stream for good; it finds no room at its next event. */
static int close_stream(struct cunei_recorder_state *recording,
                        struct cunei_stream *stream)
{
    int rc = 0;

    if (stream->slot && stream->packet)
        rc = cunei_packet_close(recording, stream, CUNEI_CLOSE_KEEP, true);
    stream->slot = NULL;
    stream->packet = NULL;
    stream->content_bits = CUNEI_PACKET_BITS;
    return rc;
}

int cunei_thread_close_all(struct cunei_recorder_state *recording)
{
    int rc = 0;

    /* The first stream counts what threads without a stream have lost. */
    if (recording->slots[0])
        cunei_packet_count_lost(recording, recording->slots[0],
                                recording->lost_without_stream);
    for (struct cunei_stream *stream = recording->streams; stream;
         stream = stream->next) {
        int failed = close_stream(recording, stream);
        rc = rc < 0 ? rc : failed;
    }
    for (struct cunei_slot *slot = recording->free_slots; slot;
         slot = slot->next_free) {
        int failed = cunei_packet_write_losses(recording, slot);
        rc = rc < 0 ? rc : failed;
    }
    for (size_t i = 0; i < CUNEI_LIVE_STREAMS_MAX && recording->slots[i]; i++) {
        int failed = cunei_packet_finish_file(recording, recording->slots[i]);
        rc = rc < 0 ? rc : failed;
    }
    return rc;
}

void cunei_thread_keep_own(struct cunei_recorder_state *recording)
{
    for (struct cunei_stream *stream = recording->streams, *next; stream;
         stream = next) {
        next = stream->next;
        if (stream == cunei_stream_own) {
            stream->slot = NULL;
            stream->content_bits = CUNEI_PACKET_BITS;
            identify(stream);
            stream->next = stream->previous = NULL;
        } else
            free(stream);
    }
    recording->streams = cunei_stream_own;
}

int cunei_thread_watch_ends(struct cunei_recorder_state *recording)
{
    watched = recording;
    return -pthread_key_create(&thread_end, end_thread);
}
