// SPDX-License-Identifier: MIT
/*
 * Which functions are recorded in full, which are counted, and which are neither, so
 * that recording costs no more than it may.
 *
 * Functions that cost most for the least insight go first: those that cost much in
 * themselves, and much of the time that is spent in them.  One that would still be
 * affordable if it were only counted is counted.  What is demoted comes back where
 * there is some room more than it needs, so that nothing goes back and forth.
 *
 * Knows nothing of Python, functions or time: loads are shares of the program's time.
 */
#ifndef CUNEI_PROBE_BUDGET_GOVERNOR_H
#define CUNEI_PROBE_BUDGET_GOVERNOR_H

#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

struct cunei_candidate {
    uint32_t place;          /* the caller's */
    double load;             /* what recording it costs, or would cost */
    double self;             /* the share of time that is its own */
    enum cunei_level level;  /* that it has now … */
    enum cunei_level wanted; /* … and that it gets */
};

struct cunei_limits {
    double allowed; /* share of the program's time for all of it */
    double fixed;   /* of that, what cannot be switched off */
    double counted; /* what counting costs, of what recording does */
};

/* Decide for all of them; their order changes.  Returns how many change their level. */
size_t cunei_governor_decide(struct cunei_candidate *items, size_t count,
                             const struct cunei_limits *limits);

#endif
