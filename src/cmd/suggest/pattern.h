// SPDX-License-Identifier: MIT
/* Patterns of a recording that no function of it matched: most likely slips. */
#ifndef CUNEI_CMD_SUGGEST_PATTERN_H
#define CUNEI_CMD_SUGGEST_PATTERN_H

struct cunei_recorded_run;
struct cunei_trace;

/* Say which on stderr, and what may have been meant. */
void cunei_suggest_patterns(const struct cunei_recorded_run *recording,
                            const struct cunei_trace *trace);

#endif
