// SPDX-License-Identifier: MIT
/*
 * The packets of threads that have ended and are not in the stream file yet; private to
 * rt/.
 *
 * They lie one behind the other in the buffer of the slot that is not in use, so that
 * many short threads share one write.  Nothing is lost by a kill: readers and recovery
 * look there (wire/live.h).  The queue is written before the slot's next packet that
 * does not fit into it, and at the end of the recording.  The caller holds the
 * recording's lock.
 */
#ifndef CUNEI_RT_PACKET_QUEUE_H
#define CUNEI_RT_PACKET_QUEUE_H

#include <stdbool.h>

struct cunei_packet;
struct cunei_recorder_state;
struct cunei_slot;

/* Copy a closed packet into the queue; false: it does not fit. */
bool cunei_packet_queue_add(struct cunei_recorder_state *recording,
                            struct cunei_slot *slot, const struct cunei_packet *packet);

/* The name of the slot's stream file. */
void cunei_packet_queue_name_file(const struct cunei_slot *slot, char name[16]);

/* Append the queue to the stream file; it stays if that fails. */
int cunei_packet_queue_write(struct cunei_recorder_state *recording,
                             struct cunei_slot *slot);

#endif
