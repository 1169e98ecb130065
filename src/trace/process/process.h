// SPDX-License-Identifier: MIT
/*
 * One process of a trace: what its folder holds.  Read-only once the trace is open.
 */
#ifndef CUNEI_TRACE_PROCESS_PROCESS_H
#define CUNEI_TRACE_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"
#include "wire/id_kind.h"
#include "wire/metadata.h"
#include "wire/packet.h"
#include "wire/process.h"

enum cunei_trace_state {
    CUNEI_TRACE_ENDED,   /* by itself */
    CUNEI_TRACE_RUNNING, /* its writer still maps the live file, or may do so where
                            this machine cannot see it */
    /* The writer was cut off: it ended without ending the recording, … */
    CUNEI_TRACE_EXITED,     /* with a status, by os._exit from C code for example */
    CUNEI_TRACE_TERMINATED, /* by a signal that its parent sent */
    CUNEI_TRACE_KILLED,     /* by another signal, or in an unknown way */
    CUNEI_TRACE_SNAPSHOT,   /* it was running when a snapshot was made */
    CUNEI_TRACE_REPLACED,   /* because the process executed another program:
                               its description or a later folder of its host and pid
                               shows it */
};

/* Packets of the live file, in order of their sequence. */
struct cunei_trace_packets {
    struct cunei_packet **items; /* owned, like each of them */
    size_t count;
};

void cunei_trace_packets_fini(struct cunei_trace_packets *list);

struct cunei_trace_stream {
    char *path; /* owned: its file, which may not exist while all of it is live */
    uint64_t number;
    uint64_t size;   /* of the file's whole packets, in bytes */
    uint64_t torn;   /* bytes of a packet behind them that a crash cut short */
    bool is_damaged; /* there are other bytes among them; the reader reports it */
    enum cunei_stream_class stream_class;
    bool is_kept;     /* its packets came from a ring */
    int fd;           /* owned: the only file with the packets of a kept stream */
    uint64_t packets; /* number of packets of a kept stream */
    struct cunei_trace_packets live; /* not in the file */
};

struct cunei_trace_process {
    char *path;   /* owned: its folder */
    bool is_held; /* `folder` is a descriptor of it, and its files are opened there */
    int folder;
    enum cunei_trace_state state;
    bool has_live; /* a live file is there; cunei_trace_recover folds it in */
    bool has_ring; /* a ring is there; cunei_trace_recover makes stream files of it */
    uint64_t from; /* tick: packets that end before it are not wanted */
    uint64_t last_tick;     /* of what was seen when it was opened; 0: nothing was */
    uint64_t until;         /* tick: later events are left out; UINT64_MAX: none is */
    uint64_t complete_from; /* tick: of a ring, events up to here may be missing */
    struct cunei_metadata metadata;
    struct cunei_process description; /* empty but for pid where there is none; while
                                         a live file is there, with its counters */
    struct cunei_function *functions; /* owned: by id - CUNEI_FUNCTION_FIRST; an id
                                         that was never defined has a NULL module */
    uint8_t *kinds; /* owned: enum cunei_definition of each; NULL: they are functions */
    uint32_t function_count;
    uint32_t dense_count; /* functions before the first such gap */
    uint32_t class_end;   /* functions from this id on are `call` events */
    struct cunei_trace_stream *streams; /* owned, by number */
    size_t stream_count;
    void *memory; /* private */
};

/* The name of a process's folder in the trace. */
const char *cunei_trace_folder(const struct cunei_trace_process *process);

/* The name of a stream's file in the folder. */
const char *cunei_trace_stream_name(const struct cunei_trace_stream *stream);

/* What each id of the process stands for. */
static inline struct cunei_id_kinds cunei_trace_kinds(
    const struct cunei_trace_process *process)
{
    return (struct cunei_id_kinds){process->kinds, process->function_count};
}

/* A function by id, or NULL if the id is unknown. */
const struct cunei_function *cunei_trace_function(
    const struct cunei_trace_process *process, uint32_t id);

#endif
