// SPDX-License-Identifier: MIT
/* A function whose lines somebody wants to see, and that has none. */
#ifndef CUNEI_CMD_SUGGEST_LINES_H
#define CUNEI_CMD_SUGGEST_LINES_H

#include <stdbool.h>

struct cunei_report_missing;
struct cunei_trace;

/*
 * Say what may have been meant by its name, or how to record the lines; `is_there`: a
 * function of that name was called.  Returns the exit status.
 */
int cunei_suggest_lines(const struct cunei_trace *trace, const char *path,
                        const struct cunei_report_missing *missing, bool is_there);

#endif
