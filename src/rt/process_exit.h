// SPDX-License-Identifier: MIT
/* The exit status of a recorded process; private to rt/. */
#ifndef CUNEI_RT_PROCESS_EXIT_H
#define CUNEI_RT_PROCESS_EXIT_H

struct cunei_recorder_state;

/* Watch for exit(3); call it once, before the first recording. */
void cunei_process_exit_watch(struct cunei_recorder_state *recording);

#endif
