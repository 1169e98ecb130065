// SPDX-License-Identifier: MIT
/*
 * What came of a recording, for the line at its end: how much there is, what was lost
 * and why.
 */
#ifndef CUNEI_CMD_RECORD_SUMMARY_H
#define CUNEI_CMD_RECORD_SUMMARY_H

#include <stdbool.h>

struct cunei_recorded_run;

/*
 * Complete what killed processes left, count, and say it on stderr, or with `quiet`
 * only complete it.  As below where nothing was recorded.
 */
void cunei_summary_say(const struct cunei_recorded_run *recording, bool quiet);

/*
 * Whether anything was recorded; if not, the directory is removed.  Why, or that no
 * function was selected, is said unless `quiet`.
 */
bool cunei_summary_exists(const struct cunei_recorded_run *recording, bool quiet);

#endif
