// SPDX-License-Identifier: MIT
/*
 * What a function did while it was not recorded, from the bursts before and after.
 *
 * A burst gives rates: calls and time per nanosecond of run time.  Between two bursts
 * the function is taken to have gone on at their mean.  How far two neighbours are
 * apart says how far that may be wrong: for samples that are independent, half the
 * square of their difference is the variance of one.  Run time is CPU time of the
 * process, which neither waiting nor other programs stretch.
 *
 * A burst slows the program down, so that rates are taken over the time that is left
 * without the cost of events.  What an event costs is known from before the program
 * began, in another place than this: `struct cunei_scale` says by how much it is more
 * or less here.  Bursts that only count cost less than those that record.  So the
 * program is seen under two loads, and both must lead to the same speed under none.
 * What is recorded in bursts and around them says the same without any cost
 * (probe/budget/burst_slowdown.h).  So do the halves of bursts that count, of which one
 * hears of the ends of calls, too: that costs as much again, right here.  Each counts
 * by how sure it is.
 *
 * Knows nothing of Python; time and costs are given.
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
    double self_wrong; /* what `self` may be off by, in all gaps alike */
};

/* What else is known of a gap: its rates, how far each gap's may be off, and which part
 * of all of them; and how much of the truth that is.  0: nothing is. */
struct cunei_second {
    struct cunei_rates rates, wrong;
    double bias, part;
};

struct cunei_estimate_caller {
    uint32_t function;
    double calls, self;
};

struct cunei_estimate {
    struct cunei_rates last; /* of the burst before */
    double last_ns;          /* which was that long; 0: there was none */
    bool is_chosen; /* by it: what was hottest then has rarely been as hot since */
    struct cunei_rates spread; /* variances, as neighbours have shown them so far … */
    bool has_spread;           /* … if any have */
    /* What has not been written yet. */
    double span_ns;
    double calls, resumes, self, total;
    double calls_variance, resumes_variance, self_variance;
    double bias, resumes_bias; /* of calls, in calls; of resumes, in resumes */
    double self_bias;          /* in ticks */
    double uncounted; /* of the span, in which calls are estimates, not counts */
    /* Shares of its callers, of calls and times that were seen in bursts. */
    struct cunei_estimate_caller callers[CUNEI_OBSERVED_CALLERS];
    double seen_calls, seen_self;
};

/*
 * `gap_ns` went by without being recorded, up to a burst of `burst_ns` with these
 * rates; NULL: there is none, it just ends.  `counted`: the calls in it, or less than
 * 0.  `bias`: by which part of themselves rates may be wrong.  `second`: what is
 * known of it besides.
 */
void cunei_estimate_gap(struct cunei_estimate *estimate, double gap_ns,
                        const struct cunei_rates *rates, double burst_ns,
                        double counted, double bias, const struct cunei_second *second);

/* Whom a recorded burst showed it to be called by. */
void cunei_estimate_callers(struct cunei_estimate *estimate,
                            const struct cunei_observed *observed);

/*
 * The sample, as it is written, of what has come together; then it begins anew.  For
 * caller i, if there is one, `cunei_estimate_caller` before that.
 */
void cunei_estimate_take(struct cunei_estimate *estimate, uint32_t function,
                         double ticks_per_ns, struct cunei_sample *sample);
bool cunei_estimate_caller(const struct cunei_estimate *estimate, uint32_t function,
                           unsigned i, struct cunei_sample *sample);

/* One kind of burst: what was called in which time, at which cost by what is known. */
struct cunei_scale_side {
    double calls, time_ns, cost_ns;
    double off;                 /* calls of what is not even counted otherwise */
    double count, sum, squares; /* of bursts, and of their times per call */
    struct cunei_burst_slowdown progress;
};

struct cunei_scale {
    struct cunei_scale_side sides[2]; /* recorded, counted; older ones count less */
    double pairs, pairs_sum, pairs_squares; /* the same, of halves of bursts */
    double end_part; /* what a counted end costs, of what a counted beginning does */
    double value;    /* what events cost here, of what is known */
    double error;    /* of that, a standard error */
    double charge;   /* the same as `value`, where nobody wants to spend too much */
};

void cunei_scale_init(struct cunei_scale *scale, double end_part);

/* In a burst that counts, calls took so many times as long where ends were counted. */
void cunei_scale_pair(struct cunei_scale *scale, double ratio);

/* In a burst of one kind were so many events of what is always recorded, and would have
 * been so many without its cost. */
void cunei_scale_progress(struct cunei_scale *scale, bool is_counted, double seen,
                          double expected);

/* A burst of one kind was seen. */
void cunei_scale_add(struct cunei_scale *scale, bool is_counted, double calls,
                     double time_ns, double cost_ns);

/* What such a burst would have taken without its cost; `*bias`: which part of that may
 * be wrong. */
double cunei_scale_net(const struct cunei_scale *scale, bool is_counted,
                       const struct cunei_scale_side *burst, double *bias);

#endif
