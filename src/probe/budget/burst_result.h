// SPDX-License-Identifier: MIT
/* What a burst shows about functions and the cost of events; private to
 * probe/budget. */
#ifndef CUNEI_PROBE_BUDGET_BURST_RESULT_H
#define CUNEI_PROBE_BUDGET_BURST_RESULT_H

#include <stdbool.h>

#include "probe/budget/estimate.h"

struct cunei_budget;

/* The time that a burst has covered. */
struct cunei_burst_span {
    double steady; /* events */
    double time_ns;
    double net_ns;  /* what it would have taken without the cost of the burst */
    double now_ns;  /* run time at its end */
    double bias;    /* the part of net_ns that may be wrong */
    double running; /* the part in which the process ran */
};

/* How much longer an entry takes where ends are counted as well: compare the halves. */
void cunei_burst_compare_halves(struct cunei_budget *budget);

/* The time that a counting burst would have taken had it been settled from its start.
 * If it never settled, it was too short, or too little was called. */
double cunei_burst_settled_ns(struct cunei_budget *budget, double time_ns);

/* What the burst cost beyond the time before it, as far as that is known. */
struct cunei_scale_side cunei_burst_cost(const struct cunei_budget *budget,
                                         double time_ns, bool is_counted);

/* Steady events say how fast the program runs in a burst. */
void cunei_burst_add_slowdown(struct cunei_budget *budget, double steady,
                              double time_ns, bool is_counted);

/*
 * Demoted functions cannot have more time of their own than has passed.  If they seem
 * to, too little was subtracted for the cost of their events: scale them down.
 */
void cunei_burst_limit_times(struct cunei_budget *budget, double net_ns);

/* Add the burst to the estimates of all demoted functions. */
void cunei_burst_close_functions(struct cunei_budget *budget, bool is_counted,
                                 const struct cunei_burst_span *span);

#endif
