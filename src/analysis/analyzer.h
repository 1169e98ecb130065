// SPDX-License-Identifier: MIT
/*
 * Reads a whole trace with all cores and adds it up.
 *
 *     struct cunei_analysis analysis;
 *     int rc = cunei_analyze(&analysis, &trace, &options);
 *     …
 *     cunei_analysis_fini(&analysis);
 *
 * Streams are cut into pieces that threads read in any order.  A process is merged into
 * the analysis when its last piece is read, and then only its sums stay in memory.
 * Damaged packets are skipped and noted.
 */
#ifndef CUNEI_ANALYSIS_ANALYZER_H
#define CUNEI_ANALYSIS_ANALYZER_H

#include "analysis/analysis.h"

/* -ENOMEM; -ESRCH: no such process; or an error of opening a file. */
int cunei_analyze(struct cunei_analysis *analysis, const struct cunei_trace *trace,
                  const struct cunei_analysis_options *options);

#endif
