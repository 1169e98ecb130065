// SPDX-License-Identifier: MIT
/*
 * A thread that has the interpreter call a function at a time to come, whatever runs.
 *
 * It exists from the first time that is asked for, sleeps, and touches nothing of
 * Python's.  The function runs as a pending call, in the main thread between two
 * instructions.  Where that one waits in C while others run, the thread takes the GIL
 * and calls it itself.
 *
 * The system's thread is gone while a process forks: CPython warns of threads then, by
 * the system's own count of them.
 */
#ifndef CUNEI_PROBE_BUDGET_BUDGET_TIMER_H
#define CUNEI_PROBE_BUDGET_BUDGET_TIMER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Have `function` called at this time (CLOCK_MONOTONIC), and not before the process has
 * run for `run_ns` (its CPU time), in place of one before.
 */
void cunei_budget_timer_set(uint64_t time_ns, uint64_t run_ns, void (*function)(void));

/* Since the main thread was asked to call the function; 0: it was not, something else
 * has called it, or nobody knows. */
struct cunei_budget_timer_delay {
    uint64_t ran_ns;  /* what it has run … */
    uint64_t away_ns; /* … and for how long it has not */
    bool is_waker;    /* the waker itself calls it now */
};
struct cunei_budget_timer_delay cunei_budget_timer_delay(void);

/* What the process has run without that thread, which would be counted among the
 * program's own time just when it wakes us; and what the thread has run. */
uint64_t cunei_budget_timer_others_ns(uint64_t *own_ns);

/* No more of it: the thread ends.  With the GIL held, which is let go meanwhile. */
void cunei_budget_timer_stop(void);

#endif
