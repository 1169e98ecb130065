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
 * trace was opened.  Everything is checked before it is used, and nothing is written:
 * cunei_trace_recover (trace/recovery/recover.h) does that.  A trace is read-only after
 * open, so that any number of threads may read it, each with readers of its own.
 */
#ifndef CUNEI_TRACE_DIRECTORY_TRACE_H
#define CUNEI_TRACE_DIRECTORY_TRACE_H

#include <stddef.h>

#include "trace/packet/stream_reader.h"
#include "trace/process/error.h"
#include "trace/process/process.h"

/* A folder that cannot be read as a process, or a process without its streams. */
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
 * Open `path`: a trace directory, or one process's folder.  Of several
 * processes, those that are damaged beyond use are left out.  Negative
 * errno with `error` filled in: -ENOENT, -ENOTDIR, -EACCES, -ENODATA no trace in it,
 * -EPROTO of another version, -EBADMSG damaged beyond use.
 */
int cunei_trace_open(struct cunei_trace *trace, const char *path,
                     struct cunei_trace_error *error);

struct cunei_trace_open_options;

/* The same with options, for each process (trace/directory/open_options.h). */
int cunei_trace_open_with(struct cunei_trace *trace, const char *path,
                          const struct cunei_trace_open_options *options,
                          struct cunei_trace_error *error);
void cunei_trace_close(struct cunei_trace *trace);

/* Which process started first. */
int cunei_trace_compare_processes(const struct cunei_trace_process *a,
                                  const struct cunei_trace_process *b);

/* Private to the room.  Note what is damaged in a folder; find out about the ends of
 * processes from the others. */
int cunei_trace_add_damage(struct cunei_trace *trace, const char *folder,
                           const struct cunei_trace_error *error);
int cunei_trace_find_ends(struct cunei_trace *trace);

#endif
