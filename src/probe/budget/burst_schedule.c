// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/budget/burst_schedule.h"

#include <math.h>

#include "probe/budget/budget_state.h"
#include "probe/budget/budget_timer.h"
#include "rt/clock.h"

#define BURST_PART     0.3 /* of the budget, for bursts */
#define PERIOD_NS      (30.0 * CUNEI_NS_PER_MS)
#define PERIOD_MOST_NS (2000.0 * CUNEI_NS_PER_MS)
#define BURST_NS       (0.3 * CUNEI_NS_PER_MS)
#define BURST_MOST     0.33 /* of the period */
#define LOOKS_SOON     10   /* the first bursts come sooner: nothing is known yet */
#define SETTLING_NS    (0.1 * CUNEI_NS_PER_MS)
#define SETTLINGS      4 /* the least length of a burst; twice that if it counts */
#define AWAY_NS        (0.2 * CUNEI_NS_PER_MS)
#define POSTPONE_NS    (2.0 * CUNEI_NS_PER_MS)
#define POSTPONED_MOST 4 /* times */

bool cunei_burst_schedule_counts_next(const struct cunei_budget *budget)
{
    return budget->looks % 3 != 0;
}

double cunei_burst_schedule_settling_ns(const struct cunei_budget *budget)
{
    return SETTLING_NS + CUNEI_BUDGET_RENEWAL_NS * budget->demoted;
}

/* A random number from 0 to 1. */
static double draw(struct cunei_budget *budget)
{
    budget->random = budget->random * 1664525u + 1013904223u;
    return (double)(budget->random >> 8) / (1 << 24);
}

/* When this time has passed, and the program has run for as long. */
static void plan_in(struct cunei_budget *budget, double ns)
{
    budget->next_ns = cunei_clock_ns(CLOCK_MONOTONIC) + (uint64_t)ns;
    budget->next_run_ns = cunei_budget_run_ns() + ns;
    cunei_budget_timer_set(budget->next_ns, (uint64_t)budget->next_run_ns,
                           budget->wake);
}

void cunei_burst_schedule_plan(struct cunei_budget *budget)
{
    double load = 0;

    if (budget->demoted == 0) {
        budget->next_ns = 0;
        return;
    }
    for (uint32_t i = 0; i < budget->capacity; i++)
        load += budget->functions[i].level == CUNEI_LEVEL_FULL
                    ? 0
                    : budget->functions[i].load;
    double part =
        fmin(BURST_MOST, BURST_PART * budget->share * (1 + load) / fmax(load, 1e-6));
    double period = PERIOD_NS * fmin(1, (1 + (double)budget->looks) / LOOKS_SOON);
    period = fmax(period, 10 * budget->switch_ns / budget->share);
    period = fmax(period, SETTLINGS * cunei_burst_schedule_settling_ns(budget) / part);
    period = fmin(PERIOD_MOST_NS, fmax(period, BURST_NS / part));
    period *= 0.7 + 0.6 * draw(budget);
    if (cunei_burst_schedule_counts_next(budget))
        part = fmin(BURST_MOST, 2 * part);
    budget->burst_until = (uint64_t)(period * part * budget->ticks_per_ns);
    plan_in(budget, period);
}

/*
 * A burst covers a span of time that was chosen at random.  But it can begin only
 * between two instructions: if the program is in a C function, at its end.  Code that
 * calls a lot would be covered too often.  So the span begins when the burst was due;
 * until its start nothing was called, if there is only one thread.
 */
static double waited_ns(const struct cunei_budget_timer_delay *delay)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyThreadState_Get()->interp);
    unsigned threads = 0;

    for (; thread && threads < 3; thread = PyThreadState_Next(thread))
        threads++;
    return threads - delay->is_timer == 1 ? (double)delay->ran_ns : 0;
}

/*
 * If another process had the core in between, caches are cold, and the burst would be
 * slower than the program.  On a shared core most bursts would begin like that.  The
 * whole span is postponed, whatever the program did in it: a span that ends within the
 * same C function begins in it.
 */
static bool postpone(struct cunei_budget *budget,
                     const struct cunei_budget_timer_delay *delay)
{
    if ((double)delay->away_ns < AWAY_NS || budget->postponed == POSTPONED_MOST)
        return false;
    double later_ns = POSTPONE_NS * (0.2 + 0.8 * draw(budget));
    if (later_ns <= budget->waited_ns) {
        budget->waited_ns -= later_ns;
        return false;
    }
    plan_in(budget, later_ns - budget->waited_ns);
    return true;
}

bool cunei_burst_schedule_lets_begin(struct cunei_budget *budget, double now_ns)
{
    struct cunei_budget_timer_delay delay = cunei_budget_timer_delay();

    budget->waited_ns = waited_ns(&delay);
    if (postpone(budget, &delay)) {
        budget->postponed++;
        return false;
    }
    budget->wanted_ns = now_ns - budget->waited_ns;
    budget->postponed = 0;
    return true;
}
