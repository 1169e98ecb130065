// SPDX-License-Identifier: MIT
/* What recording a process cost. */
#ifndef CUNEI_ANALYSIS_PROCESS_COST_H
#define CUNEI_ANALYSIS_PROCESS_COST_H

#include "analysis/analysis.h"

/* Fill in the cost of a process, whose times and events are known, and add it to that
 * of the analysis. */
void cunei_process_cost_add(struct cunei_analysis *analysis,
                            struct cunei_analysis_process *process,
                            const struct cunei_profile *profile);

#endif
