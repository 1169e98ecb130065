// SPDX-License-Identifier: MIT
/* Stores into a packet of the live file, which other processes read meanwhile. */
#ifndef CUNEI_RT_PACKET_STORE_H
#define CUNEI_RT_PACKET_STORE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/packet.h"

#define CUNEI_PACKET_HEAD_WORDS (sizeof(struct cunei_packet) / sizeof(uint64_t))

/* Word by word and atomically. */
static inline void cunei_packet_store_words(void *to, const void *from, size_t count)
{
    const uint64_t *source = from;
    _Atomic uint64_t *target = to;

    for (size_t i = 0; i < count; i++)
        atomic_store_explicit(&target[i], source[i], memory_order_relaxed);
}

static inline void cunei_packet_invalidate(struct cunei_packet *packet)
{
    atomic_store_explicit(&packet->magic, 0, memory_order_relaxed);
    /* Pairs with the reader's second look at the magic, after its copy. */
    atomic_thread_fence(memory_order_release);
}

/* Make it the packet with this head, whose magic is 0, and these words behind it. */
static inline void cunei_packet_store(struct cunei_packet *packet,
                                      const struct cunei_packet *head,
                                      const void *words, size_t count)
{
    cunei_packet_invalidate(packet);
    cunei_packet_store_words(packet + 1, words, count);
    cunei_packet_store_words(packet, head, CUNEI_PACKET_HEAD_WORDS);
    /* Pairs with the acquire of the magic in the reader: the packet is whole. */
    atomic_store_explicit(&packet->magic, CUNEI_PACKET_MAGIC, memory_order_release);
}

#endif
