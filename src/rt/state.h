// SPDX-License-Identifier: MIT
/*
 * The state of the recording, which the modules of rt/ share; private to them.
 *
 * `lock` guards the list of slots, the list of streams and the table of functions.  A
 * thread takes it for its first event, its end and a new function; start, stop and fork
 * take it.  Order of the locks: `lock`, then the lock of the definitions (rt/define.c),
 * then the lock of the folder's descriptor (rt/folder.c).  A thread that writes a
 * packet takes the second without the first.
 */
#ifndef CUNEI_RT_STATE_H
#define CUNEI_RT_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rt/clock.h"
#include "rt/file.h"
#include "rt/hidden_file.h"
#include "rt/recorder_hooks.h"
#include "rt/ring_claim.h"
#include "rt/space.h"
#include "rt/stream.h"
#include "wire/live.h"
#include "wire/metadata.h"
#include "wire/process.h"
#include "wire/record_env.h"

/* A stream's place in the live file and its stream file.  When a thread ends, the next
 * thread takes over its slot. */
struct cunei_slot {
    uint32_t number;
    struct cunei_packet *buffers; /* two, mapped */
    unsigned current;             /* which of them is in use */
    uint32_t queued;              /* bytes in the other one: see rt/packet_queue.h */
    uint64_t sequence;            /* of the next packet */
    uint64_t discarded;           /* events so far */
    uint64_t reported;            /* how many of them the stream file counts */
    uint32_t vtid;                /* of the last owner */
    uint32_t thread;              /* its serial number */
    char name[CUNEI_PACKET_THREAD_NAME];
    uint64_t first;            /* tick at which its first packet began */
    uint64_t first_cpu_ns;     /* its owner's CPU time then */
    uint64_t last;             /* tick at which its last packet ended */
    struct cunei_file_end end; /* of the stream file */
    struct cunei_slot *next_free;
};

/* Ticks from now to the deadline that a poke sets, and to the next alarm. */
#define CUNEI_SOON UINT64_C(4096)

struct cunei_recorder_state {
    atomic_bool on;
    _Atomic uint32_t number; /* of recordings so far, this one included */
    pid_t pid;
    pthread_mutex_t lock;
    struct cunei_recorder_hooks hooks;
    struct cunei_folder folder;
    struct cunei_launcher launcher;
    struct cunei_live *live; /* mapped */
    struct cunei_space space;
    struct cunei_clock_pair start;
    uint64_t base; /* tick 0 of the trace: a multiple of 2⁴⁰ */
    uint64_t end;  /* tick at which the recording ends; 0: it is on */
    struct cunei_metadata metadata;
    struct cunei_file_end metadata_end;
    struct cunei_process process;
    struct cunei_file_end process_end;
    struct cunei_slot *slots[CUNEI_LIVE_STREAMS_MAX]; /* owned */
    struct cunei_slot *free_slots;
    size_t free_count;
    uint64_t no_slot_until; /* tick before which no new slot is tried */
    char *pointer;          /* owned: the link to the live file, or NULL */
    struct cunei_hidden_file live_file;
    struct cunei_ring_map ring; /* without a head: packets are appended to files */
    struct cunei_hidden_file ring_file;
    struct cunei_stream *streams; /* of all threads */
    uint32_t thread_count;
    _Atomic uint32_t pokes;               /* so far */
    uint64_t alarm;                       /* tick, or 0: see cunei_recorder_set_alarm */
    _Atomic uint32_t renewals;            /* so far: see cunei_recorder_renew */
    atomic_bool renews;                   /* each event begins a packet */
    _Atomic uint64_t lost_without_stream; /* events of threads that got no stream */
    struct cunei_stream definitions; /* the stream of functions beyond the classes */
    /* rt/define.c sets this; rt/packet.c, which lies below it, calls it before it
     * writes a packet of a thread: the files alone must be a valid trace. */
    int (*flush_definitions)(struct cunei_recorder_state *recording, bool force);
    char *parent_folder;           /* owned: in a forked child, its parent's */
    pid_t parent;                  /* its parent, if it has such a folder */
    _Atomic uint64_t interpreters; /* subinterpreters so far; they are not recorded */
    _Atomic uint64_t lost_threads; /* whose hook the program has removed */
    _Atomic uint64_t decorated_refusal; /* see struct cunei_process */
};

static inline bool cunei_recorder_is_full(const struct cunei_recorder_state *recording)
{
    return atomic_load_explicit(&recording->live->state, memory_order_relaxed) ==
           CUNEI_LIVE_FULL;
}

/* The deadline of a packet that begins at tick `begin`. */
static inline uint64_t cunei_recorder_deadline(
    const struct cunei_recorder_state *recording, uint64_t begin)
{
    uint64_t deadline = begin + CUNEI_SPAN_MAX;

    return recording->alarm && recording->alarm < deadline ? recording->alarm
                                                           : deadline;
}

static inline void cunei_recorder_count(struct cunei_recorder_state *recording,
                                        enum cunei_live_counter counter, uint64_t count)
{
    atomic_fetch_add_explicit(&recording->live->counters[counter], count,
                              memory_order_relaxed);
}

#endif
