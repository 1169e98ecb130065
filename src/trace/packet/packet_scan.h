// SPDX-License-Identifier: MIT
/*
 * A walk over the heads of a stream file: how far its packets are whole.
 *
 *     struct cunei_trace_scan scan;
 *     cunei_trace_scan_open(&scan, process, stream);
 *     while ((rc = cunei_trace_scan_next(&scan)) > 0)
 *         … scan.head, a packet at scan.at …
 *     cunei_trace_scan_close(&scan);
 */
#ifndef CUNEI_TRACE_PACKET_PACKET_SCAN_H
#define CUNEI_TRACE_PACKET_PACKET_SCAN_H

#include <stdint.h>

#include "wire/packet.h"

struct cunei_trace_process;
struct cunei_trace_stream;

struct cunei_trace_scan {
    int fd;
    const uint8_t *uuid; /* borrowed */
    uint64_t number;
    uint64_t size;  /* of the file, when the scan was opened */
    uint64_t at;    /* offset of the packet of `head` */
    uint64_t whole; /* where the whole packets end */
    struct cunei_packet head;
    const char *wrong; /* after -EBADMSG */
};

/* -ENOENT and the like: as from open(2). */
int cunei_trace_scan_open(struct cunei_trace_scan *scan,
                          const struct cunei_trace_process *process,
                          const struct cunei_trace_stream *stream);

/*
 * 1: a whole packet, 0: the end, which is torn if `whole` is less than `size`,
 * -EBADMSG: the next bytes are not a packet, cut short or not.
 */
int cunei_trace_scan_next(struct cunei_trace_scan *scan);

/*
 * Copy the packet of `head`, all of it, to `packet`, which has room for any.  -EBADMSG:
 * the file has changed since; a recorder does not do that.
 */
int cunei_trace_scan_read(const struct cunei_trace_scan *scan,
                          struct cunei_packet *packet);

/* After -EBADMSG: continue at the next packet. */
int cunei_trace_scan_pass(struct cunei_trace_scan *scan);
void cunei_trace_scan_close(struct cunei_trace_scan *scan);

/*
 * The offset of the first packet from `offset` on that, by its head, is whole before
 * `end`: there reading continues after damage.  Returns `end` if there is none, or a
 * negative errno.  The time grows with the bytes passed over, without holes.
 */
int64_t cunei_trace_scan_find(int fd, uint64_t offset, uint64_t end,
                              const uint8_t uuid[16], uint64_t number);

#endif
