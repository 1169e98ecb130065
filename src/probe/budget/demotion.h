// SPDX-License-Identifier: MIT
/* Which functions are demoted; private to probe/budget. */
#ifndef CUNEI_PROBE_BUDGET_DEMOTION_H
#define CUNEI_PROBE_BUDGET_DEMOTION_H

#include <stdbool.h>

struct cunei_budget;

/* Decide anew for all functions. */
void cunei_demotion_decide(struct cunei_budget *budget, double now_ns,
                           bool top_is_open);

/* The recording ends: write the last estimates, and that nothing is demoted now. */
void cunei_demotion_end(struct cunei_budget *budget, double now_ns);

#endif
