// SPDX-License-Identifier: MIT
/*
 * How numbers of any size are spread, and how they went over time.
 *
 * The spread knows a number to 7 bits behind the first: integers below 256 exactly,
 * others to 1 %.  Only what occurs takes memory.  The course has 64 steps, each as long
 * as a power of two of nanoseconds, just so that all that was seen fits.  Both add up
 * to the same, whatever the order in which numbers come.
 */
#ifndef CUNEI_MODEL_NUMBER_SPREAD_H
#define CUNEI_MODEL_NUMBER_SPREAD_H

#include <stdint.h>

struct cunei_spread_step {
    int32_t key;
    uint64_t count;
};

struct cunei_spread {
    struct cunei_spread_step *items; /* owned, by key */
    uint32_t count, capacity;
    uint64_t total; /* numbers */
};

/* It must be a number; infinite is fine.  -ENOMEM. */
int cunei_spread_add(struct cunei_spread *spread, double number);

/* The number that `fraction` (0 to 1) of them do not exceed; 0 if there are none. */
double cunei_spread_quantile(const struct cunei_spread *spread, double fraction);
void cunei_spread_fini(struct cunei_spread *spread);

#define CUNEI_COURSE_STEPS 64u

struct cunei_course {
    uint64_t first; /* private, as all: the first step is that of first << shift ns … */
    unsigned shift;
    uint32_t count; /* … up to the last that had a number */
    double sums[CUNEI_COURSE_STEPS];
    uint32_t counts[CUNEI_COURSE_STEPS];
};

/* The number was `number` at a time; what is not finite is left out. */
void cunei_course_add(struct cunei_course *course, uint64_t time_ns, double number);

/*
 * The course in `count` (at most CUNEI_COURSE_STEPS) levels from 0 to `top`, its mean
 * in each step of time, which lasts until there is another.  Returns how many there
 * are: 0 where nothing is known.
 */
uint32_t cunei_course_levels(const struct cunei_course *course, uint32_t count,
                             uint32_t top, uint32_t *levels);

#endif
