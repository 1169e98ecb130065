// SPDX-License-Identifier: MIT
/*
 * The ring policy: closed packets of events go to a ring (wire/ring.h), which keeps the
 * last of them, in place of the stream files.  Private to rt/.
 *
 * The head of the ring and its table are mapped, its blocks are written as files are:
 * a block whose page the kernel has dropped is then not read again from the disk, and
 * nothing that happens to the file can be fatal.
 */
#ifndef CUNEI_RT_RING_H
#define CUNEI_RT_RING_H

#include <stdbool.h>
#include <stddef.h>

struct cunei_keep;
struct cunei_packet;
struct cunei_recorder_state;
struct cunei_stream;

/* Make the ring, all of it allocated; -CUNEI_REFUSAL_RING: there is no room for it. */
int cunei_ring_create(struct cunei_recorder_state *recording,
                      const struct cunei_keep *keep);

/* Whether this stream's packets go to the ring. */
bool cunei_ring_holds(const struct cunei_recorder_state *recording,
                      const struct cunei_stream *stream);

/* Write a closed packet; -EBUSY: its blocks are in use, and it is lost. */
int cunei_ring_write(struct cunei_recorder_state *recording,
                     const struct cunei_packet *packet);

/* At the end of the recording: give back what was never used. */
void cunei_ring_trim(struct cunei_recorder_state *recording);

/* Unmap the ring; it stays for readers. */
void cunei_ring_forget(struct cunei_recorder_state *recording);
void cunei_ring_remove(struct cunei_recorder_state *recording);

#endif
