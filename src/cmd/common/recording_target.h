// SPDX-License-Identifier: MIT
/* What a command works on that takes a recording: the pid of a process, or a directory.
 */
#ifndef CUNEI_CMD_COMMON_RECORDING_TARGET_H
#define CUNEI_CMD_COMMON_RECORDING_TARGET_H

#include <stdbool.h>

struct cunei_recordings;

/* The recordings of this user. */
void cunei_recording_target_find_all(struct cunei_recordings *recordings);

/* Whether a word is the pid of a process that is recorded, or has left remains. */
bool cunei_recording_target_is_recorded(const char *word);

/*
 * The trace directory of `word`, owned by the caller: itself, or where the process with
 * that pid is recorded.  NULL: an error message was printed.
 */
char *cunei_recording_target_find(const char *word);

#endif
