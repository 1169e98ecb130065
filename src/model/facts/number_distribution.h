// SPDX-License-Identifier: MIT
/*
 * How numbers of any size are spread, and their mean over time.
 *
 * The spread keeps the leading bit of a number and 7 more bits: integers below 256
 * exactly, others to 1 %.  Only what occurs takes memory.  The course has 64 steps,
 * each as long as a power of two of nanoseconds, just so that all that was seen fits.
 * Both add up to the same, whatever the order in which numbers come.
 */
#ifndef CUNEI_MODEL_FACTS_NUMBER_DISTRIBUTION_H
#define CUNEI_MODEL_FACTS_NUMBER_DISTRIBUTION_H

#include <stdint.h>

struct cunei_distribution_step {
    int32_t key;
    uint64_t count;
};

struct cunei_distribution {
    struct cunei_distribution_step *items; /* owned, by key */
    uint32_t count, capacity;
    uint64_t total; /* numbers */
};

/* It must be a number; infinite is fine.  -ENOMEM. */
int cunei_distribution_add(struct cunei_distribution *spread, double number);

/* The number that `fraction` (0 to 1) of them do not exceed; 0 if there are none. */
double cunei_distribution_quantile(const struct cunei_distribution *spread,
                                   double fraction);
void cunei_distribution_fini(struct cunei_distribution *spread);

#define CUNEI_COURSE_STEPS 64u

struct cunei_time_series {
    uint64_t first; /* private, as all: the first step is that of first << shift ns … */
    unsigned shift;
    uint32_t count; /* … up to the last that had a number */
    double sums[CUNEI_COURSE_STEPS];
    uint32_t counts[CUNEI_COURSE_STEPS];
};

/* The number was `number` at a time; what is not finite is left out. */
void cunei_time_series_add(struct cunei_time_series *course, uint64_t time_ns,
                           double number);

/*
 * The course in `count` (at most CUNEI_COURSE_STEPS) levels from 0 to `top`, its mean
 * in each step of time, an empty step repeats the step before.  Returns the number of
 * levels: 0 where nothing is known.
 */
uint32_t cunei_time_series_levels(const struct cunei_time_series *course,
                                  uint32_t count, uint32_t top, uint32_t *levels);

#endif
