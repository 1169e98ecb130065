// SPDX-License-Identifier: MIT
/*
 * The recording of an armed process that is not found by its pid: of another user, or
 * in a container.  The process itself is asked for it.
 *
 *     struct cunei_attached_recording recording = {0};
 *     if (cunei_attached_recording_find(&recording, "4711"))
 *         … recording.path …
 *     cunei_attached_recording_fini(&recording);
 */
#ifndef CUNEI_CMD_ATTACH_ATTACHED_RECORDING_H
#define CUNEI_CMD_ATTACH_ATTACHED_RECORDING_H

#include <stdbool.h>

#include "cmd/attach/remote_directory.h"

struct cunei_attached_recording {
    char *path; /* owned: of the trace, as long as this struct is in use */
    struct cunei_remote_directory remote;
};

/* False: the word is no pid, or the process takes no requests, or does not record.
 * Prints nothing. */
bool cunei_attached_recording_find(struct cunei_attached_recording *recording,
                                   const char *word);
void cunei_attached_recording_fini(struct cunei_attached_recording *recording);

#endif
