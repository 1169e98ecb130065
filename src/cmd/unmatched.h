// SPDX-License-Identifier: MIT
/* Patterns of a recording that no function of it matched: most likely slips. */
#ifndef CUNEI_CMD_UNMATCHED_H
#define CUNEI_CMD_UNMATCHED_H

#include <stdbool.h>

struct cunei_recording;
struct cunei_trace;

/* Say which on stderr, and what may have been meant. */
void cunei_unmatched_say(const struct cunei_recording *recording,
                         const struct cunei_trace *trace);

/*
 * The same for a function whose lines somebody wants to see; `is_there`: it was called,
 * but its lines were not recorded.  Returns the exit status.
 */
int cunei_unmatched_fail(const struct cunei_trace *trace, const char *path,
                         const char *name, bool is_there);

#endif
