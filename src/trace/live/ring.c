// SPDX-License-Identifier: MIT
#include "trace/live/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/packet/check.h"
#include "trace/process/file.h"
#include "trace/process/process.h"
#include "wire/event.h"
#include "wire/live.h"

#define TABLE_OFFSET    CUNEI_RING_BLOCK_SIZE
#define STAT_BLOCK_SIZE 512u /* of st_blocks, on every file system */

static bool check_ring(const struct cunei_ring *head, uint64_t size,
                       const uint8_t uuid[16])
{
    return head->magic == CUNEI_RING_MAGIC && head->version == CUNEI_WIRE_VERSION &&
           head->block_size == CUNEI_RING_BLOCK_SIZE &&
           memcmp(head->uuid, uuid, 16) == 0 &&
           head->block_count >= CUNEI_RING_PACKET_BLOCKS &&
           head->block_count <= CUNEI_RING_SIZE_MAX / CUNEI_RING_BLOCK_SIZE &&
           head->data_offset == cunei_ring_data_offset(head->block_count) &&
           head->data_offset <= size;
}

/* 1: all of it was read, 0: the file is shorter. */
static int read_whole(const struct cunei_trace_ring *ring, void *bytes, size_t size,
                      uint64_t offset)
{
    int64_t count = cunei_trace_file_read(ring->file.fd, bytes, size, offset);

    return count < 0 ? (int)count : count == (int64_t)size;
}

static uint64_t position_of(const struct cunei_ring_block *block)
{
    return cunei_ring_claim_position(block->claim);
}

static bool is_packet(const struct cunei_ring_block *block)
{
    return cunei_ring_claim_state(block->claim) == CUNEI_RING_WHOLE;
}

/*
 * A recorder allocates the whole file, so a packet in a hole is none.  A file of a
 * megabyte can claim many of them, and reading their zeros would take minutes.
 */
static void drop_holes(struct cunei_trace_ring *ring)
{
    const uint64_t data = ring->head.data_offset, size = CUNEI_RING_BLOCK_SIZE;
    const uint64_t count = ring->head.block_count;
    const int fd = ring->file.fd;
    uint64_t block = 0;

    if ((uint64_t)ring->file.stat.st_blocks * STAT_BLOCK_SIZE >= ring->file.size)
        return;
    while (block < count) {
        off_t next = lseek(fd, (off_t)(data + block * size), SEEK_DATA);
        if (next < 0 && errno != ENXIO)
            return; /* this file system does not know */
        uint64_t end = next < 0 ? count : ((uint64_t)next - data) / size;
        for (; block < count && block < end; block++)
            ring->table[block].claim = 0;
        off_t hole = next < 0 ? -1 : lseek(fd, next, SEEK_HOLE);
        if (hole < 0)
            return;
        block = ((uint64_t)hole - data + size - 1) / size;
    }
}

static int read_table(struct cunei_trace_ring *ring)
{
    size_t size = (size_t)ring->head.block_count * sizeof(ring->table[0]);

    ring->table = malloc(size);
    if (!ring->table)
        return -ENOMEM;
    int rc = read_whole(ring, ring->table, size, TABLE_OFFSET);
    if (rc <= 0) {
        ring->is_whole = false;
        return rc;
    }
    /* Pairs with the release of the claims: whole packets are in their blocks. */
    atomic_thread_fence(memory_order_acquire);
    drop_holes(ring);
    for (uint64_t i = 0; i < ring->head.block_count; i++) {
        if (is_packet(&ring->table[i]) && ring->table[i].end > ring->last_end)
            ring->last_end = ring->table[i].end;
    }
    return 0;
}

/* After the table: what is not in it was noted before it was overwritten. */
static int read_overwritten(struct cunei_trace_ring *ring)
{
    struct cunei_ring head;

    atomic_thread_fence(memory_order_acquire);
    int rc = read_whole(ring, &head, sizeof(head), 0);
    if (rc > 0)
        ring->complete_from = head.overwritten_end;
    return rc < 0 ? rc : 0;
}

int cunei_trace_ring_open(struct cunei_trace_ring *ring,
                          const struct cunei_trace_process *process)
{
    *ring = (struct cunei_trace_ring){.file.fd = -1};
    int rc = cunei_trace_hidden_open(&ring->file, CUNEI_RING_NAME, process);

    if (rc < 0 || ring->file.fd < 0)
        return rc;
    rc = read_whole(ring, &ring->head, sizeof(ring->head), 0);
    ring->is_whole =
        rc > 0 && check_ring(&ring->head, ring->file.size, process->metadata.uuid);
    if (rc > 0 && ring->is_whole)
        rc = read_table(ring);
    if (rc == 0 && ring->is_whole)
        rc = read_overwritten(ring);
    return rc < 0 ? rc : 0;
}

void cunei_trace_ring_close(struct cunei_trace_ring *ring)
{
    cunei_trace_hidden_close(&ring->file);
    free(ring->table);
    *ring = (struct cunei_trace_ring){.file.fd = -1};
}

/* How many blocks from `first` on, around the end of the ring, have its claim. */
static uint64_t count_blocks(const struct cunei_trace_ring *ring, uint64_t first)
{
    uint64_t count = 1;

    while (count < CUNEI_RING_PACKET_BLOCKS &&
           ring->table[(first + count) % ring->head.block_count].claim ==
               ring->table[first].claim)
        count++;
    return count;
}

/* Read `count` items of a circle of them, from item `first` on. */
static int read_around(const struct cunei_trace_ring *ring, void *items, size_t size,
                       uint64_t offset, uint64_t first, uint64_t count)
{
    uint64_t room = ring->head.block_count - first;
    size_t before = (size_t)((count < room ? count : room) * size);

    int rc = read_whole(ring, items, before, offset + first * size);
    if (rc <= 0 || count <= room)
        return rc;
    return read_whole(ring, (char *)items + before, (size_t)count * size - before,
                      offset);
}

/* Whether these blocks still have the claim that the table has. */
static int is_unchanged(const struct cunei_trace_ring *ring, uint64_t first,
                        uint64_t count)
{
    struct cunei_ring_block now[CUNEI_RING_PACKET_BLOCKS];

    /* Pairs with the writer's fence behind its claims, before it writes a packet. */
    atomic_thread_fence(memory_order_acquire);
    int rc = read_around(ring, now, sizeof(now[0]), TABLE_OFFSET, first, count);
    for (uint64_t i = 0; rc > 0 && i < count; i++)
        rc = now[i].claim == ring->table[first].claim;
    return rc;
}

/* 1: the packet is whole; 0: it was overwritten meanwhile, or is none. */
static int copy_packet(const struct cunei_trace_ring *ring, uint64_t first,
                       uint64_t count, struct cunei_packet *packet)
{
    int rc = read_around(ring, packet, CUNEI_RING_BLOCK_SIZE, ring->head.data_offset,
                         first, count);
    if (rc > 0)
        rc = is_unchanged(ring, first, count);
    if (rc <= 0)
        return rc;
    return !cunei_trace_check_head(packet, ring->head.uuid, packet->stream) &&
           packet->stream < CUNEI_LIVE_STREAMS_MAX &&
           packet->stream_class == CUNEI_STREAM_EVENTS &&
           packet->packet_bits == packet->content_bits &&
           cunei_ring_blocks(packet->packet_bits / 8) == count;
}

uint64_t cunei_trace_ring_count(const struct cunei_trace_ring *ring, uint64_t position)
{
    return count_blocks(ring, position % ring->head.block_count);
}

int cunei_trace_ring_copy(const struct cunei_trace_ring *ring, uint64_t position,
                          struct cunei_packet *packet)
{
    uint64_t first = position % ring->head.block_count;

    return copy_packet(ring, first, count_blocks(ring, first), packet);
}

static int compare_positions(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* The positions at which packets begin, in order; owned by the caller. */
static int list_packets(const struct cunei_trace_ring *ring, uint64_t from,
                        uint64_t **positions, size_t *count)
{
    uint64_t blocks = ring->head.block_count, *found = NULL;
    size_t found_count = 0;

    found = malloc((size_t)blocks * sizeof(*found));
    if (!found)
        return -ENOMEM;
    for (uint64_t i = 0; i < blocks; i++) {
        const struct cunei_ring_block *block = &ring->table[i];
        if (is_packet(block) && position_of(block) % blocks == i && block->end > from)
            found[found_count++] = position_of(block);
    }
    qsort(found, found_count, sizeof(*found), compare_positions);
    *positions = found;
    *count = found_count;
    return 0;
}

int cunei_trace_ring_read(struct cunei_trace_ring *ring, uint64_t from,
                          int (*take)(void *context, struct cunei_packet *packet),
                          void *context)
{
    struct cunei_packet *packet = NULL;
    uint64_t *positions = NULL;
    size_t count = 0;

    if (ring->head.block_count == 0)
        return 0;
    int rc = list_packets(ring, from, &positions, &count);
    if (rc < 0)
        return rc;
    packet = malloc(CUNEI_PACKET_SIZE);
    if (!packet)
        rc = -ENOMEM;
    for (size_t i = 0; rc >= 0 && i < count; i++) {
        rc = cunei_trace_ring_copy(ring, positions[i], packet);
        uint64_t end = ring->table[positions[i] % ring->head.block_count].end;
        if (rc == 0 && end > ring->complete_from)
            ring->complete_from = end;
        if (rc > 0)
            rc = take(context, packet);
    }
    free(packet);
    free(positions);
    return rc < 0 ? rc : 0;
}
