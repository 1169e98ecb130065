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
#include "model/facts/exceptions.h"
#include "model/facts/functions.h"
#include "model/facts/gc_pauses.h"
#include "model/facts/histogram.h"
#include "model/profile/profile.h"
#include "model/user/user_facts.h"
#include "model/walk/lines.h"
#include "trace/directory/process_choice.h"
#include "trace/directory/trace.h"

#define CUNEI_ANALYSIS_DAMAGES_MAX 8u

struct cunei_cut;
struct cunei_edges;
struct cunei_tree;

/* Parts of the cost of recording. */
enum cunei_analysis_cost {
    CUNEI_COST_KEPT,    /* everything else */
    CUNEI_COST_DEMOTED, /* functions that a budget demoted */
    CUNEI_COST_RAISED,  /* exceptions */
    CUNEI_COST_SIGHTS,  /* first calls of functions */
    CUNEI_COST_COUNT,
};

struct cunei_analysis_options {
    struct cunei_trace_choice processes;
    bool tree;
    bool threads; /* the tree has a node for each thread: analysis/thread_nodes.h */
    bool edges;
    bool lines;
    bool user_events;     /* add up regions, counters, marks and the like */
    uint32_t ended_tasks; /* a follower keeps about so many of each process; 0: all */
    /* Removes what is not selected from a packet, into `cut`; NULL: keep everything. */
    int (*select)(void *context, const struct cunei_trace_process *process,
                  struct cunei_cut *cut, struct cunei_trace_packet *packet);
    void *select_context;
    unsigned worker_count; /* 0: one for each core if the trace is large */
    uint64_t piece_bytes;  /* of a stream; 0: by the trace's size */
    /* Called from the calling thread, now and then. */
    void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_context;
};

/* As struct cunei_facts, of all processes, in nanoseconds. */
struct cunei_analysis_function {
    uint64_t calls, resumes, recursive, raised, nested;
    uint64_t self_ns, total_ns, max_ns, suspended_ns, spent_ns;
    struct cunei_histogram histogram;
    struct cunei_budget_estimate estimate; /* the estimated part; times in ns */
    bool is_decorated;                     /* as a region: filters do not apply to it */
    bool was_open;                         /* when 'cunei attach' began to record */
};

struct cunei_analysis_thread {
    size_t process; /* index */
    uint32_t serial, tid;
    uint32_t number; /* of no other thread: its place before they were sorted */
    char name[CUNEI_THREAD_NAME_MAX + 1];
    bool ended;
    uint64_t begin_ns, end_ns; /* wall clock, of its first and last event */
    bool has_cpu;
    bool is_cpu_partial; /* there are events after the time that is known … */
    uint64_t known_ns;   /* … which lasts so long, from its first event on … */
    uint64_t cpu_ns;     /* … and is the sum of CPU time … */
    uint64_t waiting_ns; /* … and this */
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
    char *name;        /* owned; NULL: it has none */
    uint32_t function; /* index of its coroutine; UINT32_MAX: unknown */
    bool has_ended, has_raised;
    uint64_t steps;
    uint64_t run_ns, wait_ns;
    uint64_t begin_ns, end_ns; /* wall clock */
};

struct cunei_analysis_process {
    const struct cunei_trace_process *process; /* borrowed */
    size_t parent; /* index; SIZE_MAX: not in the analysis */
    bool inherits; /* it was forked, and functions of its parent were open in it */
    uint64_t events, calls, lost, dropped_packets, missing_packets, size_bytes;
    uint64_t begin_ns, end_ns;
    uint64_t cost_ns; /* of recording, estimated; 0: unknown */
    struct cunei_overhead overhead;
    size_t thread_count;
    bool has_cpu;
    bool is_cpu_partial; /* known for a part of the time: the process has no end */
    uint64_t cpu_ns;     /* of the process if it is recorded, else of its threads */
    struct cunei_gc_pauses collections;
};

struct cunei_analysis {
    struct cunei_functions functions;
    struct cunei_analysis_function *facts; /* owned, as all; by index of functions */
    uint32_t fact_capacity;
    struct cunei_analysis_thread *threads; /* by process and begin */
    size_t thread_count;
    struct cunei_analysis_process *processes;
    size_t process_count;
    struct cunei_analysis_task *tasks; /* by process and begin */
    size_t task_count, task_capacity;
    uint64_t forgotten_tasks; /* by a follower that keeps some of those that ended */
    struct cunei_exceptions exceptions; /* slots are indices plus one */
    struct cunei_lines lines;           /* functions are indices plus one, times ns */
    struct cunei_user_facts user_facts; /* if asked for */
    struct cunei_gc_pauses collections;
    struct cunei_tree *tree;   /* slots are indices plus one, times ns */
    struct cunei_edges *edges; /* the same */
    uint64_t events, calls, resumes, raised, lost;
    uint64_t dropped_packets, missing_packets; /* model/profile/packet_gap.h */
    uint64_t orphans, unclosed, appeared, unknown, switches;
    uint64_t line_events;
    uint64_t bursts, estimated_calls;        /* under a budget */
    uint64_t user_events[CUNEI_CLASS_COUNT]; /* of the program, by class … */
    uint64_t regions;                        /* … and regions that began */
    uint64_t misused;                        /* marks of misused functions of cunei */
    uint64_t pauses, paused_ns; /* how often and how long recording was off */
    bool ends_paused;           /* recording was off at the end of a process */
    uint64_t start_ns;          /* of the first process */
    uint64_t begin_ns, end_ns;
    uint64_t cost_ns;               /* 0: that of a process is unknown */
    struct cunei_overhead overhead; /* of the processes that know theirs */
    double cost_units;              /* of recording, in units of an event … */
    double costs[CUNEI_COST_COUNT]; /* … and its parts */
    bool is_cost_unknown;           /* private: while it is added up */
    struct cunei_trace_error damages[CUNEI_ANALYSIS_DAMAGES_MAX];
    size_t damage_count; /* may be more than are kept */
};

void cunei_analysis_fini(struct cunei_analysis *analysis);

/* The folder of the program's project: that of the first process that has one; NULL:
 * it is not known (trace/directory/project.h). */
const char *cunei_analysis_project(const struct cunei_analysis *analysis);

uint64_t cunei_analysis_duration_ns(const struct cunei_analysis *analysis);

#endif
