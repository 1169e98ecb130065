// SPDX-License-Identifier: MIT
/*
 * Following one stream: private to trace/follow/follow.c and follow_process.c.
 *
 * A poll gathers what is new first, and hands it out when the definitions are known:
 *
 *     heads of the live packets     which packets are in the live file
 *     the stream file               packets before these, up to where it is whole
 *     words of the live packet      those that were not handed out before
 *
 * Until its thread has written a packet, that is in the live file; so, in this order,
 * none is missed.  A packet ends for the reader when it is read from the file, or when
 * its process has ended.
 *
 * Where the process has a ring (wire/ring.h), that stands for the files of events.  It
 * is read after all live words of a process are gathered, and handed out before them.
 */
#ifndef CUNEI_TRACE_FOLLOW_FOLLOW_STREAM_H
#define CUNEI_TRACE_FOLLOW_FOLLOW_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/directory/trace.h"
#include "trace/packet/check.h"
#include "trace/packet/packet_part.h"
#include "wire/packet.h"

struct cunei_trace_live;

/* Words of a live packet that one poll has copied. */
struct cunei_follow_words {
    struct cunei_packet head;
    uint64_t *words; /* owned; NULL: none */
    size_t count;
};

struct cunei_follow_stream {
    uint64_t offset; /* in its file: of the next packet */
    bool has_last;   /* a packet has ended; of the last one: */
    uint64_t last_sequence;
    uint64_t last_end;
    uint64_t last_discarded;
    bool is_open; /* a packet was handed out in part: */
    bool is_bad;  /* … and the rest of it is damaged */
    struct cunei_packet head;
    struct cunei_trace_checked checked;
    size_t word_count, event_count; /* that were handed out */
    uint64_t doubted;               /* the packet behind a gap, plus one; 0: none */
    uint64_t bad_offset;            /* where a packet of the file was wrong, plus one */
    bool has_damage;                /* it was noted */
    uint64_t queue_end; /* packets before this number were handed out from the queue */
    /* What this poll has gathered; the file up to the stream's size. */
    struct cunei_trace_packets queue;
    struct cunei_follow_words live[2];
    unsigned live_count;
};

/* A poll of one process. */
struct cunei_follow_poll {
    struct cunei_trace *trace;
    size_t index;     /* of the process */
    uint64_t portion; /* bytes of a stream's file, at most */
    const struct cunei_trace_live *live;
    bool is_final; /* the process has ended: what is there is all */
    bool has_ring; /* packets of events are in a ring, not in files */
    bool had_ring; /* the same before; it may have become files since */
    bool has_more; /* out: not all of it was gathered */
    int (*read)(void *context, const struct cunei_trace_part *part);
    void *context;
    size_t gathered; /* bytes of memory with live words */
    uint64_t handed; /* words that were handed out */
    uint64_t missed; /* packets that were overwritten */
};

static inline struct cunei_trace_process *cunei_follow_process_of(
    const struct cunei_follow_poll *poll)
{
    return &poll->trace->processes[poll->index];
}

int cunei_follow_stream_gather(struct cunei_follow_poll *poll,
                               struct cunei_follow_stream *follow,
                               struct cunei_trace_stream *stream);
int cunei_follow_stream_hand_out(struct cunei_follow_poll *poll,
                                 struct cunei_follow_stream *follow,
                                 struct cunei_trace_stream *stream);

/* A whole packet, checked, from a file. */
int cunei_follow_stream_hand_packet(struct cunei_follow_poll *poll,
                                    struct cunei_follow_stream *follow,
                                    const struct cunei_trace_stream *stream,
                                    const struct cunei_trace_packet *packet);

/* The process has ended, and all of the stream is handed out. */
int cunei_follow_stream_end(struct cunei_follow_poll *poll,
                            struct cunei_follow_stream *follow,
                            const struct cunei_trace_stream *stream);
void cunei_follow_stream_fini(struct cunei_follow_stream *follow);

#endif
