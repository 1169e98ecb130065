// SPDX-License-Identifier: MIT
/*
 * The summary after a recording: how much was recorded, what was lost, and why.
 */
#ifndef CUNEI_CMD_RECORD_SUMMARY_H
#define CUNEI_CMD_RECORD_SUMMARY_H

#include <stdbool.h>

struct cunei_recorded_run;

/*
 * Repair the traces of killed processes, count the events, and print the summary to
 * stderr; with `quiet` only repair.  As below where nothing was recorded.
 */
void cunei_summary_print(const struct cunei_recorded_run *recording, bool quiet);

/*
 * Print only problems, unless `quiet`.  Returns whether anything was recorded; if not,
 * the directory is removed.
 */
bool cunei_summary_print_problems(const struct cunei_recorded_run *recording,
                                  bool quiet);

#endif
