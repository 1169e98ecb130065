// SPDX-License-Identifier: MIT
#include "probe/budget/burst_slowdown.h"

#include <math.h>

/* How much of the sums a new burst keeps. */
#define KEPT 0.98
/* The fewest bursts and events that give a speed. */
#define COUNT_LEAST 5
#define SEEN_LEAST  40
/* The least error. */
#define ERROR_LEAST 0.005

void cunei_burst_slowdown_add(struct cunei_burst_slowdown *slowdown, double seen,
                              double expected)
{
    *slowdown = (struct cunei_burst_slowdown){
        .seen = KEPT * slowdown->seen + seen,
        .expected = KEPT * slowdown->expected + expected,
        .seen_squares = KEPT * slowdown->seen_squares + seen * seen,
        .expected_squares = KEPT * slowdown->expected_squares + expected * expected,
        .products = KEPT * slowdown->products + seen * expected,
    };
}

double cunei_burst_slowdown_speed(const struct cunei_burst_slowdown *slowdown,
                                  double *speed)
{
    double expected = slowdown->expected;

    *speed = 1;
    if (slowdown->seen < SEEN_LEAST || expected < SEEN_LEAST)
        return 1;
    /* The number of bursts of equal weight: one burst may outweigh all others, for
     * example at the start of a program. */
    double count = expected * expected / slowdown->expected_squares;
    if (count < COUNT_LEAST)
        return 1;
    double ratio = slowdown->seen / expected;
    double residues = slowdown->seen_squares - 2 * ratio * slowdown->products +
                      ratio * ratio * slowdown->expected_squares;
    double error = sqrt(fmax(0, residues) * count / (count - 1)) / expected;
    *speed = ratio;
    return fmin(1, fmax(ERROR_LEAST, error));
}
