// SPDX-License-Identifier: MIT
/*
 * What a function did while it was not recorded, estimated from the bursts before and
 * after.
 *
 * A burst gives rates: calls and time per nanosecond of run time.  Between two bursts
 * the function is assumed to run at their mean.  The difference between two neighbours
 * shows how wrong that may be: for independent samples, half the square of their
 * difference is the variance of one.  Run time is CPU time of the process, which does
 * not grow while the program waits or other programs run.
 *
 * A burst slows the program down, so rates are per time without the cost of events. The
 * cost of an event was measured before the program began, in another loop;
 * `struct cunei_scale` knows how much more or less it is in this program, by three
 * comparisons.  Bursts that only count cost less than bursts that record: both must
 * lead to the same speed without any cost.  Functions that are recorded in bursts and
 * around them show the slow-down directly (probe/budget/burst_slowdown.h).  A counting
 * burst has two halves, one of which counts the ends of calls as well and so costs
 * about twice as much.  Each comparison counts by its error.
 *
 * Knows nothing of Python; times and costs are given.
 */
#ifndef CUNEI_PROBE_BUDGET_ESTIMATE_H
#define CUNEI_PROBE_BUDGET_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/budget/burst_slowdown.h"
#include "probe/budget/observe.h"
#include "wire/event.h"

/* Per nanosecond of run time; times are in ticks. */
struct cunei_rates {
    double calls, resumes, self, total;
    double self_wrong; /* error of `self` that is the same in all gaps */
};

/* A second opinion about a gap: its rates, their error in one gap and in all gaps, and
 * its weight from 0 (nothing is known) to 1. */
struct cunei_second_rates {
    struct cunei_rates rates, wrong;
    double bias, part;
};

struct cunei_estimate_caller {
    uint32_t function;
    double calls, self;
};

struct cunei_estimate {
    struct cunei_rates last; /* of the last burst */
    double last_ns;          /* its length; 0: there was none */
    bool is_chosen; /* demoted because of it: the hottest time is rarely typical */
    struct cunei_rates spread; /* variances, by the differences of neighbours */
    bool has_spread;           /* there are some */
    /* Not written yet: */
    double span_ns;
    double calls, resumes, self, total;
    double calls_variance, resumes_variance, self_variance;
    double bias, resumes_bias; /* errors of all gaps, in calls and in resumes */
    double self_bias;          /* in ticks */
    double uncounted;          /* part of the span in which calls were not counted */
    /* What its callers had of the calls and times in recorded bursts. */
    struct cunei_estimate_caller callers[CUNEI_OBSERVED_CALLERS];
    double seen_calls, seen_self;
};

/*
 * Estimate a time of `gap_ns` without records, up to a burst of `burst_ns` with these
 * rates; NULL: no burst follows.  `counted`: the calls in the gap, or less than 0 if
 * they were not counted.  `bias`: the part of the rates that may be wrong.
 */
void cunei_estimate_gap(struct cunei_estimate *estimate, double gap_ns,
                        const struct cunei_rates *rates, double burst_ns,
                        double counted, double bias,
                        const struct cunei_second_rates *second);

/* Add the callers that a recorded burst has shown. */
void cunei_estimate_callers(struct cunei_estimate *estimate,
                            const struct cunei_observed *observed);

/*
 * The sample to write; the sums start again at 0.  Call cunei_estimate_caller for each
 * caller before it; false: there is no caller i.
 */
void cunei_estimate_take(struct cunei_estimate *estimate, uint32_t function,
                         double ticks_per_ns, struct cunei_sample *sample);
bool cunei_estimate_caller(const struct cunei_estimate *estimate, uint32_t function,
                           unsigned i, struct cunei_sample *sample);

/* One kind of burst: calls, their time, and the cost of their events as measured
 * before. */
struct cunei_scale_side {
    double calls, time_ns, cost_ns;
    double off; /* calls of functions that are not counted between bursts */
    double count, sum, squares; /* number of bursts, and sums of their times per call */
    struct cunei_burst_slowdown slowdown;
};

struct cunei_scale {
    struct cunei_scale_side sides[2]; /* recording, counting; older bursts count less */
    double pairs, pairs_sum, pairs_squares; /* sums over pairs of halves */
    double end_part; /* cost of a counted end / cost of a counted start */
    double value;    /* cost of events here / cost as measured before */
    double error;    /* standard error of `value` */
    double charge;   /* as `value`, but on the safe side, to charge the budget */
};

void cunei_scale_init(struct cunei_scale *scale, double end_part);

/* In a counting burst, calls took `ratio` times as long in the half that counted ends.
 */
void cunei_scale_pair(struct cunei_scale *scale, double ratio);

/* A burst had `seen` steady events; without its cost `expected` were expected. */
void cunei_scale_slowdown(struct cunei_scale *scale, bool is_counted, double seen,
                          double expected);

/* Add a burst of one kind. */
void cunei_scale_add(struct cunei_scale *scale, bool is_counted, double calls,
                     double time_ns, double cost_ns);

/* The time of such a burst without its cost; `*bias`: the part that may be wrong. */
double cunei_scale_net(const struct cunei_scale *scale, bool is_counted,
                       const struct cunei_scale_side *burst, double *bias);

#endif
