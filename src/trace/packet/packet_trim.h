// SPDX-License-Identifier: MIT
/* Cutting the end of a packet off at a tick. */
#ifndef CUNEI_TRACE_PACKET_PACKET_TRIM_H
#define CUNEI_TRACE_PACKET_PACKET_TRIM_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_packet;

/*
 * Leave out the events of a closed packet, or of one that was copied while it was open,
 * that are later than `until`.  Its head is in order, its events are not checked.
 * False: nothing is left of it.
 */
bool cunei_trace_packet_trim(struct cunei_packet *packet, uint64_t until);

#endif
