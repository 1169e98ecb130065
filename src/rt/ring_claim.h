// SPDX-License-Identifier: MIT
/*
 * Who writes which blocks of the ring (wire/ring.h): claimed, taken, published.  Any
 * number of threads at once, without a lock.  Private to rt/.
 *
 *     if (cunei_ring_take(&ring, blocks, &position) == 0) {
 *         … write the packet …
 *         cunei_ring_publish(&ring, position, blocks, timestamp_end);
 *     }
 */
#ifndef CUNEI_RT_RING_CLAIM_H
#define CUNEI_RT_RING_CLAIM_H

#include <stdint.h>

#include "wire/ring.h"

/* The ring as its process maps it; the count is not read from the mapping. */
struct cunei_ring_map {
    struct cunei_ring *head;
    struct cunei_ring_block *blocks;
    uint64_t block_count;
};

/*
 * Take the next `count` blocks to write them: what was in them is gone for readers.
 * -EBUSY: another thread still writes one of them, or has written a newer packet there.
 */
int cunei_ring_take(const struct cunei_ring_map *ring, uint64_t count,
                    uint64_t *position);

/* They hold a packet that ends at this tick. */
void cunei_ring_publish(const struct cunei_ring_map *ring, uint64_t position,
                        uint64_t count, uint64_t end);

/* They hold nothing: the packet could not be written. */
void cunei_ring_abandon(const struct cunei_ring_map *ring, uint64_t position,
                        uint64_t count);

#endif
