// SPDX-License-Identifier: MIT
/*
 * A snapshot: what was recorded up to one instant, copied from outside into an ordinary
 * trace.  The programs are not asked and not stopped, and may be dead.
 *
 * All processes are cut at one value of the machine's counter.  An event that a thread
 * has read the clock for, and not stored yet, is not in it.
 */
#ifndef CUNEI_TRACE_RECOVERY_SNAPSHOT_H
#define CUNEI_TRACE_RECOVERY_SNAPSHOT_H

#include "trace/recovery/snapshot_data.h"

struct cunei_trace_error;

/*
 * Copy the trace at `path`, or one process's folder, into the empty folder `to`.
 * Negative errno with `error` filled in: as from cunei_trace_open, or what could not be
 * written; `to` may then hold a part.  -E2BIG: it would have more than `max_bytes`.
 */
int cunei_trace_snapshot(const char *path, int to,
                         const struct cunei_snapshot_options *options,
                         struct cunei_snapshot *snapshot,
                         struct cunei_trace_error *error);

#endif
