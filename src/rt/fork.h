// SPDX-License-Identifier: MIT
/* Forks of a recorded process; private to rt/. */
#ifndef CUNEI_RT_FORK_H
#define CUNEI_RT_FORK_H

struct cunei_recorder_state;

/* Watch for forks; call it once, before the first recording.  `release` is called in
 * the child: it gives up the files of the parent's recording. */
void cunei_fork_watch(struct cunei_recorder_state *recording,
                      void (*release)(struct cunei_recorder_state *recording));

#endif
