// SPDX-License-Identifier: MIT
/* A call of a replay as a JSON object. */
#ifndef CUNEI_REPORT_REPLAY_REPLAY_JSON_H
#define CUNEI_REPORT_REPLAY_REPLAY_JSON_H

struct cunei_replay_line;
struct cunei_walk_step;

/* Print a call that has ended, or whose end is not in the trace. */
int cunei_replay_json_print(struct cunei_replay_line *replay,
                            const struct cunei_walk_step *step);

#endif
