// SPDX-License-Identifier: MIT
/* What sums (top/sums/sums.h) hold. */
#ifndef CUNEI_TOP_SUMS_SUMS_DATA_H
#define CUNEI_TOP_SUMS_SUMS_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/analysis.h"

struct cunei_top_function {
    struct cunei_analysis_function facts; /* its histogram is owned */
    uint64_t self_ns, total_ns;           /* those of `facts`, and up to now */
};

/* Of a caller and a callee, or of a node of the call tree. */
struct cunei_top_calls {
    uint64_t calls;             /* and resumes */
    uint64_t self_ns, total_ns; /* total: of a node, itself and all below it */
};

struct cunei_top_process {
    uint32_t pid;
    char *command; /* owned, as the next; safe to print */
    char *python;
    enum cunei_trace_state state;
    bool is_seen;
    uint64_t start_ns, end_ns; /* wall clock; end 0: it runs */
    uint64_t events, calls, lost;
    uint64_t cost_ns;
    bool has_cpu;
    uint64_t cpu_ns;
    uint64_t start_cpu_ns; /* of the process when its recording began */
    uint32_t thread_count, living_count;
};

struct cunei_top_thread {
    uint32_t process; /* number */
    uint32_t tid;
    char *name;   /* owned; safe to print */
    bool is_seen; /* the rest is valid, as in the other structs */
    bool ended;   /* or its process has */
    bool has_cpu;
    uint64_t events, calls, cpu_ns;
    uint64_t passed_ns;  /* from its first event until now, or its end */
    uint64_t idle_ns;    /* since its last event; 0: it has ended */
    uint32_t *open;      /* owned: numbers of functions, outermost first */
    uint32_t open_count; /* length of `open`: the innermost ones … */
    uint32_t open_depth; /* … of this many */
};

/* Tasks come and go: they are sorted by process and number, not numbered for good. */
struct cunei_top_task {
    uint32_t process;
    uint64_t number;
    char *name;        /* owned; safe to print; NULL: it has none */
    uint32_t function; /* of its coroutine; UINT32_MAX: unknown */
    bool has_ended, has_raised;
    uint64_t steps, run_ns, wait_ns;
};

struct cunei_top_raise {
    char *type; /* owned; safe to print */
    uint32_t function;
    uint32_t line;
    uint64_t count, caught, unhandled;
};

struct cunei_top_sums {
    uint64_t time_ns; /* wall clock; 0: count nothing beyond the last events */
    bool is_past;     /* that is a moment of the past, in which all processes ran */
    struct cunei_top_function *functions; /* owned, as all arrays */
    struct cunei_top_calls *edges, *nodes;
    struct cunei_top_process *processes;
    struct cunei_top_thread *threads;
    struct cunei_top_task *tasks;
    struct cunei_top_raise *raises;
    uint32_t function_count, edge_count, node_count, process_count, thread_count,
        task_count, raise_count;
    /* The numbers of the whole: arrays are empty.  Times of threads are up to now. */
    struct cunei_analysis whole;
    uint64_t threads_ns, waiting_ns;
    uint64_t self_ns; /* of all functions */
    bool is_filtered; /* functions were left out, or sampled: there is work in them */
    uint64_t missed;  /* events that the reader missed; set by its user */
    uint64_t cpu_ns;  /* of all processes whose CPU time is known */
};

#endif
