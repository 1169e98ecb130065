// SPDX-License-Identifier: MIT
/* A conversion of a trace: its options and its results. */
#ifndef CUNEI_EXPORT_EXPORT_H
#define CUNEI_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/pattern.h"
#include "trace/directory/process_choice.h"
#include "trace/directory/trace.h"

struct cunei_export_options {
    struct cunei_trace_choice processes;
    const char *const *threads; /* their ids, or globs of their names … */
    size_t thread_count;        /* … or none: all */
    struct cunei_patterns patterns;
    uint64_t from_ns; /* since the trace's first event */
    uint64_t until_ns;
    bool names;            /* ctf: an event class for each function */
    bool hide_source;      /* html: no source of functions */
    bool raw_cells;        /* csv: names as they are, even where they are formulas */
    bool no_fold;          /* also the import system, where formats leave it out */
    unsigned worker_count; /* 0: one for each core */
    /* Called from time to time on the calling thread. */
    void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_context;
};

#define CUNEI_EXPORT_DEFAULTS  \
    {                          \
        .until_ns = UINT64_MAX \
    }

struct cunei_selection;
struct cunei_task_names;

struct cunei_export {
    const struct cunei_trace *trace;
    const struct cunei_export_options *options;
    FILE *out;          /* of a format that is one file … */
    const char *folder; /* … or an empty folder, if it is several */

    /* What was written, and what is missing. */
    uint64_t threads;
    uint64_t calls;
    uint64_t bytes; /* of formats that are encoded in pieces */
    uint64_t lost;  /* events that the recording lost, as far as they are known … */
    uint64_t missing_packets; /* … and packets */
    const char *unmatched;    /* the name that no thread has; borrowed */
    bool is_folded; /* not all call paths are kept (model/facts/call_tree.h) */
    size_t damage_count;
    struct cunei_trace_error damage; /* the first */

    /* Private. */
    bool has_calls_only;                /* of the format */
    bool folds;                         /* imports stand for the import system */
    uint64_t origin_ns;                 /* the wall clock at the trace's first event */
    struct cunei_selection *selections; /* owned: by process */
    struct cunei_task_names *names;     /* owned */
    uint64_t done_bytes, total_bytes;   /* of a pass over the trace */
    uint64_t counted_lost, counted_missing; /* what encoders counted */
};

/* The time since the trace began; damaged traces have times before that. */
static inline uint64_t cunei_export_since(const struct cunei_export *export,
                                          uint64_t ns)
{
    return ns > export->origin_ns ? ns - export->origin_ns : 0;
}

#endif
