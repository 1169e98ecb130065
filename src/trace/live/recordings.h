// SPDX-License-Identifier: MIT
/*
 * The recordings of a user: those in progress, and the remains of processes that were
 * killed.  Each recorded process has a link to its live file, by pid, in a folder that
 * only its user may enter (rt/live.c).
 *
 *     struct cunei_recordings recordings = {0};
 *     cunei_recordings_find(&recordings, folders, count);
 *     … recordings.items[i].folder …
 *     cunei_recordings_fini(&recordings);
 */
#ifndef CUNEI_TRACE_LIVE_RECORDINGS_H
#define CUNEI_TRACE_LIVE_RECORDINGS_H

#include <stddef.h>
#include <stdint.h>

struct cunei_recording {
    uint32_t pid;
    char *folder; /* owned: of the process, in its trace */
};

struct cunei_recordings {
    struct cunei_recording *items; /* owned, by pid */
    size_t count;
};

/* Look at the links in these folders; one that is not the caller's is passed over. */
void cunei_recordings_find(struct cunei_recordings *recordings, char *const *folders,
                           size_t count);

/* The newest with this pid, or NULL. */
const struct cunei_recording *cunei_recordings_of(
    const struct cunei_recordings *recordings, uint32_t pid);
void cunei_recordings_fini(struct cunei_recordings *recordings);

#endif
