// SPDX-License-Identifier: MIT
/*
 * Packets: begun in one of the slot's two buffers, closed into the stream file.
 *
 * At every instant a buffer is a valid packet, or its magic is 0: other processes read
 * it while it is written, and recovery reads it after a kill.
 */
#include "rt/packet.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "rt/packet_queue.h"
#include "rt/packet_store.h"
#include "rt/ring.h"
#include "rt/state.h"
#include "wire/event.h"

static struct cunei_packet *buffer_of(const struct cunei_slot *slot)
{
    return (void *)((char *)slot->buffers + (size_t)slot->current * CUNEI_PACKET_SIZE);
}

/* CLOCK_MONOTONIC at the tick `now`, which may be some writing ago. */
static uint64_t monotonic_at(const struct cunei_recorder_state *recording, uint64_t now)
{
    struct cunei_clock_pair pair = cunei_clock_pair();
    uint64_t since = pair.tick > now ? pair.tick - now : 0;

    return pair.monotonic_ns - cunei_ticks_ns(since, recording->metadata.frequency);
}

void cunei_packet_begin(struct cunei_recorder_state *recording,
                        struct cunei_stream *stream, uint64_t now, uint32_t flags)
{
    struct cunei_slot *slot = stream->slot;
    struct cunei_packet *packet = buffer_of(slot);
    uint64_t begin = now - recording->base;
    uint64_t cpu_ns = stream->thread ? cunei_clock_ns(stream->cpu_clock) : 0;
    struct cunei_packet head = {
        .stream_class = recording->live->streams[slot->number].stream_class,
        .stream = slot->number,
        .vpid = (uint32_t)recording->pid,
        .vtid = stream->vtid,
        .timestamp_begin = begin,
        .timestamp_end = begin + CUNEI_PACKET_OPEN_SPAN,
        .content_bits = 8 * sizeof(head),
        .packet_bits = CUNEI_PACKET_BITS,
        .sequence = slot->sequence,
        .events_discarded = slot->discarded,
        .monotonic_ns = monotonic_at(recording, now),
        .cpu_begin_ns = cpu_ns,
        .cpu_end_ns = cpu_ns,
        .thread = stream->thread,
        .flags = flags,
    };
    memcpy(head.uuid, recording->metadata.uuid, sizeof(head.uuid));
    memcpy(head.thread_name, stream->name, sizeof(head.thread_name));

    cunei_packet_store(packet, &head, NULL, 0);

    if (slot->sequence == 0) {
        slot->first = now;
        slot->first_cpu_ns = cpu_ns;
    }
    stream->packet = packet;
    stream->content_bits = 8 * sizeof(head);
    stream->last = now;
    stream->line_owner = NULL;
    stream->hook_word = 0;
    /* Pairs with the poke, which counts before it stores: one of the two is seen. */
    atomic_store(&stream->deadline, cunei_recorder_deadline(recording, now));
}

void cunei_packet_put_stack(struct cunei_stream *stream, uint64_t now, size_t count,
                            size_t omitted)
{
    uint32_t *functions = stream->functions;

    if (count % 2 == 1)
        functions[count++] = 0;

    /* They came innermost first, so what pads them is in front now. */
    cunei_stream_store(stream, 0, cunei_record(now, CUNEI_CLASS_STACK, 0));
    cunei_stream_store(stream, 1, (uint32_t)omitted | (uint64_t)count << 32);
    for (size_t i = 0; i < count; i += 2)
        cunei_stream_store(stream, (unsigned)(2 + i / 2),
                           functions[count - 1 - i] | (uint64_t)functions[count - 2 - i]
                                                          << 32);
    cunei_stream_publish(stream, now, (unsigned)(2 + count / 2));
}

/* Events of the program in a packet: all but the stack. */
static uint64_t count_events(const struct cunei_stream *stream)
{
    const uint64_t *words = (const void *)stream->packet;
    uint64_t end = stream->content_bits / 64, count = 0;

    for (uint64_t at = CUNEI_PACKET_HEAD_WORDS; at < end;
         at += cunei_event_words(&words[at], end - at))
        count += cunei_record_class(words[at]) != CUNEI_CLASS_STACK;
    return count;
}

void cunei_packet_count_lost(struct cunei_recorder_state *recording,
                             struct cunei_slot *slot, uint64_t count)
{
    slot->discarded += count;
    atomic_store_explicit(&recording->live->streams[slot->number].discarded,
                          slot->discarded, memory_order_relaxed);
}

/* Count what the packet holds as lost. */
static void count_lost(struct cunei_recorder_state *recording,
                       struct cunei_stream *stream)
{
    uint64_t count = count_events(stream);

    cunei_packet_count_lost(recording, stream->slot, count);
    cunei_recorder_count(recording, CUNEI_LIVE_LOST, count);
    cunei_recorder_count(recording, CUNEI_LIVE_LOST_NO_SPACE, count);
}

/* The packet cannot be kept: count its events and make it invalid. */
static void discard(struct cunei_recorder_state *recording, struct cunei_stream *stream,
                    int error)
{
    count_lost(recording, stream);
    cunei_packet_invalidate(stream->packet);
    if (error == 0)
        return; /* the reason of the first one stays */
    recording->live->stop_errno = error == -E2BIG    ? 0
                                  : error == -ENOENT ? ESTALE
                                                     : (uint32_t)-error;
    if (error == -ENOSPC || error == -EDQUOT || error == -EFBIG || error == -E2BIG)
        atomic_store_explicit(&recording->live->state, CUNEI_LIVE_FULL,
                              memory_order_relaxed);
}

/*
 * Recording had stopped for want of space: nothing of a thread's last packet is kept
 * but its beginning, which carries the count of what was lost.
 */
static void empty(struct cunei_recorder_state *recording, struct cunei_stream *stream)
{
    const uint64_t *words = (const void *)stream->packet;

    count_lost(recording, stream);
    stream->content_bits = 64 * (CUNEI_PACKET_HEAD_WORDS + 2 +
                                 (words[CUNEI_PACKET_HEAD_WORDS + 1] >> 32) / 2);
    stream->last = recording->base + stream->packet->timestamp_begin;
    atomic_store_explicit(&stream->packet->content_bits, stream->content_bits,
                          memory_order_release);
}

int cunei_packet_finish_file(struct cunei_recorder_state *recording,
                             struct cunei_slot *slot)
{
    char name[16];

    cunei_packet_queue_name_file(slot, name);
    int rc = slot->queued > 0 ? recording->flush_definitions(recording, true) : 0;
    if (rc == 0)
        rc = cunei_packet_queue_write(recording, slot);
    cunei_file_trim(&recording->folder, name, &slot->end);
    return rc;
}

/*
 * Other CTF readers count lost events from one packet of a file to the next.  They do
 * not count those that were lost before the first packet.  So an empty packet is
 * written in front of it.
 */
static bool needs_first(const struct cunei_recorder_state *recording,
                        const struct cunei_stream *stream)
{
    const struct cunei_slot *slot = stream->slot;

    return slot->end.length == 0 && slot->queued == 0 && slot->discarded > 0 &&
           stream != &recording->definitions && !cunei_ring_holds(recording, stream);
}

static int write_first(struct cunei_recorder_state *recording,
                       struct cunei_stream *stream, const char *name)
{
    struct cunei_slot *slot = stream->slot;
    struct {
        struct cunei_packet head;
        uint64_t stack[2]; /* nothing is open */
    } first = {.stack = {cunei_record(slot->first, CUNEI_CLASS_STACK, 0)}};

    memcpy(&first.head, stream->packet, sizeof(first.head));
    first.head.timestamp_begin = slot->first - recording->base;
    first.head.timestamp_end = first.head.timestamp_begin;
    first.head.content_bits = first.head.packet_bits = 8 * sizeof(first);
    first.head.sequence = first.head.events_discarded = 0;
    first.head.monotonic_ns = monotonic_at(recording, slot->first);
    first.head.cpu_begin_ns = first.head.cpu_end_ns = slot->first_cpu_ns;
    first.head.flags = 0;
    return cunei_file_append(&recording->folder, name, &first, sizeof(first),
                             &slot->end);
}

static int append_packet(struct cunei_recorder_state *recording,
                         struct cunei_stream *stream, size_t size)
{
    char name[16];

    cunei_packet_queue_name_file(stream->slot, name);
    int rc = cunei_packet_queue_write(recording, stream->slot);
    if (rc == 0 && needs_first(recording, stream))
        rc = write_first(recording, stream, name);
    return rc < 0 ? rc
                  : cunei_file_append(&recording->folder, name, stream->packet, size,
                                      &stream->slot->end);
}

static int write_packet(struct cunei_recorder_state *recording,
                        struct cunei_stream *stream, bool ends)
{
    size_t size = (size_t)(stream->content_bits / 8);

    uint64_t start_ns = cunei_clock_ns(CLOCK_MONOTONIC);
    uint64_t start_cpu_ns = cunei_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int rc = cunei_ring_holds(recording, stream)
                 ? cunei_ring_write(recording, stream->packet)
                 : append_packet(recording, stream, size);
    /* At the end of the recording there is no event any more that could be late. */
    if (!ends)
        cunei_recorder_count(recording, CUNEI_LIVE_WRITE_NS,
                             cunei_clock_ns(CLOCK_MONOTONIC) - start_ns);
    cunei_recorder_count(recording, CUNEI_LIVE_WRITE_CPU_NS,
                         cunei_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_cpu_ns);
    if (rc == 0)
        cunei_recorder_count(recording, CUNEI_LIVE_WRITTEN, size);
    return rc;
}

/* Definitions first: the files alone must be a valid trace.  A ring is read together
 * with the live file, or after an end that has written them. */
static int write_out(struct cunei_recorder_state *recording,
                     struct cunei_stream *stream, enum cunei_close why, bool last)
{
    bool keeps = why == CUNEI_CLOSE_KEEP;
    bool in_ring = cunei_ring_holds(recording, stream);
    int rc = keeps || in_ring ? 0 : cunei_space_check(&recording->folder, 0);

    if (rc == 0 && stream != &recording->definitions && !in_ring)
        rc = recording->flush_definitions(recording, keeps);
    return rc < 0 ? rc : write_packet(recording, stream, last && keeps);
}

static void swap_buffers(struct cunei_recorder_state *recording,
                         struct cunei_slot *slot)
{
    slot->current ^= 1;
    /* Pairs with the reader's second look at it, after its copies. */
    atomic_store_explicit(&recording->live->streams[slot->number].current,
                          slot->current, memory_order_release);
}

/*
 * A packet ends with its last event.  A thread's last packet ends with the thread, or
 * with the recording if that ends first, so that the time it waited until then counts.
 */
static uint64_t end_of(const struct cunei_recorder_state *recording,
                       const struct cunei_stream *stream, bool last)
{
    uint64_t end = recording->end ? recording->end : cunei_clock_read();
    uint64_t longest =
        recording->base + stream->packet->timestamp_begin + CUNEI_PACKET_OPEN_SPAN - 1;

    if (!last || !stream->thread || end < stream->last)
        return stream->last;
    return end < longest ? end : longest;
}

int cunei_packet_close(struct cunei_recorder_state *recording,
                       struct cunei_stream *stream, enum cunei_close why, bool last)
{
    struct cunei_slot *slot = stream->slot;
    struct cunei_packet open, head;
    bool full = cunei_recorder_is_full(recording);
    int rc = 0;

    if (full && last && why == CUNEI_CLOSE_KEEP && stream->thread)
        empty(recording, stream);
    memcpy(&open, stream->packet, sizeof(open));
    open.events_discarded = slot->discarded;
    if (needs_first(recording, stream) && slot->sequence == 0)
        open.sequence = slot->sequence = 1;
    memcpy(&head, &open, sizeof(head));
    uint64_t end = end_of(recording, stream, last);
    head.timestamp_end = end - recording->base;
    head.packet_bits = stream->content_bits;
    if (stream->thread)
        head.cpu_end_ns = cunei_clock_ns(stream->cpu_clock);
    head.flags |= last ? CUNEI_PACKET_LAST : 0;
    cunei_packet_store_words(stream->packet, &head, CUNEI_PACKET_HEAD_WORDS);

    bool in_ring = cunei_ring_holds(recording, stream);
    if (why != CUNEI_CLOSE_KEEP && !in_ring)
        rc = full ? -ENOSPC
                  : cunei_space_count(&recording->space, stream->content_bits / 8);
    bool queued = rc == 0 && last && why != CUNEI_CLOSE_KEEP && !in_ring &&
                  !needs_first(recording, stream) &&
                  cunei_packet_queue_add(recording, slot, stream->packet);
    if (rc == 0 && !queued)
        rc = write_out(recording, stream, why, last);
    if (rc < 0 && why == CUNEI_CLOSE_KEEP) {
        /* The packet stays open, or recovery finds it as it was. */
        cunei_packet_store_words(stream->packet, &open, CUNEI_PACKET_HEAD_WORDS);
        return rc;
    }
    if (rc < 0)
        discard(recording, stream, full ? 0 : rc);

    if (rc == 0)
        slot->reported = head.events_discarded;
    slot->sequence++;
    /* A queue stays in the other buffer until it is written. */
    if (rc == 0 && !queued)
        swap_buffers(recording, slot);
    slot->last = end;
    stream->content_bits = CUNEI_PACKET_BITS;
    stream->packet = NULL;
    return rc;
}

int cunei_packet_write_losses(struct cunei_recorder_state *recording,
                              struct cunei_slot *slot)
{
    /* In the name of the last owner, whose clock is gone with it. */
    struct cunei_stream stream = {
        .slot = slot, .vtid = slot->vtid, .thread = slot->thread, .cpu_clock = -1};

    if (slot->reported == slot->discarded)
        return 0;
    memcpy(stream.name, slot->name, sizeof(stream.name));
    cunei_packet_begin(recording, &stream, slot->last, 0);
    cunei_stream_store(&stream, 0, cunei_record(slot->last, CUNEI_CLASS_STACK, 0));
    cunei_stream_store(&stream, 1, 0);
    cunei_stream_publish(&stream, slot->last, 2);
    return cunei_packet_close(recording, &stream, CUNEI_CLOSE_KEEP, true);
}
