// SPDX-License-Identifier: MIT
#include "rt/ring_claim.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

static struct cunei_ring_block *block_at(const struct cunei_ring_map *ring,
                                         uint64_t position)
{
    return &ring->blocks[position % ring->block_count];
}

/* Positions that no other thread gets. */
static uint64_t claim(const struct cunei_ring_map *ring, uint64_t count)
{
    uint64_t position = atomic_load_explicit(&ring->head->next, memory_order_relaxed);

    while (!atomic_compare_exchange_weak_explicit(
        &ring->head->next, &position, position + count, memory_order_relaxed,
        memory_order_relaxed))
        continue;
    return position;
}

/* Before the packet is gone: a reader that misses it finds the time. */
static void note_overwritten(const struct cunei_ring_map *ring, uint64_t end)
{
    uint64_t latest =
        atomic_load_explicit(&ring->head->overwritten_end, memory_order_relaxed);

    while (latest < end && !atomic_compare_exchange_weak_explicit(
                               &ring->head->overwritten_end, &latest, end,
                               memory_order_relaxed, memory_order_relaxed))
        continue;
}

/*
 * Exchange the claim of one block; `*before` is what it was.  A claim only changes by
 * an exchange, so that `end` belonged to it if the exchange succeeds.
 */
static bool take_block(const struct cunei_ring_map *ring, uint64_t position,
                       uint64_t at, uint64_t *before)
{
    struct cunei_ring_block *block = block_at(ring, at);
    uint64_t claim = atomic_load_explicit(&block->claim, memory_order_acquire);
    enum cunei_ring_state state = cunei_ring_claim_state(claim);

    if (state == CUNEI_RING_WRITING || cunei_ring_claim_position(claim) > position)
        return false;
    if (state == CUNEI_RING_WHOLE)
        note_overwritten(ring, atomic_load_explicit(&block->end, memory_order_relaxed));
    *before = claim;
    return atomic_compare_exchange_strong_explicit(
        &block->claim, &claim, cunei_ring_claim(position, CUNEI_RING_WRITING),
        memory_order_acq_rel, memory_order_relaxed);
}

static void set_claims(const struct cunei_ring_map *ring, uint64_t position,
                       uint64_t count, uint64_t claim)
{
    for (uint64_t i = 0; i < count; i++)
        atomic_store_explicit(&block_at(ring, position + i)->claim, claim,
                              memory_order_release);
}

int cunei_ring_take(const struct cunei_ring_map *ring, uint64_t count,
                    uint64_t *position)
{
    uint64_t before[CUNEI_RING_PACKET_BLOCKS], own = claim(ring, count), taken = 0;

    while (taken < count && take_block(ring, own, own + taken, &before[taken]))
        taken++;
    if (taken < count) {
        while (taken-- > 0)
            set_claims(ring, own + taken, 1, before[taken]);
        atomic_fetch_add_explicit(&ring->head->dropped, 1, memory_order_relaxed);
        return -EBUSY;
    }
    /* Pairs with the fence behind a reader's copy: whoever sees a byte of the packet
     * sees that the blocks are taken. */
    atomic_thread_fence(memory_order_release);
    *position = own;
    return 0;
}

void cunei_ring_publish(const struct cunei_ring_map *ring, uint64_t position,
                        uint64_t count, uint64_t end)
{
    for (uint64_t i = 0; i < count; i++)
        atomic_store_explicit(&block_at(ring, position + i)->end, end,
                              memory_order_relaxed);
    set_claims(ring, position, count, cunei_ring_claim(position, CUNEI_RING_WHOLE));
}

void cunei_ring_abandon(const struct cunei_ring_map *ring, uint64_t position,
                        uint64_t count)
{
    set_claims(ring, position, count, cunei_ring_claim(position, CUNEI_RING_EMPTY));
}
