// SPDX-License-Identifier: MIT
/*
 * What the callbacks of sys.monitoring ask the budget for each counted call and each
 * event on the slow path.  Guarded by the GIL.
 */
#ifndef CUNEI_PROBE_BUDGET_BUDGET_HOT_H
#define CUNEI_PROBE_BUDGET_BUDGET_HOT_H

#include <stdbool.h>
#include <stdint.h>

#include "rt/clock.h"

struct cunei_budget_hot {
    bool is_due;     /* there may be something to decide */
    uint32_t left;   /* counted calls until the clock is read again */
    uint64_t tick;   /* when the stage of a counting burst ends */
    uint64_t raised; /* events of exceptions, so far */
};

extern struct cunei_budget_hot cunei_budget_hot __attribute__((visibility("hidden")));

/* Counted calls between two readings of the clock. */
#define CUNEI_BUDGET_CALLS 64u

static inline bool cunei_budget_is_due(void)
{
    return cunei_budget_hot.is_due;
}

/*
 * A call was counted; whether it is time to act.  There is no system call on the way:
 * what counting costs beyond its measured cost makes all estimates too low.
 */
static inline bool cunei_budget_counts(void)
{
    if (--cunei_budget_hot.left > 0)
        return false;
    cunei_budget_hot.left = CUNEI_BUDGET_CALLS;
    return cunei_clock_read() >= cunei_budget_hot.tick;
}

#endif
