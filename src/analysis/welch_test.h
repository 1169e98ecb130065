// SPDX-License-Identifier: MIT
/* Welch's test: whether two series of measurements differ by more than chance. */
#ifndef CUNEI_ANALYSIS_WELCH_TEST_H
#define CUNEI_ANALYSIS_WELCH_TEST_H

#include <stdint.h>

/* A series as it comes: `mean` is that of what was added so far. */
struct cunei_series {
    double mean;
    double squares; /* of the distances from it, added up */
    uint32_t count;
};

void cunei_series_add(struct cunei_series *series, double value);

/*
 * How likely so big a difference between the means is, to either side, if both series
 * were of the same thing: 0 to 1.  It is 1 where one of them has less than two members,
 * because nothing is known then.
 */
double cunei_welch_chance(const struct cunei_series *one,
                          const struct cunei_series *two);

#endif
