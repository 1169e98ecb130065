// SPDX-License-Identifier: MIT
/*
 * Which functions to leave out of the next recording: those that cost most to record
 * for the least time in them.
 *
 *     struct cunei_filter_proposal proposal = {.max_overhead = 0.05};
 *     int rc = cunei_filter_proposal_make(&proposal, &analysis);
 *     …
 *     cunei_filter_proposal_fini(&proposal);
 *
 * Recording a function costs what its events do, which is an estimate: see
 * analysis/overhead.h.  Functions are taken in the order of the time that one call of
 * them takes, the shortest first, until what is left costs no more than asked for, by
 * what is usual; those that cost next to nothing are never taken, and none is where all
 * of them would save next to nothing of what is to be saved.  Of a recording under a
 * budget its estimates count: the filter is for one without.
 */
#ifndef CUNEI_ANALYSIS_FILTER_PROPOSAL_H
#define CUNEI_ANALYSIS_FILTER_PROPOSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cunei_analysis;

/* All functions of one name, because a pattern matches them all. */
struct cunei_filter_proposal_function {
    const char *module; /* borrowed: from the analysis, as the other */
    const char *qualname;
    uint64_t calls;     /* and resumes */
    uint64_t events;    /* of them */
    uint64_t unwritten; /* of them, not written because of a budget */
    uint64_t self_ns;   /* without what recording it cost */
    uint64_t cost_ns;
    uint64_t raised;    /* of the calls, those that an exception ended */
    double saved_units; /* what is saved without it, in events */
    bool left_out;
};

/* Cost / time without it: what it may be at least, is usually, may be at most. */
struct cunei_filter_proposal_overhead {
    double least, usual, most;
};

struct cunei_filter_proposal {
    double max_overhead;  /* wanted: cost / time without it */
    double event_cost_ns; /* of an event in a loop; in: used if the trace has none */
    bool is_cost_known;   /* the trace has it */
    bool has_budget;      /* costs are those of a recording without it */
    struct cunei_filter_proposal_overhead all,
        left;          /* of everything, and with the filter */
    uint64_t run_ns;   /* CPU time of the program, without what recording cost */
    uint64_t cost_ns;  /* what it cost */
    uint64_t saved_ns; /* of that, what is saved without those that are left out */
    uint64_t events;   /* of calls: two of each that a function has */
    uint64_t saved_events;
    struct cunei_filter_proposal_function
        *functions; /* owned; left out first, costliest first
                     */
    size_t count, left_out_count;
};

/* -ENOMEM. */
int cunei_filter_proposal_make(struct cunei_filter_proposal *proposal,
                               const struct cunei_analysis *analysis);
void cunei_filter_proposal_fini(struct cunei_filter_proposal *proposal);

#endif
