// SPDX-License-Identifier: MIT
/*
 * How much slower a program runs in bursts than around them.  Steady events (functions
 * that are never demoted) are recorded in both.  In a burst they come less often by as
 * much as the burst slows the program down; the cost of an event need not be known.
 *
 * `seen` is the number of steady events in a burst, `expected` the number that the time
 * before it predicts.  The ratio of their sums is the speed; how far single bursts are
 * from that ratio gives its error.
 *
 * Knows nothing of Python or time.
 */
#ifndef CUNEI_PROBE_BUDGET_BURST_SLOWDOWN_H
#define CUNEI_PROBE_BUDGET_BURST_SLOWDOWN_H

struct cunei_burst_slowdown {
    double seen, expected; /* of steady events in bursts; older bursts count less */
    double seen_squares, expected_squares, products;
};

void cunei_burst_slowdown_add(struct cunei_burst_slowdown *slowdown, double seen,
                              double expected);

/*
 * The part of the usual speed that is left goes to `*speed`.  Returns its standard
 * error, or 1 if too few events were seen.
 */
double cunei_burst_slowdown_speed(const struct cunei_burst_slowdown *slowdown,
                                  double *speed);

#endif
