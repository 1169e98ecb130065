// SPDX-License-Identifier: MIT
/*
 * What a trace says, on one screen or as one JSON object.
 *
 *     struct cunei_report_options options = CUNEI_REPORT_DEFAULTS;
 *     int rc = cunei_report_print(&trace, &options, stdout);
 *
 * Percentages are shares of the wall time between the first and the last event; threads
 * that run side by side may take more than all of it together.
 */
#ifndef CUNEI_REPORT_REPORT_H
#define CUNEI_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/pattern.h"
#include "text/style.h"
#include "trace/trace.h"

enum cunei_report_sort {
    CUNEI_SORT_SELF,
    CUNEI_SORT_TOTAL,
    CUNEI_SORT_CALLS,
    CUNEI_SORT_MEAN,
    CUNEI_SORT_P50,
    CUNEI_SORT_P99,
    CUNEI_SORT_MAX,
    CUNEI_SORT_NAME,
};

/* A function whose lines were asked for, and that has none. */
struct cunei_report_unlined {
    const char *name; /* borrowed: as asked for; NULL: all are there */
    char **lined;     /* owned: the qualified names of those that have some */
    size_t count;
};

void cunei_report_unlined_fini(struct cunei_report_unlined *unlined);

struct cunei_report_options {
    int sort;         /* enum cunei_report_sort */
    uint64_t limit;   /* functions in a table; 0: all */
    bool tree;        /* the call tree … */
    uint64_t depth;   /* … so many levels of it; 0: all … */
    double min_share; /* … and what took at least so much of the wall time, 0 to 1 */
    const char *callers; /* who called this function; NULL: not asked for */
    /* The lines of these functions; NULL: not asked for. */
    const char *const *lines;
    size_t line_count;
    struct cunei_report_unlined *unlined; /* gets what is not there; may be NULL */
    bool all_lines; /* of all functions whose lines were recorded, if any were */
    bool threads;
    bool processes;
    bool tasks;
    bool exceptions;
    bool regions;
    bool counters;
    bool marks;
    bool tokens;
    struct cunei_trace_choice chosen; /* processes */
    uint64_t refused;                 /* processes that could not record … */
    int refused_errno;                /* … and why one of them could not */
    struct cunei_patterns patterns;
    bool json;
    const char *directory; /* the trace, in what to type next; NULL: it goes away */
    struct cunei_style style;
    /* As in struct cunei_analysis_options. */
    void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_context;
    /* Reading is over, and what is printed comes next; may be NULL. */
    void (*begin)(void *progress_context);
};

#define CUNEI_REPORT_DEFAULTS                       \
    {                                               \
        .limit = 25, .depth = 16, .min_share = 0.01 \
    }

/*
 * Print the report.  -ESRCH: no process is chosen; -ENOENT: no function like `callers`,
 * or `lines`; -ENODATA: there is one, but its lines were not recorded; -EINVAL: what is
 * asked for is no expression; -ENOMEM.  -EBADMSG: what is whole was printed;
 * the first damage is said in `error`.
 */
int cunei_report_print(const struct cunei_trace *trace,
                       const struct cunei_report_options *options, FILE *out,
                       struct cunei_trace_error *error);

#endif
