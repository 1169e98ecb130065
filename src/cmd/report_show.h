// SPDX-License-Identifier: MIT
/* The report of a trace, for `cunei report` and for the end of `cunei run`. */
#ifndef CUNEI_CMD_REPORT_SHOW_H
#define CUNEI_CMD_REPORT_SHOW_H

#include <stdio.h>

struct cunei_report_options;

/*
 * Open the trace at `path`, recover it if necessary, and print its report to `out` in
 * wanted->style (see cmd/common/output.h).  Errors are printed on stderr; returns the
 * exit status.
 */
int cunei_report_show(const char *path, const struct cunei_report_options *wanted,
                      FILE *out);

/* The same on stdout, through a pager if it is longer than the screen. */
int cunei_report_show_paged(const char *path,
                            const struct cunei_report_options *wanted);

#endif
