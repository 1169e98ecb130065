// SPDX-License-Identifier: MIT
/*
 * The live file: the packets a process is writing, and its state.
 *
 *     0          struct cunei_live, then one struct cunei_live_stream per stream
 *     192 KiB    struct cunei_live_tail: lines that the metadata file does not have yet
 *     256 KiB    stream 0: two packet buffers of 256 KiB
 *     768 KiB    stream 1: two packet buffers …
 *
 * A stream writes its packet into one of its buffers.  The other one may hold closed
 * packets, one behind the other up to a magic of 0.
 *
 * The traced process maps it writable; readers map or read it, and believe nothing in
 * it.  It is named CUNEI_LIVE_NAME in the folder of its process and is gone after a
 * clean end.  What lies in its buffers and not yet in the stream files is found by the
 * packets' sequence numbers; which lines of the tail are not in the metadata file, by
 * the functions' ids, which grow from line to line.  A packet is written only after the
 * tail: the files alone are a valid trace at any time.
 *
 * A change in this file is a change of CUNEI_WIRE_VERSION.
 */
#ifndef CUNEI_WIRE_LIVE_H
#define CUNEI_WIRE_LIVE_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#include "wire/event.h"
#include "wire/packet.h"

#define CUNEI_LIVE_NAME        ".live"
#define CUNEI_LIVE_MAGIC       UINT64_C(0x65766c69656e7563) /* "cuneilve" */
#define CUNEI_LIVE_HEAD_SIZE   (256u << 10)
#define CUNEI_LIVE_STREAM_SIZE (CUNEI_PACKET_SIZE << 1)
#define CUNEI_LIVE_TAIL_SIZE   (64u << 10)
#define CUNEI_LIVE_TAIL_OFFSET (CUNEI_LIVE_HEAD_SIZE - CUNEI_LIVE_TAIL_SIZE)

enum cunei_live_state {
    CUNEI_LIVE_RECORDING = 1,
    CUNEI_LIVE_FULL = 2,       /* no space, or enough of it used: packets are dropped */
    CUNEI_LIVE_ENDED = 3,      /* ended, and something could not be written */
    CUNEI_LIVE_ENDED_FULL = 4, /* the same, after it was FULL */
};

/* Events that were lost or corrected; other units are noted. */
enum cunei_live_counter {
    CUNEI_LIVE_LOST,             /* not recorded, for whatever reason: the total */
    CUNEI_LIVE_LOST_NO_STREAM,   /* of these: no stream could be made for the thread */
    CUNEI_LIVE_LOST_NO_SPACE,    /* of these: the packet could not be written */
    CUNEI_LIVE_LOST_NO_FUNCTION, /* of these: no id or no definition for the function */
    CUNEI_LIVE_CLAMPED,          /* times that stepped back */
    CUNEI_LIVE_WRITE_NS,         /* nanoseconds spent in writing packets */
    CUNEI_LIVE_WRITTEN, /* bytes of packets in stream files, or on their way there */
    CUNEI_LIVE_WRITE_CPU_NS, /* of the time for writing, that on a processor */
    CUNEI_LIVE_COUNTERS = 16,
};

struct cunei_live_stream {
    uint32_t stream_class;
    uint32_t thread;            /* serial number of the owner; 0: waiting for one */
    _Atomic uint64_t discarded; /* events */
    _Atomic uint32_t current;   /* buffer in use, 0 or 1 */
    uint32_t reserved32;
    uint64_t reserved[5];
};

struct cunei_live {
    uint64_t magic;
    uint32_t version;     /* CUNEI_WIRE_VERSION */
    uint32_t packet_size; /* CUNEI_PACKET_SIZE */
    uint8_t uuid[16];     /* the process image's */
    uint8_t boot_id[16];  /* the machine's, this boot */
    uint32_t pid;
    _Atomic uint32_t state;        /* enum cunei_live_state */
    _Atomic uint32_t generation;   /* reserved: of the configuration */
    _Atomic uint32_t stream_count; /* slots in use, from 0 */
    uint32_t stop_errno;           /* of the last write that failed; 0: --max-size */
    uint32_t reserved32;
    uint64_t base; /* tick 0 of the trace, on the counter of the machine */
    uint64_t reserved[6];
    _Atomic uint64_t counters[CUNEI_LIVE_COUNTERS];
    struct cunei_live_stream streams[];
};

/*
 * Definitions on their way into the metadata file: a line costs a copy here, not a
 * system call.  A reader that finds another `flushed` after its copy copies again.
 */
struct cunei_live_tail {
    _Atomic uint64_t flushed; /* how often it went to the file and began anew */
    _Atomic uint64_t length;  /* of the whole lines in it */
    char text[CUNEI_LIVE_TAIL_SIZE - 2 * sizeof(uint64_t)];
};

#define CUNEI_LIVE_STREAMS_MAX                              \
    ((CUNEI_LIVE_TAIL_OFFSET - sizeof(struct cunei_live)) / \
     sizeof(struct cunei_live_stream))

static_assert(sizeof(struct cunei_live) == 256, "the wire layout moved");
static_assert(sizeof(struct cunei_live_stream) == 64, "the wire layout moved");
static_assert(sizeof(struct cunei_live_tail) == CUNEI_LIVE_TAIL_SIZE,
              "the wire layout moved");

#endif
