// SPDX-License-Identifier: MIT
/*
 * Reading a trace directory: the processes below it, their functions, their packets.
 *
 *     struct cunei_trace trace;
 *     int rc = cunei_trace_open(&trace, path, &error);
 *     for each trace.processes[i].streams[j]:
 *         struct cunei_trace_reader reader;
 *         cunei_trace_reader_open(&reader, &process, &stream, 0, UINT64_MAX);
 *         while ((rc = cunei_trace_reader_next(&reader, &packet)) > 0)
 *             …
 *         cunei_trace_reader_close(&reader);
 *     cunei_trace_close(&trace);
 *
 * One reader serves finished, killed and running processes alike: what is in the stream
 * files comes from there, what is only in the live file from a copy of it made when the
 * trace was opened.  Nothing is believed before it is checked, and nothing is written:
 * cunei_trace_recover (trace/recover.h) does that.  A trace is read-only after open, so
 * that any number of threads may read it, each with readers of its own.
 */
#ifndef CUNEI_TRACE_TRACE_H
#define CUNEI_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"
#include "wire/id_kind.h"
#include "wire/metadata.h"
#include "wire/packet.h"
#include "wire/process.h"

/* What is wrong, as a clause that a command completes: "'x/s0' is cut short at …". */
struct cunei_trace_error {
    char text[512];
};

enum cunei_trace_state {
    CUNEI_TRACE_ENDED,    /* by itself */
    CUNEI_TRACE_RUNNING,  /* its writer still maps the live file, or may do so where
                             this machine cannot see it */
    CUNEI_TRACE_KILLED,   /* its writer is gone and could not say good-bye */
    CUNEI_TRACE_REPLACED, /* the same, for the process went on as another program: its
                             description says so, or a later folder of its host and
                             pid shows it */
};

struct cunei_trace_stream {
    char *path; /* owned: its file, which may not exist while all of it is live */
    uint64_t number;
    uint64_t size;   /* of the file's whole packets, in bytes */
    uint64_t torn;   /* bytes of a packet behind them that a crash cut short */
    bool is_damaged; /* something else lies among them; the reader comes upon it */
    enum cunei_stream_class stream_class;
    struct cunei_packet
        *live[2]; /* owned: packets not in the file, in order; or NULL */
};

struct cunei_trace_process {
    char *path; /* owned: its folder */
    enum cunei_trace_state state;
    bool has_live; /* a live file is there; cunei_trace_recover folds it in */
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

/* Of a process that cannot be read, and is none of the trace's, or has lost its events.
 */
struct cunei_trace_damage {
    char *folder; /* owned: its name */
    struct cunei_trace_error error;
};

struct cunei_trace {
    char *path;                            /* owned */
    struct cunei_trace_process *processes; /* owned, in order of their start */
    size_t process_count;
    struct cunei_trace_damage *damages; /* owned */
    size_t damage_count;
};

/*
 * Open what lies below `path`: a trace directory, or one process's folder.  Of several
 * processes, those that are damaged beyond use are left out.  Negative
 * errno with `error` filled in: -ENOENT, -ENOTDIR, -EACCES, -ENODATA no trace in it,
 * -EPROTO of another version, -EBADMSG damaged beyond use.
 */
int cunei_trace_open(struct cunei_trace *trace, const char *path,
                     struct cunei_trace_error *error);
void cunei_trace_close(struct cunei_trace *trace);

/*
 * Processes as people call them: by pid, by folder, by the name that multiprocessing
 * gave them, or by their script or module, all but the first also as a glob.  No word,
 * or no choice: all.
 */
struct cunei_trace_choice {
    const char *const *words; /* borrowed */
    size_t count;
};

/* The name of a process's folder in the trace. */
const char *cunei_trace_folder(const struct cunei_trace_process *process);

bool cunei_trace_is_called(const struct cunei_trace_process *process, const char *word);
bool cunei_trace_is_chosen(const struct cunei_trace_process *process,
                           const struct cunei_trace_choice *choice);

/* What is damaged of chosen processes, from the one at `*next` on, which is passed
 * over; NULL: nothing. */
const struct cunei_trace_error *cunei_trace_next_damage(
    const struct cunei_trace *trace, const struct cunei_trace_choice *choice,
    size_t *next);

/* A checked packet, borrowed until the reader's next call. */
struct cunei_trace_packet {
    const struct cunei_packet *head;
    const uint64_t *words; /* its events: classes, lengths, ids, times are checked */
    size_t word_count;
    size_t event_count;
    uint64_t offset; /* in the stream file; UINT64_MAX: from the live file */
};

/* All but `error` is private. */
struct cunei_trace_reader {
    const struct cunei_trace_process *process; /* borrowed */
    const struct cunei_trace_stream *stream;   /* borrowed */
    uint64_t offset;                           /* of the next packet */
    uint64_t end; /* stop at a packet that begins here or later */
    unsigned live_index;
    bool has_last;
    uint64_t last_sequence; /* of the packet before, where there was one */
    uint64_t last_end;
    uint64_t *memory; /* owned: bytes of the file from `filled_offset` on */
    size_t memory_size;
    uint64_t filled_offset;
    size_t filled_size;
    uint64_t damages;               /* places where it passed something … */
    uint64_t skipped;               /* … of so many bytes */
    struct cunei_trace_error error; /* what stopped it, or was damaged */
};

/*
 * Read the stream's packets from byte `begin` of its file up to one that begins at or
 * after `end`; with `end` UINT64_MAX all of them, and the live ones behind them.  No
 * file stays open between calls, so that any number of readers may live side by side.
 */
int cunei_trace_reader_open(struct cunei_trace_reader *reader,
                            const struct cunei_trace_process *process,
                            const struct cunei_trace_stream *stream, uint64_t begin,
                            uint64_t end);

/*
 * 1: a packet, 0: no more.  Damage is passed, up to the next packet that is in order:
 * -EBADMSG: no more, and there was some; what was handed out is whole.  Other negative
 * errno: it could not be read.  Either is said in reader->error.
 */
int cunei_trace_reader_next(struct cunei_trace_reader *reader,
                            struct cunei_trace_packet *packet);
void cunei_trace_reader_close(struct cunei_trace_reader *reader);

/*
 * Split a stream's file into ranges of about `target_bytes` that begin at packets, so
 * that they can be read in parallel: fills `offsets` (owned by the caller; the first is
 * 0, the end is not among them).  Reads heads only, and stops at one that is damaged or
 * out of order, which the reader of the last range will come upon.
 */
int cunei_trace_split(const struct cunei_trace_process *process,
                      const struct cunei_trace_stream *stream, uint64_t target_bytes,
                      uint64_t **offsets, size_t *count);

/* The wall clock where the first packet of all begins, in ns; UINT64_MAX: there is
 * none. */
uint64_t cunei_trace_begin_ns(const struct cunei_trace *trace);

/* What the process's ids are of. */
static inline struct cunei_id_kinds cunei_trace_kinds(
    const struct cunei_trace_process *process)
{
    return (struct cunei_id_kinds){process->kinds, process->function_count};
}

/* A function by id, or NULL where it is unknown. */
const struct cunei_function *cunei_trace_function(
    const struct cunei_trace_process *process, uint32_t id);

#endif
