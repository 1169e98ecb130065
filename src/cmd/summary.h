// SPDX-License-Identifier: MIT
/*
 * What came of a recording, for the line at its end: how much there is, what was lost
 * and why.
 */
#ifndef CUNEI_CMD_SUMMARY_H
#define CUNEI_CMD_SUMMARY_H

#include <stdbool.h>

struct cunei_recording;

/*
 * Complete what killed processes left, count, and say it on stderr.  `quiet`: only what
 * is complete is made so.  An empty directory is removed.
 */
void cunei_summary_say(const struct cunei_recording *recording, bool quiet);

#endif
