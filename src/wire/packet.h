// SPDX-License-Identifier: MIT
/*
 * The head of a packet: CTF packet header and packet context in one struct.
 *
 * A packet lies in a buffer of the live file while it is written and in a stream file
 * afterwards, trimmed to its content.  It is a valid CTF packet at every instant:
 * packet_bits is fixed, timestamp_end is far away until the packet is closed, and the
 * store that publishes an event is the one to content_bits.
 *
 * A change in this file is a change of CUNEI_WIRE_VERSION.
 */
#ifndef CUNEI_WIRE_PACKET_H
#define CUNEI_WIRE_PACKET_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CUNEI_PACKET_MAGIC       0xC1FC1FC1u
#define CUNEI_PACKET_SIZE        (256u << 10)
#define CUNEI_PACKET_THREAD_NAME 32

/* Added to timestamp_begin while a packet is open: babeltrace2 needs an end. */
#define CUNEI_PACKET_OPEN_SPAN (UINT64_C(1) << 45)

enum cunei_stream_class {
    CUNEI_STREAM_EVENTS = 0,      /* what one thread after another does */
    CUNEI_STREAM_DEFINITIONS = 1, /* functions beyond the classes */
};

struct cunei_packet {
    /* CTF packet header */
    _Atomic uint32_t magic; /* 0 while the head is being written */
    uint8_t uuid[16];       /* the process image's */
    uint32_t stream_class;
    uint64_t stream; /* number of the stream: of its slot and of its file */
    /* CTF packet context */
    uint32_t vpid;
    uint32_t vtid;
    char thread_name[CUNEI_PACKET_THREAD_NAME]; /* UTF-8, NUL-padded, may fill it */
    uint64_t timestamp_begin;
    uint64_t timestamp_end;
    _Atomic uint64_t content_bits; /* CTF content_size */
    uint64_t packet_bits;          /* CTF packet_size */
    uint64_t sequence;             /* of this packet in its stream, from 0 */
    uint64_t events_discarded;     /* in this stream so far */
    uint64_t monotonic_ns;         /* CLOCK_MONOTONIC at timestamp_begin */
    uint64_t cpu_begin_ns;         /* the thread's CPU time; begin == end while open */
    uint64_t cpu_end_ns;
    uint32_t thread; /* serial number of the thread in its process, from 1 */
    uint32_t flags;  /* CUNEI_PACKET_… */
};

/* The thread ended with this packet, or recording did: nothing follows for it. */
#define CUNEI_PACKET_LAST 1u
/* Events were switched off or on since the thread's packet before this one: what is
 * open now need not be what that one left open. */
#define CUNEI_PACKET_RENEWED 2u

static_assert(sizeof(struct cunei_packet) == 152, "the wire layout moved");
static_assert(offsetof(struct cunei_packet, content_bits) == 88, "the layout moved");

#endif
