// SPDX-License-Identifier: MIT
/* A function whose lines are to be shown, and of which none were recorded. */
#ifndef CUNEI_CMD_SUGGEST_LINES_H
#define CUNEI_CMD_SUGGEST_LINES_H

#include <stdbool.h>

struct cunei_buffer;
struct cunei_report_missing;
struct cunei_trace;

/*
 * Append a sentence: which function may be meant, or how to record its lines.
 * `was_called`: a function of that name was called.
 */
void cunei_suggest_lines(const struct cunei_trace *trace, const char *path,
                         const struct cunei_report_missing *missing, bool was_called,
                         struct cunei_buffer *sentence);

#endif
