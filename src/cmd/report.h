// SPDX-License-Identifier: MIT
/* The report of a trace, for `cunei report` and for the end of `cunei run`. */
#ifndef CUNEI_CMD_REPORT_H
#define CUNEI_CMD_REPORT_H

#include <stdio.h>

struct cunei_report_options;

/*
 * Open the trace at `path`, recovered if need be, and print its report to `out`, as
 * options->style says (see cmd/output.h).  What goes wrong is said on stderr; returns
 * the exit status.
 */
int cunei_report_show(const char *path, const struct cunei_report_options *options,
                      FILE *out);

#endif
