// SPDX-License-Identifier: MIT
/*
 * A thread's stream of events, as the thread that owns it sees it.
 *
 * The hot path: the owner asks whether there is room at this time, stores the record,
 * and publishes it by storing the packet's content size.  No lock, no system call, no
 * shared line.  Everything else, from the thread's first event to a full packet, goes
 * through cunei_recorder_room.
 *
 *     struct cunei_stream *stream = cunei_stream_own;
 *     uint64_t now = cunei_clock_counter();
 *     if (!cunei_stream_has_room(stream, now, 1))
 *         stream = cunei_recorder_room(&now, 1, …);
 *     if (stream)
 *         cunei_stream_put(stream, now, record);
 */
#ifndef CUNEI_RT_STREAM_H
#define CUNEI_RT_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "wire/event.h"
#include "wire/packet.h"

#define CUNEI_PACKET_BITS (UINT64_C(8) * CUNEI_PACKET_SIZE)

struct cunei_slot;

struct cunei_stream {
    /* The hot half: one cache line. */
    uint64_t content_bits; /* what is published; CUNEI_PACKET_BITS: no room */
    _Atomic uint64_t last; /* tick of the last event */
    /* Tick at which the packet has spanned enough; any thread may move it closer. */
    _Atomic uint64_t deadline;
    struct cunei_packet *packet;
    /* The last `line` event of this packet: see cunei_stream_is_near. */
    const void *line_owner; /* of the function's lines; NULL: there is none */
    uint32_t line_top;      /* the uppermost line that is near it */
    uint32_t line_epoch;
    /* The cold half. */
    struct cunei_slot *slot; /* borrowed from the recording; NULL: none */
    uint32_t vtid;
    uint32_t thread;    /* serial number */
    uint32_t pokes;     /* that it has reacted to */
    uint32_t renewals;  /* that it has reacted to */
    uint32_t looks;     /* calls of the hook `stack` */
    uint64_t hook_word; /* for the hook `closing`; 0 when a packet begins */
    clockid_t cpu_clock;
    char name[CUNEI_PACKET_THREAD_NAME];
    /* Scratch for its `stack` events: a thread's own stack may be small. */
    uint32_t *functions;                  /* in the block of the stream */
    struct cunei_stream *next, *previous; /* all of the process's */
};

/*
 * The calling thread's stream, or NULL before its first event.  In the static part of
 * the thread-local storage: two loads in a library that is loaded at run time.
 */
extern __attribute__((
    visibility("default"),
    tls_model("initial-exec"))) _Thread_local struct cunei_stream *cunei_stream_own;

/* Whether `words` more words fit at tick `now`.  No if the clock stepped back. */
static inline bool cunei_stream_has_room(const struct cunei_stream *stream,
                                         uint64_t now, unsigned words)
{
    if (!stream)
        return false;
    /* One comparison finds now < last and now >= deadline: both differences wrap. */
    uint64_t last = atomic_load_explicit(&stream->last, memory_order_relaxed);
    uint64_t deadline = atomic_load_explicit(&stream->deadline, memory_order_relaxed);
    return stream->content_bits <= CUNEI_PACKET_BITS - UINT64_C(64) * words &&
           now - last < deadline - last;
}

/* Store one word without publishing it. */
static inline void cunei_stream_store(struct cunei_stream *stream, unsigned index,
                                      uint64_t word)
{
    uint64_t *words =
        (uint64_t *)(void *)((char *)stream->packet + stream->content_bits / 8);
    /* Atomic, because a reader may look at the mapping at any time. */
    atomic_store_explicit((_Atomic uint64_t *)(void *)(words + index), word,
                          memory_order_relaxed);
}

/* Publish `words` stored words as of `now`. */
static inline void cunei_stream_publish(struct cunei_stream *stream, uint64_t now,
                                        unsigned words)
{
    atomic_store_explicit(&stream->last, now, memory_order_relaxed);
    stream->content_bits += UINT64_C(64) * words;
    /* Pairs with the acquire in the reader's copy of a live packet. */
    atomic_store_explicit(&stream->packet->content_bits, stream->content_bits,
                          memory_order_release);
}

/*
 * Both at once for a lone record.  Fields are read before anything is stored: the
 * compiler must take each store for one that may change them.
 */
static inline void cunei_stream_put(struct cunei_stream *stream, uint64_t now,
                                    uint64_t record)
{
    struct cunei_packet *packet = stream->packet;
    uint64_t content_bits = stream->content_bits;
    void *word = (char *)packet + content_bits / 8;

    content_bits += 64;
    atomic_store_explicit((_Atomic uint64_t *)word, record, memory_order_relaxed);
    atomic_store_explicit(&stream->last, now, memory_order_relaxed);
    stream->content_bits = content_bits;
    /* Pairs with the acquire in the reader's copy of a live packet. */
    atomic_store_explicit(&packet->content_bits, content_bits, memory_order_release);
}

/* The same for a record with one word of payload. */
static inline void cunei_stream_put_two(struct cunei_stream *stream, uint64_t now,
                                        uint64_t record, uint64_t payload)
{
    struct cunei_packet *packet = stream->packet;
    uint64_t content_bits = stream->content_bits;
    _Atomic uint64_t *words = (void *)((char *)packet + content_bits / 8);

    content_bits += 128;
    atomic_store_explicit(&words[0], record, memory_order_relaxed);
    atomic_store_explicit(&words[1], payload, memory_order_relaxed);
    atomic_store_explicit(&stream->last, now, memory_order_relaxed);
    stream->content_bits = content_bits;
    /* Pairs with the acquire in the reader's copy of a live packet. */
    atomic_store_explicit(&packet->content_bits, content_bits, memory_order_release);
}

/*
 * A line near the last `line` event of this packet, in the same function, takes one
 * word instead of two.  `owner` identifies the function by an address, which may belong
 * to another function once `epoch` has changed.
 */
static inline bool cunei_stream_is_near(const struct cunei_stream *stream,
                                        const void *owner, uint32_t epoch,
                                        uint32_t line)
{
    return stream && stream->line_owner == owner && stream->line_epoch == epoch &&
           line - stream->line_top < CUNEI_NEAR_COUNT;
}

/* Write a line that is near; there must be room for one word. */
static inline void cunei_stream_put_near(struct cunei_stream *stream, uint64_t now,
                                         enum cunei_phase phase, uint32_t line)
{
    uint64_t class = CUNEI_NEAR_FIRST + (line - stream->line_top);

    cunei_stream_put(stream, now,
                     (now & CUNEI_TIME_MASK) | class << CUNEI_CLASS_SHIFT |
                         (uint64_t)phase << CUNEI_PHASE_SHIFT);
}

/* Write any other line; there must be room for two words. */
static inline void cunei_stream_put_line(struct cunei_stream *stream, uint64_t now,
                                         enum cunei_phase phase, uint32_t function,
                                         uint32_t line, const void *owner,
                                         uint32_t epoch)
{
    stream->line_owner = owner;
    stream->line_top = line - CUNEI_NEAR_ABOVE;
    stream->line_epoch = epoch;
    cunei_stream_put_two(stream, now, cunei_record(now, CUNEI_CLASS_LINE, phase),
                         (uint64_t)function << 32 | line);
}

#endif
