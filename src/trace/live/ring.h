// SPDX-License-Identifier: MIT
/*
 * Reading the ring of a process (wire/ring.h), which may be written meanwhile, or hold
 * arbitrary bytes.  As the live file, it is read and never mapped.
 *
 *     struct cunei_trace_ring ring;
 *     int rc = cunei_trace_ring_open(&ring, process);
 *     if (rc == 0 && ring.is_whole)
 *         rc = cunei_trace_ring_read(&ring, take, context);
 *     … ring.complete_from …
 *     cunei_trace_ring_close(&ring);
 */
#ifndef CUNEI_TRACE_LIVE_RING_H
#define CUNEI_TRACE_LIVE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/live/hidden_file.h"
#include "wire/ring.h"

struct cunei_packet;
struct cunei_trace_process;

struct cunei_trace_ring {
    struct cunei_trace_hidden file;
    bool is_whole;                  /* its head is one of ours, for this process */
    struct cunei_ring head;         /* a copy */
    struct cunei_ring_block *table; /* owned: a copy; of head.block_count blocks */
    uint64_t last_end;              /* the latest end of a packet, by the table */
    /* No event after this tick is missing in what is handed out; 0: none is. */
    uint64_t complete_from;
};

/* How far a ring was read by one who follows it; begins empty.  Private but for that.
 */
struct cunei_trace_ring_place {
    uint64_t next;     /* positions before this were looked at … */
    uint64_t *pending; /* owned: … but for these, which are being written */
    size_t pending_count, pending_capacity;
};

/* A missing ring is not an error; other failures to open or read it are. */
int cunei_trace_ring_open(struct cunei_trace_ring *ring,
                          const struct cunei_trace_process *process);
void cunei_trace_ring_close(struct cunei_trace_ring *ring);

/*
 * Hand out each packet that ends after tick `from`, in the order in which they were
 * written, which is the order of each stream.  The head of a packet is in order, its
 * events are not checked.  It is the caller's until `take` returns; a negative result
 * ends the reading.
 */
int cunei_trace_ring_read(struct cunei_trace_ring *ring, uint64_t from,
                          int (*take)(void *context, struct cunei_packet *packet),
                          void *context);

/*
 * The same for the packets that were not handed out before.  Returns 0, or 1: after
 * `max` bytes there are more; the next call continues.  What is written just now comes
 * later, unless `is_final`.
 */
int cunei_trace_ring_continue(struct cunei_trace_ring *ring,
                              struct cunei_trace_ring_place *place, uint64_t max,
                              bool is_final,
                              int (*take)(void *context, struct cunei_packet *packet),
                              void *context);
void cunei_trace_ring_place_fini(struct cunei_trace_ring_place *place);

/* Private to the room.  How many blocks from the one at `position` on are one packet's,
 * and a copy of it: 1: it is whole, 0: it was overwritten meanwhile, or is none. */
uint64_t cunei_trace_ring_count(const struct cunei_trace_ring *ring, uint64_t position);
int cunei_trace_ring_copy(const struct cunei_trace_ring *ring, uint64_t position,
                          struct cunei_packet *packet);

#endif
