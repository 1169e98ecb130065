// SPDX-License-Identifier: MIT
#include "trace/live/live.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "trace/live/writer_alive.h"
#include "trace/packet/check.h"
#include "trace/process/file.h"
#include "trace/process/process.h"
#include "wire/metadata.h"
#include "wire/process.h"

/*
 * A writer needs a few hundred microseconds at least to fill a packet, a copy a tenth
 * of that: the second or third try is bound to succeed.
 */
#define COPY_TRIES 100

static bool check_live(const struct cunei_live *head, const uint8_t uuid[16])
{
    return head->magic == CUNEI_LIVE_MAGIC && head->version == CUNEI_WIRE_VERSION &&
           head->packet_size == CUNEI_PACKET_SIZE && memcmp(head->uuid, uuid, 16) == 0;
}

static uint64_t slot_offset(uint32_t number)
{
    return CUNEI_LIVE_HEAD_SIZE + (uint64_t)number * CUNEI_LIVE_STREAM_SIZE;
}

static uint64_t buffer_offset(uint32_t number, unsigned buffer)
{
    return slot_offset(number) + (uint64_t)buffer * CUNEI_PACKET_SIZE;
}

static int read_head(struct cunei_trace_live *live,
                     const struct cunei_metadata *metadata)
{
    uint64_t size = live->file.size;

    int64_t count =
        cunei_trace_file_read(live->file.fd, &live->head, sizeof(live->head), 0);
    if (count < 0)
        return (int)count;
    live->is_whole =
        count == (int64_t)sizeof(live->head) && check_live(&live->head, metadata->uuid);
    if (!live->is_whole)
        return 0;

    uint64_t room =
        size < slot_offset(0) ? 0 : (size - slot_offset(0)) / CUNEI_LIVE_STREAM_SIZE;
    /* Pairs with the release of the count in the writer: counted slots are there. */
    uint32_t slots =
        atomic_load_explicit(&live->head.stream_count, memory_order_acquire);
    if (slots > CUNEI_LIVE_STREAMS_MAX)
        slots = (uint32_t)CUNEI_LIVE_STREAMS_MAX;
    live->stream_count = room < slots ? (uint32_t)room : slots;
    return 0;
}

int cunei_trace_live_open(struct cunei_trace_live *live,
                          const struct cunei_trace_process *process)
{
    *live = (struct cunei_trace_live){.file.fd = -1};
    int rc = cunei_trace_hidden_open(&live->file, CUNEI_LIVE_NAME, process);

    return rc < 0 || live->file.fd < 0 ? rc : read_head(live, &process->metadata);
}

void cunei_trace_live_close(struct cunei_trace_live *live)
{
    cunei_trace_hidden_close(&live->file);
    *live = (struct cunei_trace_live){.file.fd = -1};
}

bool cunei_trace_live_is_alive(const struct cunei_trace_live *live,
                               const struct cunei_metadata *metadata)
{
    if (!live->file.is_there)
        return false;
    if (live->is_whole && cunei_trace_is_this_boot(live->head.boot_id))
        return cunei_trace_is_mapped(live->head.pid, live->file.path, &live->file.stat);
    /* Another machine's, on a file system that both see: it cannot be looked at. */
    if (!cunei_trace_is_this_host(metadata->host))
        return true;
    return !live->is_whole && live->file.fd >= 0 &&
           cunei_trace_is_mapped(metadata->pid, live->file.path, &live->file.stat);
}

/* 1: it was read, 0: there is none, or a negative errno. */
static int read_slot(const struct cunei_trace_live *live, uint32_t number,
                     struct cunei_live_stream *slot)
{
    uint64_t offset = offsetof(struct cunei_live, streams) + number * sizeof(*slot);

    int64_t count = cunei_trace_file_read(live->file.fd, slot, sizeof(*slot), offset);
    return count < 0 ? (int)count : count == (int64_t)sizeof(*slot);
}

int cunei_trace_live_class(const struct cunei_trace_live *live, uint32_t number,
                           enum cunei_stream_class *stream_class)
{
    struct cunei_live_stream slot;

    int rc = read_slot(live, number, &slot);
    if (rc < 0)
        return rc;
    *stream_class = rc > 0 && slot.stream_class == CUNEI_STREAM_DEFINITIONS
                        ? CUNEI_STREAM_DEFINITIONS
                        : CUNEI_STREAM_EVENTS;
    return 0;
}

uint64_t cunei_trace_live_discarded(const struct cunei_trace_live *live,
                                    uint32_t number)
{
    struct cunei_live_stream slot;

    return read_slot(live, number, &slot) > 0 ? slot.discarded : 0;
}

/* 1: `head` is a packet of this slot, 0: there is none. */
static int read_packet_head(const struct cunei_trace_live *live, uint32_t number,
                            uint64_t offset, struct cunei_packet *head)
{
    int64_t count = cunei_trace_file_read(live->file.fd, head, sizeof(*head), offset);
    if (count < 0)
        return (int)count;
    /* Pairs with the release of the magic, and of the content size, in the writer. */
    atomic_thread_fence(memory_order_acquire);
    return count == (int64_t)sizeof(*head) &&
           !cunei_trace_check_head(head, live->head.uuid, number);
}

/*
 * Whether what was copied between two looks at the head is one packet's.  The content
 * size only grows; where it seems to shrink, it was read half old and half new.
 */
static bool is_same(const struct cunei_packet *before, const struct cunei_packet *after)
{
    return before->sequence == after->sequence &&
           before->timestamp_begin == after->timestamp_begin &&
           before->content_bits <= after->content_bits;
}

/* Copy the content of a packet behind its head; -EAGAIN: it changed meanwhile. */
static int copy_content(const struct cunei_trace_live *live, uint32_t number,
                        uint64_t offset, struct cunei_packet *packet)
{
    size_t size = (size_t)(packet->content_bits / 8) - sizeof(*packet);
    struct cunei_packet again;

    int64_t count = cunei_trace_file_read(live->file.fd, packet + 1, size,
                                          offset + sizeof(*packet));
    if (count < 0)
        return (int)count;
    if (count < (int64_t)size)
        return -EBADMSG;
    /* Pairs with the fence behind the writer's store of 0 to the magic. */
    atomic_thread_fence(memory_order_acquire);
    int rc = read_packet_head(live, number, offset, &again);
    if (rc < 0)
        return rc;
    return rc > 0 && is_same(packet, &again) ? 0 : -EAGAIN;
}

/* Leaves `*packet` NULL where there is none, or none that is whole before `end`. */
static int copy_packet(const struct cunei_trace_live *live, uint32_t number,
                       uint64_t offset, uint64_t end, struct cunei_packet **packet)
{
    struct cunei_packet head;

    int rc = read_packet_head(live, number, offset, &head);
    if (rc <= 0 || head.content_bits == 8 * sizeof(head) ||
        head.content_bits / 8 > end - offset)
        return rc < 0 ? rc : 0;
    struct cunei_packet *copy = malloc((size_t)(head.content_bits / 8));
    if (!copy)
        return -ENOMEM;
    memcpy(copy, &head, sizeof(head));
    copy->packet_bits = head.content_bits;
    rc = copy_content(live, number, offset, copy);
    if (rc < 0) {
        free(copy);
        return rc == -EBADMSG ? 0 : rc;
    }
    *packet = copy;
    return 0;
}

/* Put a packet, which may be NULL, into its place; one that is there already is not
 * needed.  It is the list's from now on. */
static int add(struct cunei_trace_packets *list, struct cunei_packet *packet)
{
    size_t at = list->count;

    while (packet && at > 0 && list->items[at - 1]->sequence > packet->sequence)
        at--;
    if (!packet || (at > 0 && list->items[at - 1]->sequence == packet->sequence)) {
        free(packet);
        return 0;
    }
    if (!CUNEI_VECTOR_RESERVE_ONE(list->items, list->count)) {
        free(packet);
        return -ENOMEM;
    }
    memmove(&list->items[at + 1], &list->items[at],
            (list->count++ - at) * sizeof(void *));
    list->items[at] = packet;
    return 0;
}

/* The closed packets of a buffer, one behind the other, from number `first` on. */
static int copy_queue(const struct cunei_trace_live *live, uint32_t number,
                      unsigned buffer, uint64_t first, struct cunei_trace_packets *list)
{
    uint64_t offset = buffer_offset(number, buffer);
    const uint64_t end = offset + CUNEI_PACKET_SIZE;
    struct cunei_packet head;

    while (offset < end) {
        struct cunei_packet *packet = NULL;
        int rc = read_packet_head(live, number, offset, &head);
        if (rc > 0 && head.sequence < first) {
            offset += head.content_bits / 8;
            continue;
        }
        if (rc > 0)
            rc = copy_packet(live, number, offset, end, &packet);
        if (rc < 0 || !packet)
            return rc;
        offset += packet->content_bits / 8;
        rc = add(list, packet);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Both heads once; -EAGAIN: they cannot be of one moment. */
static int read_heads(const struct cunei_trace_live *live, uint32_t number,
                      struct cunei_packet heads[2])
{
    int count = 0;

    for (unsigned i = 0; i < 2; i++) {
        int rc =
            read_packet_head(live, number, buffer_offset(number, i), &heads[count]);
        if (rc < 0)
            return rc;
        count += rc;
    }
    if (count == 2 && heads[0].sequence > heads[1].sequence) {
        struct cunei_packet later;
        memcpy(&later, &heads[0], sizeof(later));
        memcpy(&heads[0], &heads[1], sizeof(later));
        memcpy(&heads[1], &later, sizeof(later));
    }
    return count == 2 && heads[1].sequence != heads[0].sequence + 1 ? -EAGAIN : count;
}

int cunei_trace_live_heads(const struct cunei_trace_live *live, uint32_t number,
                           struct cunei_packet heads[2])
{
    int rc = -EAGAIN;

    /* Packets that were dropped leave a gap that stays. */
    for (int i = 0; i < 3 && rc == -EAGAIN; i++)
        rc = read_heads(live, number, heads);
    return rc == -EAGAIN ? 2 : rc;
}

int cunei_trace_live_words(const struct cunei_trace_live *live,
                           const struct cunei_packet *head, size_t from,
                           uint64_t *words)
{
    const uint32_t number = (uint32_t)head->stream;
    size_t size = (size_t)(head->content_bits / 8) - sizeof(*head) - from * 8;
    struct cunei_packet again;

    for (unsigned i = 0; i < 2; i++) {
        uint64_t offset = buffer_offset(number, i);
        int rc = read_packet_head(live, number, offset, &again);
        if (rc < 0)
            return rc;
        if (rc == 0 || !is_same(head, &again))
            continue;
        int64_t count = cunei_trace_file_read(live->file.fd, words, size,
                                              offset + sizeof(*head) + from * 8);
        if (count < 0)
            return (int)count;
        /* Pairs with the fence behind the writer's store of 0 to the magic. */
        atomic_thread_fence(memory_order_acquire);
        rc = read_packet_head(live, number, offset, &again);
        if (rc < 0)
            return rc;
        return count == (int64_t)size && rc > 0 && is_same(head, &again) ? 0 : -EAGAIN;
    }
    return -EAGAIN;
}

static unsigned current_buffer(const struct cunei_trace_live *live, uint32_t number)
{
    struct cunei_live_stream slot;

    bool is_second = read_slot(live, number, &slot) > 0 && slot.current == 1;
    /* Pairs with the release of it in the writer. */
    atomic_thread_fence(memory_order_acquire);
    return is_second;
}

/*
 * A packet moves from the buffer in use to the queue in the other one, and from there
 * to the file.  So they are read in this order; -EAGAIN: the buffers changed roles.
 */
static int copy_buffers(const struct cunei_trace_live *live, uint32_t number,
                        struct cunei_trace_packets *list)
{
    unsigned current = current_buffer(live, number);
    uint64_t offset = buffer_offset(number, current);
    struct cunei_packet *packet = NULL;

    int rc = copy_packet(live, number, offset, offset + CUNEI_PACKET_SIZE, &packet);
    if (rc == 0)
        rc = copy_queue(live, number, current ^ 1, 0, list);
    int failed = add(list, packet);
    rc = rc < 0 ? rc : failed;
    return rc == 0 && current_buffer(live, number) != current ? -EAGAIN : rc;
}

void cunei_trace_packets_fini(struct cunei_trace_packets *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct cunei_trace_packets){0};
}

int cunei_trace_live_copy(const struct cunei_trace_live *live, uint32_t number,
                          struct cunei_trace_packets *list)
{
    struct cunei_trace_packets copies = {0};
    int rc = -EAGAIN;

    for (int i = 0; i < COPY_TRIES && rc == -EAGAIN; i++) {
        cunei_trace_packets_fini(&copies);
        rc = copy_buffers(live, number, &copies);
    }
    if (rc < 0) {
        cunei_trace_packets_fini(&copies);
        /* What the file holds is still a whole beginning of the stream. */
        return rc == -EAGAIN ? 0 : rc;
    }
    *list = copies;
    return 0;
}

/* Once; -EAGAIN: the buffers changed roles, or a packet was cleared. */
static int look(const struct cunei_trace_live *live, uint32_t number, uint64_t first,
                struct cunei_trace_packets *closed, struct cunei_packet *head)
{
    unsigned current = current_buffer(live, number);

    int count = read_packet_head(live, number, buffer_offset(number, current), head);
    if (count < 0)
        return count;
    int rc = copy_queue(live, number, current ^ 1, first, closed);
    if (rc < 0)
        return rc;
    return current_buffer(live, number) == current ? count : -EAGAIN;
}

int cunei_trace_live_look(const struct cunei_trace_live *live, uint32_t number,
                          uint64_t first, struct cunei_trace_packets *closed,
                          struct cunei_packet *head)
{
    int rc = -EAGAIN;

    for (int i = 0; i < COPY_TRIES && rc == -EAGAIN; i++) {
        cunei_trace_packets_fini(closed);
        rc = look(live, number, first, closed, head);
    }
    if (rc < 0)
        cunei_trace_packets_fini(closed);
    return rc == -EAGAIN ? 0 : rc;
}

int cunei_trace_live_tail_state(const struct cunei_trace_live *live, uint64_t state[2])
{
    const size_t size = 2 * sizeof(state[0]); /* flushed and length */

    int64_t count =
        cunei_trace_file_read(live->file.fd, state, size, CUNEI_LIVE_TAIL_OFFSET);
    return count < 0 ? (int)count : count == (int64_t)size ? 0 : -EBADMSG;
}

/* Copy the tail once; -EAGAIN: it was flushed meanwhile. */
static int copy_tail(const struct cunei_trace_live *live, char *text, size_t *size)
{
    const uint64_t text_offset =
        CUNEI_LIVE_TAIL_OFFSET + offsetof(struct cunei_live_tail, text);
    const size_t max = sizeof(((struct cunei_live_tail *)0)->text);
    uint64_t before[2] = {0}, after[2] = {0}; /* flushed and length */

    int64_t count = cunei_trace_file_read(live->file.fd, before, sizeof(before),
                                          CUNEI_LIVE_TAIL_OFFSET);
    if (count < (int64_t)sizeof(before))
        return count < 0 ? (int)count : 0;
    /* Pairs with the release of the length in the writer: the lines are there. */
    atomic_thread_fence(memory_order_acquire);
    count = cunei_trace_file_read(live->file.fd, text,
                                  before[1] < max ? before[1] : max, text_offset);
    if (count < 0)
        return (int)count;
    /* Pairs with the writer's count of flushes, before it fills the tail anew. */
    atomic_thread_fence(memory_order_acquire);
    int64_t again = cunei_trace_file_read(live->file.fd, after, sizeof(after),
                                          CUNEI_LIVE_TAIL_OFFSET);
    if (again < (int64_t)sizeof(after))
        return again < 0 ? (int)again : 0;
    *size = (size_t)count;
    return before[0] == after[0] ? 0 : -EAGAIN;
}

int cunei_trace_live_tail(const struct cunei_trace_live *live, char **text,
                          size_t *size)
{
    char *copy = calloc(1, CUNEI_LIVE_TAIL_SIZE);
    size_t length = 0;
    int rc = copy ? 0 : -ENOMEM;

    if (rc == 0 && live->is_whole) {
        rc = -EAGAIN;
        for (int i = 0; i < COPY_TRIES && rc == -EAGAIN; i++)
            rc = copy_tail(live, copy, &length);
    }
    if (rc < 0) {
        free(copy);
        return rc;
    }
    copy[length] = '\0';
    /* It stays as long as the trace, and mostly there is nothing in it. */
    char *fitting = realloc(copy, length + 1);
    *text = fitting ? fitting : copy;
    *size = length;
    return 0;
}

void cunei_trace_live_count(const struct cunei_trace_live *live,
                            struct cunei_process *process)
{
    const _Atomic uint64_t *counters = live->head.counters;

    process->lost = counters[CUNEI_LIVE_LOST];
    process->lost_no_stream = counters[CUNEI_LIVE_LOST_NO_STREAM];
    process->lost_no_space = counters[CUNEI_LIVE_LOST_NO_SPACE];
    process->lost_no_function = counters[CUNEI_LIVE_LOST_NO_FUNCTION];
    process->clamped = counters[CUNEI_LIVE_CLAMPED];
    process->write_ns = counters[CUNEI_LIVE_WRITE_NS];
    process->write_cpu_ns = counters[CUNEI_LIVE_WRITE_CPU_NS];
    process->full = live->head.state == CUNEI_LIVE_FULL ||
                    live->head.state == CUNEI_LIVE_ENDED_FULL;
    process->ended = live->head.state == CUNEI_LIVE_ENDED ||
                     live->head.state == CUNEI_LIVE_ENDED_FULL;
    process->stop_errno = live->head.stop_errno;
}
