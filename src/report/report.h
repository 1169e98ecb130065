// SPDX-License-Identifier: MIT
/*
 * The report of a trace, on one screen or as one JSON object.
 *
 *     struct cunei_report_options options = CUNEI_REPORT_DEFAULTS;
 *     int rc = cunei_report_print(&trace, &options, stdout, &error);
 *
 * Percentages are shares of the wall time between the first and the last event; threads
 * that run in parallel can add up to more than 100 %.
 */
#ifndef CUNEI_REPORT_REPORT_H
#define CUNEI_REPORT_REPORT_H

#include <stdio.h>

#include "analysis/analysis.h"
#include "report/report_options.h"

/*
 * Analyse the trace and print the sections that are asked for.  -ESRCH: no process is
 * chosen; -ENOENT: no function matches a name that is asked for; -ENODATA: one does,
 * but its lines were not recorded; -EINVAL: a name is not a valid pattern; -ENOMEM.
 * -EBADMSG: the trace is damaged; `error` has the first damage, and the intact part was
 * printed.
 */
int cunei_report_print(const struct cunei_trace *trace,
                       const struct cunei_report_options *options, FILE *out,
                       struct cunei_trace_error *error);

/* The same in two steps: what the analysis has to hold, and the report of one. */
struct cunei_analysis_options cunei_report_wanted(
    const struct cunei_report_options *options);
int cunei_report_print_sum(const struct cunei_analysis *analysis,
                           const struct cunei_report_options *wanted, FILE *out,
                           struct cunei_trace_error *error);

#endif
