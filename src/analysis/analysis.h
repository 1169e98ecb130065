// SPDX-License-Identifier: MIT
/*
 * A whole trace added up (analysis/analyzer.h): what reports and some exports are made
 * of.  Functions of several processes that have the same identity are one.
 */
#ifndef CUNEI_ANALYSIS_ANALYSIS_H
#define CUNEI_ANALYSIS_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/overhead.h"
#include "model/exceptions.h"
#include "model/functions.h"
#include "model/gc_pauses.h"
#include "model/histogram.h"
#include "model/lines.h"
#include "model/profile.h"
#include "model/user_facts.h"
#include "trace/process_choice.h"
#include "trace/trace.h"

#define CUNEI_ANALYSIS_DAMAGES_MAX 8u

struct cunei_cut;
struct cunei_edges;
struct cunei_tree;

/* What recording was spent on. */
enum cunei_analysis_cost {
    CUNEI_COST_KEPT,    /* functions that were never demoted, and all else */
    CUNEI_COST_DEMOTED, /* those that were, as far as they were recorded */
    CUNEI_COST_RAISED,  /* exceptions */
    CUNEI_COST_SIGHTS,  /* functions, when they were seen first */
    CUNEI_COST_COUNT,
};

struct cunei_analysis_options {
    struct cunei_trace_choice processes;
    bool tree;
    bool edges;
    bool lines;
    bool user_events; /* what the program said itself */
    /* Takes out of a packet what is not wanted, into `cut`; NULL: everything is. */
    int (*select)(void *context, const struct cunei_trace_process *process,
                  struct cunei_cut *cut, struct cunei_trace_packet *packet);
    void *select_context;
    unsigned worker_count; /* 0: one for each core, as far as it is worth it */
    uint64_t piece_bytes;  /* of a stream, read in one go; 0: by the trace's size */
    /* Called from the calling thread, now and then. */
    void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_context;
};

/* As struct cunei_facts, of all processes, in nanoseconds. */
struct cunei_analysis_function {
    uint64_t calls, resumes, recursive, raised, nested;
    uint64_t self_ns, total_ns, max_ns, suspended_ns;
    struct cunei_histogram histogram;
    struct cunei_budget_estimate
        estimate;      /* of these, what was estimated; times in ns */
    bool is_decorated; /* as a region: it is recorded whatever filters say */
};

struct cunei_analysis_thread {
    size_t process; /* index */
    uint32_t serial, tid;
    char name[CUNEI_THREAD_NAME_MAX + 1];
    bool ended;
    uint64_t begin_ns, end_ns; /* wall clock, of its first and last event */
    bool has_cpu;
    uint64_t cpu_ns;
    uint64_t waiting_ns;                /* of the time that `cpu_ns` is known for */
    struct cunei_gc_pauses collections; /* times are in ns */
    uint64_t events, calls;
    uint32_t
        *open; /* owned: indices of functions, outermost first; UINT32_MAX unknown */
    uint32_t open_count, open_depth;
};

/* As struct cunei_task_facts. */
struct cunei_analysis_task {
    size_t process; /* index */
    uint64_t number;
    char *name;        /* owned; NULL: none was told */
    uint32_t function; /* index of its coroutine; UINT32_MAX: unknown */
    bool has_ended, has_raised;
    uint64_t steps;
    uint64_t run_ns, wait_ns;
    uint64_t begin_ns, end_ns; /* wall clock */
};

struct cunei_analysis_process {
    const struct cunei_trace_process *process; /* borrowed */
    size_t parent; /* index; SIZE_MAX: it is not in the analysis */
    uint64_t events, calls, lost, missing_packets, size_bytes;
    uint64_t begin_ns, end_ns;
    uint64_t cost_ns; /* what recording added, about; 0: unknown */
    struct cunei_overhead overhead;
    size_t thread_count;
    bool has_cpu;
    uint64_t cpu_ns; /* of all of it where it said so, else of its threads */
    struct cunei_gc_pauses collections;
};

struct cunei_analysis {
    struct cunei_functions functions;
    struct cunei_analysis_function *facts; /* owned, as all; by index of functions */
    struct cunei_analysis_thread *threads; /* by process and begin */
    size_t thread_count;
    struct cunei_analysis_process *processes;
    size_t process_count;
    struct cunei_analysis_task *tasks; /* by process and begin */
    size_t task_count;
    struct cunei_exceptions exceptions; /* slots are indices plus one */
    struct cunei_lines lines;           /* functions are indices plus one, times ns */
    struct cunei_user_facts user_facts; /* if asked for */
    struct cunei_gc_pauses collections;
    struct cunei_tree *tree;   /* slots are indices plus one, times ns */
    struct cunei_edges *edges; /* the same */
    uint64_t events, calls, resumes, raised, lost, missing_packets;
    uint64_t orphans, unclosed, appeared, unknown, switches;
    uint64_t line_events;
    uint64_t bursts, estimated_calls; /* under a budget */
    uint64_t
        user_events[CUNEI_CLASS_COUNT]; /* what the program said itself, by class … */
    uint64_t regions;                   /* … and regions that began */
    uint64_t misused;                   /* marks that say what it did wrong */
    uint64_t pauses, paused_ns; /* so often, so long it switched recording off */
    bool ends_paused;           /* a process did, and not on again */
    uint64_t start_ns;          /* of the first process */
    uint64_t begin_ns, end_ns;
    uint64_t cost_ns;               /* 0: that of a process is unknown */
    struct cunei_overhead overhead; /* of those that know it */
    double cost_units;              /* events, and what else costs, in events … */
    double costs[CUNEI_COST_COUNT]; /* … by what it was spent on */
    bool is_cost_unknown;           /* private: while it is added up */
    struct cunei_trace_error damages[CUNEI_ANALYSIS_DAMAGES_MAX];
    size_t damage_count; /* may be more than are kept */
};

void cunei_analysis_fini(struct cunei_analysis *analysis);

uint64_t cunei_analysis_duration_ns(const struct cunei_analysis *analysis);

#endif
