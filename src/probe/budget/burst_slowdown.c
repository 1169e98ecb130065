// SPDX-License-Identifier: MIT
#include "probe/budget/burst_slowdown.h"

#include <math.h>

/* How much of what is known a new burst leaves. */
#define KEPT 0.98
/* From so many bursts and events on. */
#define COUNT_LEAST 5
#define SEEN_LEAST  40
/* What it is uncertain by at least. */
#define ERROR_LEAST 0.005

void cunei_burst_slowdown_add(struct cunei_burst_slowdown *progress, double seen,
                              double expected)
{
    *progress = (struct cunei_burst_slowdown){
        .seen = KEPT * progress->seen + seen,
        .expected = KEPT * progress->expected + expected,
        .seen_squares = KEPT * progress->seen_squares + seen * seen,
        .expected_squares = KEPT * progress->expected_squares + expected * expected,
        .products = KEPT * progress->products + seen * expected,
    };
}

double cunei_burst_slowdown_speed(const struct cunei_burst_slowdown *progress,
                                  double *speed)
{
    double expected = progress->expected;

    *speed = 1;
    if (progress->seen < SEEN_LEAST || expected < SEEN_LEAST)
        return 1;
    /* As many bursts of the same weight: one may outweigh all others, as of a program's
     * start. */
    double count = expected * expected / progress->expected_squares;
    if (count < COUNT_LEAST)
        return 1;
    double ratio = progress->seen / expected;
    double residues = progress->seen_squares - 2 * ratio * progress->products +
                      ratio * ratio * progress->expected_squares;
    double error = sqrt(fmax(0, residues) * count / (count - 1)) / expected;
    *speed = ratio;
    return fmin(1, fmax(ERROR_LEAST, error));
}
