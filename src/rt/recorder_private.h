// SPDX-License-Identifier: MIT
/*
 * What the parts of the recorder share; private to rt/.
 *
 * `lock` guards the list of slots, the list of streams and the table of functions.  It
 * is taken for a thread's first event, its end, a new function, start, stop and fork.
 * Inside it, or alone when a packet is written, the lock of what definitions go through
 * (the metadata's tail, the definitions stream), and inside that the one of the
 * folder's descriptor.
 */
#ifndef CUNEI_RT_RECORDER_PRIVATE_H
#define CUNEI_RT_RECORDER_PRIVATE_H

#include <pthread.h>

#include "base/buffer.h"
#include "rt/clock.h"
#include "rt/file.h"
#include "rt/recorder.h"
#include "rt/space.h"

/* A place in the live file and the file behind it; handed from thread to thread. */
struct cunei_slot {
    uint32_t number;
    struct cunei_packet *buffers; /* two, mapped */
    unsigned current;             /* which of them is in use */
    uint64_t sequence;            /* of the next packet */
    uint64_t discarded;           /* events so far */
    uint64_t told;                /* how many of them the stream file tells of */
    uint32_t vtid;                /* of the thread that had it last */
    uint32_t thread;              /* its serial number */
    char name[CUNEI_PACKET_THREAD_NAME];
    uint64_t first;            /* tick at which its first packet began */
    uint64_t first_cpu_ns;     /* its owner's clock then */
    uint64_t last;             /* tick at which its last packet ended */
    struct cunei_file_end end; /* of the stream file */
    struct cunei_slot *next_free;
};

/* So many ticks are soon: a poke is that far ahead, and so is an alarm that goes on. */
#define CUNEI_SOON UINT64_C(4096)

struct cunei_recorder_state {
    atomic_bool on;
    _Atomic uint32_t number; /* of recordings so far, this one included */
    pid_t pid;
    pthread_mutex_t lock;
    struct cunei_recorder_hooks hooks;
    struct cunei_folder folder;
    struct cunei_live *live; /* mapped */
    struct cunei_space space;
    struct cunei_clock_pair start;
    uint64_t base; /* tick 0 of the trace: a multiple of 2⁴⁰ */
    uint64_t end;  /* tick at which it ends; 0: it goes on */
    struct cunei_metadata metadata;
    struct cunei_file_end metadata_end;
    struct cunei_process process;
    struct cunei_file_end process_end;
    struct cunei_slot *slots[CUNEI_LIVE_STREAMS_MAX]; /* owned */
    struct cunei_slot *free_slots;
    size_t free_count;
    uint64_t no_slot_until;       /* tick before which no new one is tried */
    char *pointer;                /* owned: the link to the live file, or NULL */
    struct cunei_stream *streams; /* of all threads */
    uint32_t thread_count;
    _Atomic uint32_t pokes;          /* so far */
    uint64_t alarm;                  /* tick, see cunei_recorder_set_alarm; 0: none */
    _Atomic uint32_t renewals;       /* of all packets, so far */
    atomic_bool renews;              /* each event begins a packet */
    _Atomic uint64_t untold;         /* events lost in threads without a stream */
    struct cunei_stream definitions; /* the stream of functions beyond the classes */
    char *parent_folder;             /* owned: in a forked child, its parent's */
    pid_t parent;                    /* its parent, if it has such a folder */
    _Atomic uint64_t interpreters;   /* that are not recorded, so far */
    _Atomic uint64_t taken;          /* threads that are not heard of any more */
    _Atomic uint64_t unheard;        /* see struct cunei_process */
};

/* What to do with a packet for which there is no space. */
enum cunei_close {
    CUNEI_CLOSE_DISCARD, /* count its events as lost and go on */
    /*
     * Try all the same, and leave it in the live file if that fails: for definitions,
     * and for a recording's last packets, which carry the count of what was lost.
     */
    CUNEI_CLOSE_KEEP,
};

/*
 * rt/recorder.c: let go of the files and of what was written.  The description stays,
 * and where it is, for there may be more to say.
 */
void cunei_recording_let_go(struct cunei_recorder_state *ended);

/* rt/thread.c: the streams of threads; `watch` once, before the first of them. */
int cunei_thread_watch(struct cunei_recorder_state *recording);
/* The calling thread's stream, made if it has none; NULL: it cannot be had. */
struct cunei_stream *cunei_thread_own(struct cunei_recorder_state *recording);
/* Give it a slot; false: there is none to be had, which `may_begin` knows before. */
bool cunei_thread_may_begin(struct cunei_recorder_state *recording, uint64_t now);
bool cunei_thread_begin(struct cunei_recorder_state *recording,
                        struct cunei_stream *stream, uint64_t *now);
int cunei_thread_close_all(struct cunei_recorder_state *recording);
/* Send every thread through cunei_recorder_room soon; lock held. */
void cunei_thread_poke_all(struct cunei_recorder_state *recording);
/* The same at a tick, or with its next event: cunei_recorder_set_alarm, …_renew. */
void cunei_thread_alarm_all(struct cunei_recorder_state *recording, uint64_t tick);
void cunei_thread_renew_all(struct cunei_recorder_state *recording, bool goes_on);
/* The calling thread has heard of it; its packet is open. */
void cunei_thread_undo_poke(const struct cunei_recorder_state *recording,
                            struct cunei_stream *stream);
/* In a forked child: the streams of threads that are not there any more go. */
void cunei_thread_keep_own(struct cunei_recorder_state *recording);

/* rt/fork.c, rt/exit.c: once, before the first recording. */
void cunei_fork_watch(struct cunei_recorder_state *recording);
void cunei_exit_watch(struct cunei_recorder_state *recording);

/* rt/description.c: what the folder says of its process and its clock. */
void cunei_description_make_uuid(struct cunei_recorder_state *recording);
int cunei_description_write(struct cunei_recorder_state *recording);
/* There is more to say. */
int cunei_description_append(struct cunei_recorder_state *recording);
int cunei_description_append_pattern(struct cunei_recorder_state *recording,
                                     const char *pattern);
int cunei_description_write_preamble(struct cunei_recorder_state *recording,
                                     uint64_t frequency);
/* With the whole recording behind us its own length measures the clock best. */
void cunei_description_correct_clock(struct cunei_recorder_state *recording,
                                     const struct cunei_clock_pair *end);
void cunei_description_end(struct cunei_recorder_state *recording,
                           const struct cunei_clock_pair *end);

/* rt/packet.c: packets in a stream's slot; `flags` as in its head. */
void cunei_packet_begin(struct cunei_recorder_state *recording,
                        struct cunei_stream *stream, uint64_t now, uint32_t flags);
int cunei_packet_close(struct cunei_recorder_state *recording,
                       struct cunei_stream *stream, enum cunei_close why, bool last);
void cunei_packet_count_lost(struct cunei_recorder_state *recording,
                             struct cunei_slot *slot, uint64_t count);
void cunei_packet_trim_file(struct cunei_recorder_state *recording,
                            struct cunei_slot *slot);
/* A last packet for a slot without an owner, if its file does not tell all losses. */
int cunei_packet_tell(struct cunei_recorder_state *recording, struct cunei_slot *slot);
/* The `stack` event of the first `count` of the stream's `functions`. */
void cunei_packet_put_stack(struct cunei_stream *stream, uint64_t now, size_t count,
                            size_t omitted);

/* rt/live.c: the live file. */
int cunei_live_create(struct cunei_recorder_state *recording);
struct cunei_slot *cunei_live_add_slot(struct cunei_recorder_state *recording,
                                       enum cunei_stream_class stream_class);
void cunei_live_forget(struct cunei_recorder_state *recording);
void cunei_live_remove(struct cunei_recorder_state *recording);
/* Let nobody find it by the process's number any more. */
void cunei_live_unpoint(struct cunei_recorder_state *recording);

/* rt/define.c: functions. */
void cunei_define_reset(void);
/* The same in a forked child: freeing its parent's memory would only make a copy. */
void cunei_define_abandon(void);
void cunei_define_lock(void);
void cunei_define_unlock(void);
int cunei_define_flush(struct cunei_recorder_state *recording, bool force);
uint32_t cunei_define(struct cunei_recorder_state *recording,
                      const struct cunei_function *function, bool only_known);

static inline bool cunei_recording_is_full(const struct cunei_recorder_state *recording)
{
    return atomic_load_explicit(&recording->live->state, memory_order_relaxed) ==
           CUNEI_LIVE_FULL;
}

/* How far a packet that begins then may reach. */
static inline uint64_t cunei_recording_deadline(
    const struct cunei_recorder_state *recording, uint64_t begin)
{
    uint64_t deadline = begin + CUNEI_SPAN_MAX;

    return recording->alarm && recording->alarm < deadline ? recording->alarm
                                                           : deadline;
}

static inline void cunei_recording_count(struct cunei_recorder_state *recording,
                                         enum cunei_live_counter counter,
                                         uint64_t count)
{
    atomic_fetch_add_explicit(&recording->live->counters[counter], count,
                              memory_order_relaxed);
}

#endif
