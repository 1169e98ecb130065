// SPDX-License-Identifier: MIT
/* Patterns of a recording that no function of it matched: most likely slips. */
#ifndef CUNEI_CMD_UNMATCHED_H
#define CUNEI_CMD_UNMATCHED_H

struct cunei_recording;
struct cunei_trace;

/* Say which on stderr, and what may have been meant. */
void cunei_unmatched_say(const struct cunei_recording *recording,
                         const struct cunei_trace *trace);

#endif
