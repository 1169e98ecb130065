// SPDX-License-Identifier: MIT
/* Copies one process of a recording into a snapshot; private to snapshot.c. */
#ifndef CUNEI_TRACE_RECOVERY_SNAPSHOT_PROCESS_H
#define CUNEI_TRACE_RECOVERY_SNAPSHOT_PROCESS_H

#include <stdint.h>

#include "trace/directory/open_options.h"

struct cunei_snapshot;
struct cunei_snapshot_options;
struct cunei_trace_error;
struct cunei_trace_process;

struct cunei_snapshot_process {
    const struct cunei_snapshot_options *options;
    struct cunei_trace_open_options opening; /* without a folder for the ring */
    struct cunei_snapshot *snapshot;         /* what was copied is added to it */
    struct cunei_trace_error *error;
    _Atomic uint64_t *file_bytes; /* of all processes */
    int to;                       /* the folder of the snapshot */
};

/* Negative errno: `error` is filled in, unless there is no memory. */
int cunei_snapshot_process_copy(const struct cunei_snapshot_process *copy,
                                const struct cunei_trace_process *listed);

#endif
