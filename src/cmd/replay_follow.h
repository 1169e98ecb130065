// SPDX-License-Identifier: MIT
/* Calls as they happen, for `cunei replay --follow` and `cunei run --trace`. */
#ifndef CUNEI_CMD_REPLAY_FOLLOW_H
#define CUNEI_CMD_REPLAY_FOLLOW_H

#include <stdbool.h>
#include <stdio.h>

struct cunei_replay_options;

/* Until the recording in `path` ends, a signal asks to end, or nobody reads `out` any
 * more.  Unless `is_noted`, say so when there is no recording yet.  Returns the exit
 * status. */
int cunei_replay_follow_run(const char *path, const struct cunei_replay_options *wanted,
                            bool is_noted, FILE *out);

#endif
