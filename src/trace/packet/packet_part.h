// SPDX-License-Identifier: MIT
/* What a follower (trace/follow/follow.h) hands out: a part of a packet. */
#ifndef CUNEI_TRACE_PACKET_PACKET_PART_H
#define CUNEI_TRACE_PACKET_PACKET_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cunei_packet;
struct cunei_trace_stream;

/*
 * Events of a packet that were not handed out before, borrowed for the call.  A record
 * that says something about the next one (`unwind`, `task`) comes together with it.
 */
struct cunei_trace_part {
    size_t process; /* index in the trace, which stays */
    const struct cunei_trace_stream
        *stream;                     /* its number stays, its address need not */
    const struct cunei_packet *head; /* as last read */
    bool is_first;                   /* the packet begins with this part */
    bool is_closed;                  /* the packet ends with it: its head is final */
    bool is_cut; /* … but its last events were overwritten before they were read */
    const uint64_t *words;
    size_t word_count; /* 0: the packet only begins, or ends */
    size_t event_count;
};

#endif
