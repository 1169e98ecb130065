// SPDX-License-Identifier: MIT
/* How a recorded process and its children ended. */
#ifndef CUNEI_RT_PROCESS_EXIT_H
#define CUNEI_RT_PROCESS_EXIT_H

#include <stdbool.h>
#include <sys/types.h>

struct cunei_recorder_state;

/* Watch for exit(3); call it once, before the first recording.  Private to rt/. */
void cunei_process_exit_watch(struct cunei_recorder_state *recording);

/*
 * This process has waited for its child `pid`, to which it had sent the signal
 * `sent_signal`, or 0.  Written to the description where the child did not end its
 * recording itself.
 */
void cunei_process_exit_note_child(pid_t pid, int wait_status, int sent_signal);

/*
 * Whether a process has made a folder in this recording's directory; true as well where
 * that is unknown, because this process does not record.
 */
bool cunei_process_exit_has_folder(pid_t pid);

#endif
