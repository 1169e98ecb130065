// SPDX-License-Identifier: MIT
/* The report of a trace, for `cunei report` and for the end of `cunei run`. */
#ifndef CUNEI_CMD_REPORT_H
#define CUNEI_CMD_REPORT_H

#include <stdio.h>

#include "cmd/common/options.h"
#include "report/report.h"

/* What the options fill in; begins as CUNEI_REPORT_VALUES_DEFAULTS. */
struct cunei_report_values {
    struct cunei_report_options report;
    const char *min_percent;
    struct cunei_option_list processes, lines; /* owned */
};

#define CUNEI_REPORT_VALUES_DEFAULTS    \
    {                                   \
        .report = CUNEI_REPORT_DEFAULTS \
    }

/* What to show and how, for the report and for run; not which functions. */
extern const struct cunei_option cunei_report_view_options[];

/* How many views of their own are asked for. */
int cunei_report_views(const struct cunei_report_values *values);

/* Read what the table could not.  As cunei_options_parse. */
int cunei_report_settle(struct cunei_report_values *values);

void cunei_report_values_fini(struct cunei_report_values *values);

/*
 * Open the trace at `path`, recovered if need be, and print its report to `out`, as
 * wanted->style says (see cmd/common/output.h).  What goes wrong is said on stderr;
 * returns the exit status.
 */
int cunei_report_show(const char *path, const struct cunei_report_options *wanted,
                      FILE *out);

#endif
