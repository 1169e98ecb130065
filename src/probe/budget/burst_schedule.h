// SPDX-License-Identifier: MIT
/* When bursts come, and how long they are; private to probe/budget. */
#ifndef CUNEI_PROBE_BUDGET_BURST_SCHEDULE_H
#define CUNEI_PROBE_BUDGET_BURST_SCHEDULE_H

#include <stdbool.h>

struct cunei_budget;

/* Choose the time of the next burst, at random, so that bursts never run in step with
 * the program. */
void cunei_burst_schedule_plan(struct cunei_budget *budget);

/* The next burst is due.  False: not now, another time has been chosen. */
bool cunei_burst_schedule_lets_begin(struct cunei_budget *budget, double now_ns);

/* Whether the next burst counts: two of three do, because counting costs less. */
bool cunei_burst_schedule_counts_next(const struct cunei_budget *budget);

/* How long a program takes to run evenly again after events were switched. */
double cunei_burst_schedule_settling_ns(const struct cunei_budget *budget);

#endif
