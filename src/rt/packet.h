// SPDX-License-Identifier: MIT
/* Packets in a stream's slot; private to rt/. */
#ifndef CUNEI_RT_PACKET_H
#define CUNEI_RT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cunei_recorder_state;
struct cunei_slot;
struct cunei_stream;

/* What to do with a packet for which there is no space. */
enum cunei_close {
    CUNEI_CLOSE_DISCARD, /* count its events as lost and continue */
    /*
     * Try all the same, and leave the packet in the live file if that fails: for
     * definitions, and for a recording's last packets, which carry the count of lost
     * events.
     */
    CUNEI_CLOSE_KEEP,
};

/* `flags` as in the head of the packet. */
void cunei_packet_begin(struct cunei_recorder_state *recording,
                        struct cunei_stream *stream, uint64_t now, uint32_t flags);
int cunei_packet_close(struct cunei_recorder_state *recording,
                       struct cunei_stream *stream, enum cunei_close why, bool last);

/* Write the `stack` event of the first `count` of the stream's `functions`. */
void cunei_packet_put_stack(struct cunei_stream *stream, uint64_t now, size_t count,
                            size_t omitted);

void cunei_packet_count_lost(struct cunei_recorder_state *recording,
                             struct cunei_slot *slot, uint64_t count);

/* Write a last packet for a slot without an owner, if its file does not count all lost
 * events yet. */
int cunei_packet_write_losses(struct cunei_recorder_state *recording,
                              struct cunei_slot *slot);

/* At the end of the recording: write what is queued, and give back the disk space that
 * the stream file has reserved and not used. */
int cunei_packet_finish_file(struct cunei_recorder_state *recording,
                             struct cunei_slot *slot);

#endif
