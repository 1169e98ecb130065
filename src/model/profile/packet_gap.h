// SPDX-License-Identifier: MIT
/*
 * Packets that are not in a stream, by the sequence numbers of their neighbours.
 *
 * The recorder drops packets when space runs out, at --max-size for example, and counts
 * their events in the packets behind them.  Packets whose events were not counted are
 * missing: the file is damaged, or was changed.
 */
#ifndef CUNEI_MODEL_PROFILE_PACKET_GAP_H
#define CUNEI_MODEL_PROFILE_PACKET_GAP_H

#include <stdint.h>

struct cunei_packet_gap {
    uint64_t dropped;
    uint64_t missing;
};

/* A packet in its stream. */
struct cunei_packet_place {
    uint64_t sequence;
    uint64_t discarded; /* events of the stream so far */
};

/* Add the packets between two that follow each other in the file. */
static inline void cunei_packet_gap_add(struct cunei_packet_gap *gap,
                                        struct cunei_packet_place before,
                                        struct cunei_packet_place after)
{
    if (after.sequence <= before.sequence)
        return;
    uint64_t count = after.sequence - before.sequence - 1;
    if (after.discarded > before.discarded)
        gap->dropped += count;
    else
        gap->missing += count;
}

#endif
