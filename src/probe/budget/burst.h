// SPDX-License-Identifier: MIT
/*
 * Bursts: short times in which all demoted functions are recorded, or their calls
 * counted.  Private to probe/budget.
 */
#ifndef CUNEI_PROBE_BUDGET_BURST_H
#define CUNEI_PROBE_BUDGET_BURST_H

#include <stdbool.h>

struct cunei_budget;

/* `now_ns`: the run time at which the burst was due. */
void cunei_burst_begin(struct cunei_budget *budget, double now_ns, bool top_is_open);

/* The burst's time is over.  Whether it is extended, because the process has not run
 * for as long as was planned. */
bool cunei_burst_extend(struct cunei_budget *budget, double now_ns);

/* Begin the next stage of the burst, if it is time for it. */
void cunei_burst_continue(struct cunei_budget *budget, double now_ns);
void cunei_burst_end(struct cunei_budget *budget, double now_ns, bool top_is_open);

#endif
