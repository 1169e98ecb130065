// SPDX-License-Identifier: MIT
/*
 * A timer thread that makes the interpreter call a function at a given time, whatever
 * code runs then.
 *
 * The thread is started when the timer is first set.  It sleeps, and does not use the
 * Python API except Py_AddPendingCall: the function runs as a pending call, in the main
 * thread between two instructions.  If the main thread waits in C while other threads
 * run, the timer thread takes the GIL and calls the function itself.
 *
 * The thread is stopped during a fork, because CPython warns about threads then, and
 * counts those of the system.
 */
#ifndef CUNEI_PROBE_BUDGET_BUDGET_TIMER_H
#define CUNEI_PROBE_BUDGET_BUDGET_TIMER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Call `function` at this time (CLOCK_MONOTONIC), and not before the CPU time of the
 * process is `run_ns`.  Replaces an earlier setting.
 */
void cunei_budget_timer_set(uint64_t time_ns, uint64_t run_ns, void (*function)(void));

/* The time since the main thread was asked to call the function; all 0 if it was not
 * asked, or is not known. */
struct cunei_budget_timer_delay {
    uint64_t ran_ns;  /* CPU time of the thread */
    uint64_t away_ns; /* time in which the thread did not run */
    bool is_timer;    /* the timer thread itself calls the function now */
};
struct cunei_budget_timer_delay cunei_budget_timer_delay(void);

/* CPU time of the process without the timer thread, which must not count as the
 * program's own; and that of the timer thread. */
uint64_t cunei_budget_timer_run_ns(uint64_t *own_ns);

/* Stop the thread.  Call it with the GIL held; the GIL is released while waiting. */
void cunei_budget_timer_stop(void);

#endif
