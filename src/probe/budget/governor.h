// SPDX-License-Identifier: MIT
/*
 * Which functions are recorded in full, which are only counted, and which are neither,
 * so that recording costs no more than allowed.
 *
 * Functions that cost most for the least insight are demoted first: those with a high
 * cost, which is also a large part of the time spent in them.  A function that is
 * affordable when it is only counted is counted.  A demoted function is recorded again
 * when there is more room than it needs, so that levels do not change back and forth.
 *
 * Knows nothing of Python, functions or time: loads are shares of the program's time.
 */
#ifndef CUNEI_PROBE_BUDGET_GOVERNOR_H
#define CUNEI_PROBE_BUDGET_GOVERNOR_H

#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

struct cunei_candidate {
    uint32_t place;          /* for the caller */
    double load;             /* what recording it costs, or would cost */
    double self;             /* the share of time that is its own */
    enum cunei_level level;  /* now */
    enum cunei_level wanted; /* decided */
};

struct cunei_limits {
    double allowed; /* share of the program's time, for all functions */
    double fixed;   /* the part that cannot be switched off */
    double counted; /* cost of counting / cost of recording */
};

/* Decide for all items; sorts them.  Returns how many change their level. */
size_t cunei_governor_decide(struct cunei_candidate *items, size_t count,
                             const struct cunei_limits *limits);

#endif
