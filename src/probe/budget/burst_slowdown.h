// SPDX-License-Identifier: MIT
/*
 * How much slower a program runs in bursts than around them, by what is recorded in
 * both: events of functions that are never demoted come less often in a burst, in the
 * same time, by as much as it slows the program down.  Nothing need be known of what an
 * event costs.
 *
 * A burst has so many of them, and would have had so many more without its cost, by the
 * time before it.  The sums of both say how fast it is; how far single bursts are from
 * that, how far that may be wrong.
 *
 * Knows nothing of Python or time.
 */
#ifndef CUNEI_PROBE_BUDGET_BURST_SLOWDOWN_H
#define CUNEI_PROBE_BUDGET_BURST_SLOWDOWN_H

struct cunei_burst_slowdown {
    double seen, expected; /* in bursts, of which older ones count less, as below */
    double seen_squares, expected_squares, products;
};

void cunei_burst_slowdown_add(struct cunei_burst_slowdown *progress, double seen,
                              double expected);

/*
 * Which part of the usual speed is left; returns its standard error, or 1 where too
 * little was seen.
 */
double cunei_burst_slowdown_speed(const struct cunei_burst_slowdown *progress,
                                  double *speed);

#endif
