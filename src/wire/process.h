// SPDX-License-Identifier: MIT
/*
 * The hidden description of a traced process, CUNEI_PROCESS_NAME in its folder.
 *
 * Lines of `key value`, values quoted by cunei_text_quote.  It is put in place whole,
 * by rename, when recording starts.  Later values are appended; the last line for a key
 * counts.  A process that has ended without a line `ended 1` was killed, or executed
 * another program.
 */
#ifndef CUNEI_WIRE_PROCESS_H
#define CUNEI_WIRE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/cause.h"

#define CUNEI_PROCESS_NAME ".process"
#define CUNEI_PROCESS_MAX  (4u << 20) /* bytes that a reader accepts */

struct cunei_buffer;

/* How a child ended that did not end its recording. */
struct cunei_child_end {
    int wait_status; /* of waitpid(2) */
    int sent_signal; /* that the parent had sent to it by os.kill; 0: none */
    char *folder;    /* owned by a struct cunei_process, else borrowed */
};

struct cunei_process {
    uint64_t pid;
    uint64_t parent;
    bool ended;        /* by itself; the fields below it are final then */
    uint64_t start_ns; /* wall clock */
    uint64_t end_ns;   /* wall clock; 0: not known.  Without `ended`: killed or became
                          another program then, unless there are later events */
    uint64_t lost;     /* events; as the live file's counters */
    uint64_t lost_no_stream;
    uint64_t lost_no_space;
    uint64_t lost_no_function;
    uint64_t clamped;
    uint64_t write_ns;      /* spent in writing packets … */
    uint64_t write_cpu_ns;  /* … and of that, on a processor */
    uint64_t event_cost_ps; /* calibrated cost of an event without it; 0: unknown */
    uint64_t budget;        /* for both, in millionths of the run time; 0: no limit */
    uint64_t keep;          /* bytes of the ring (wire/ring.h); 0: all is kept … */
    uint64_t keep_ns;       /* … and the time that was asked for; 0: none */
    uint64_t snapshot_ns;   /* wall clock: of the snapshot that this is part of */
    uint64_t complete_ns;   /* wall clock: events before may be missing; 0: none */
    bool running;           /* when the snapshot was made */
    uint64_t stop_errno;    /* of a write that failed; 0: none, or --max-size */
    bool full;              /* recording stopped for want of space */
    bool started_inside;    /* by cunei.start(), not by the launcher */
    bool attached;          /* recorded by 'cunei attach' */
    bool forked;            /* it began as a copy of its parent, which is recorded */
    bool left;              /* ended by os._exit, with exit_status */
    bool exited;            /* ended by exit(3), with exit_status */
    uint64_t exit_status;
    uint64_t signal;       /* that ended it, where the launcher saw it; else 0 */
    uint64_t start_cpu_ns; /* of the whole process at start_ns */
    uint64_t cpu_ns;       /* since then, up to end_ns */
    uint64_t interpreters; /* subinterpreters that were not recorded */
    bool c_calls;          /* calls of C functions are recorded */
    uint64_t lost_threads; /* in which the program replaced our hook */
    /* Why decorated functions were not recorded, if only they should have been
     * (python/refusal_reason.h); 0: they were. */
    uint64_t decorated_refusal;
    char *host;         /* owned, as all that follow; NULL where unknown */
    char *python;       /* "CPython 3.13.0" */
    char *instrumenter; /* python/instrumenter.h */
    char *executable;
    char *directory;     /* the working directory */
    char *project;       /* the folder of the program's project, from the launcher */
    char *name;          /* what multiprocessing calls it */
    char *parent_folder; /* of the process that it was forked from, or started below */
    char *became;        /* the program that it last tried to become by os.exec… */
    char **arguments;
    size_t argument_count;
    char **patterns; /* "+text" included, "-text" excluded */
    size_t pattern_count;
    struct cunei_child_end *children; /* those that it waited for */
    size_t child_count;
    struct cunei_cause *causes; /* why the snapshot that this is part of was made */
    size_t cause_count;
};

/* Append a copy of `text` to one of the two lists. */
int cunei_process_add(char ***list, size_t *count, const char *text);

void cunei_process_format(const struct cunei_process *process,
                          struct cunei_buffer *out);

/* The lines to append for all that may have changed since. */
void cunei_process_format_change(const struct cunei_process *process,
                                 struct cunei_buffer *out);

/* The line to append for a pattern that came later. */
void cunei_process_format_pattern(const char *pattern, struct cunei_buffer *out);

/* The line to append for a child. */
void cunei_process_format_child(const struct cunei_child_end *child,
                                struct cunei_buffer *out);

/* -EINVAL: no description; -EPROTO: one of another version. */
int cunei_process_parse(struct cunei_process *process, const char *text, size_t size);
void cunei_process_fini(struct cunei_process *process);

#endif
