// SPDX-License-Identifier: MIT
/*
 * The ring: the last packets of a process that keeps only these (`--keep`).
 *
 *     0            struct cunei_ring
 *     4 KiB        one struct cunei_ring_block per block, up to the next 4 KiB
 *     data_offset  block 0 of 4 KiB, block 1 …
 *
 * It is named CUNEI_RING_NAME in the folder of its process, or that file names it, as
 * CUNEI_LIVE_NAME does with the live file (wire/live_place.h).  All threads of the
 * process share it.  Packets of events are written to it instead of to stream files,
 * trimmed to their content; definitions stay in their files, which only grow.
 *
 * Positions count blocks from 0 and only grow; position p is at block p % block_count.
 * A packet takes the blocks that its content needs, one after another, from the last to
 * the first where the end of the ring is reached.  A writer
 *
 *     1. claims positions from `next` on, by compare-and-swap;
 *     2. takes each of these blocks: raises `overwritten_end` to the block's `end`,
 * then exchanges its `claim` for its own, CUNEI_RING_WRITING.  It may take a block that
 * is whole or empty, of an older claim.  Otherwise the block belongs to a writer that
 * did not run for a whole round, or to a newer packet: it restores what it took and
 * gives up;
 *     3. writes the packet, then `end` of each block;
 *     4. publishes: its claim in each block becomes CUNEI_RING_WHOLE.
 *
 * A packet begins in a block whose claim is whole, and of a position at that block; it
 * is whole as long as all of its blocks have that claim.  A reader copies the table,
 * then reads `overwritten_end`: packets that end later are in the table.  It copies a
 * packet, and looks at its claims again: if they changed, the packet is overwritten.
 *
 * Until a packet is whole in the ring, it is in the live file.  Readers believe nothing
 * in either.  A change in this file is a change of CUNEI_WIRE_VERSION.
 */
#ifndef CUNEI_WIRE_RING_H
#define CUNEI_WIRE_RING_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#include "wire/packet.h"

#define CUNEI_RING_NAME       ".ring"
#define CUNEI_RING_MAGIC      UINT64_C(0x676e7269656e7563) /* "cuneirng" */
#define CUNEI_RING_BLOCK_SIZE (4u << 10)

/* Blocks that a packet takes at most. */
#define CUNEI_RING_PACKET_BLOCKS (CUNEI_PACKET_SIZE / CUNEI_RING_BLOCK_SIZE)

/* Bytes of blocks: four packets at least, and what a reader accepts at most. */
#define CUNEI_RING_SIZE_MIN (UINT64_C(1) << 20)
#define CUNEI_RING_SIZE_MAX (UINT64_C(1) << 36)

struct cunei_ring {
    uint64_t magic;
    uint32_t version;    /* CUNEI_WIRE_VERSION */
    uint32_t block_size; /* CUNEI_RING_BLOCK_SIZE */
    uint8_t uuid[16];    /* the process image's */
    uint64_t block_count;
    uint64_t data_offset;
    uint64_t keep_ns;      /* the time that was asked for; 0: what fits */
    _Atomic uint64_t next; /* position of the next packet */
    /* The latest timestamp_end of a packet that was overwritten; 0: none was. */
    _Atomic uint64_t overwritten_end;
    _Atomic uint64_t dropped; /* packets that found their blocks in use */
    uint64_t reserved[6];
};

/* What is in a block: the two low bits of its claim. */
enum cunei_ring_state {
    CUNEI_RING_EMPTY, /* nothing yet */
    CUNEI_RING_WRITING,
    CUNEI_RING_WHOLE,
};

#define CUNEI_RING_STATE_BITS 2u

struct cunei_ring_block {
    /* The position of the first block of its packet, and enum cunei_ring_state. */
    _Atomic uint64_t claim;
    _Atomic uint64_t end; /* timestamp_end of its packet, while the claim is whole */
};

static inline uint64_t cunei_ring_claim(uint64_t position, enum cunei_ring_state state)
{
    return position << CUNEI_RING_STATE_BITS | state;
}

static inline uint64_t cunei_ring_claim_position(uint64_t claim)
{
    return claim >> CUNEI_RING_STATE_BITS;
}

static inline enum cunei_ring_state cunei_ring_claim_state(uint64_t claim)
{
    return (enum cunei_ring_state)(claim & ((1u << CUNEI_RING_STATE_BITS) - 1));
}

/* Where block 0 is. */
static inline uint64_t cunei_ring_data_offset(uint64_t block_count)
{
    const uint64_t block = CUNEI_RING_BLOCK_SIZE;

    return block +
           (block_count * sizeof(struct cunei_ring_block) + block - 1) / block * block;
}

/* How many blocks `size` bytes take. */
static inline uint64_t cunei_ring_blocks(uint64_t size)
{
    return (size + CUNEI_RING_BLOCK_SIZE - 1) / CUNEI_RING_BLOCK_SIZE;
}

static_assert(sizeof(struct cunei_ring) == 128, "the wire layout moved");
static_assert(sizeof(struct cunei_ring_block) == 16, "the wire layout moved");

#endif
