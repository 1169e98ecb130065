// SPDX-License-Identifier: MIT
/* What a replay prints and keeps of the events between calls. */
#ifndef CUNEI_REPORT_REPLAY_REPLAY_EVENTS_H
#define CUNEI_REPORT_REPLAY_REPLAY_EVENTS_H

struct cunei_replay_line;
struct cunei_walk_step;

/* Keep what a later line needs; also where this event is not shown.  -ENOMEM. */
int cunei_replay_event_keep(struct cunei_replay_line *replay,
                            const struct cunei_walk_step *step);

/* Print the line of an event, or of a switch of greenlets.  A negative errno. */
int cunei_replay_event_print(struct cunei_replay_line *replay,
                             const struct cunei_walk_step *step);
int cunei_replay_switch_print(struct cunei_replay_line *replay,
                              const struct cunei_walk_step *step);

#endif
