// SPDX-License-Identifier: MIT
/*
 * Making a trace whole again whose writer was killed.
 *
 * A torn packet is cut off each stream file, what only the live file holds is appended,
 * a torn line of the metadata is cut, the clock in it corrected, what was lost noted in
 * the description, and the live file removed: in an order that lets an interrupted
 * recovery be done again.  Stock babeltrace2 reads the result.
 *
 * It happens only in a folder of the caller.  In that of another user, who may put
 * links in it at any time, root would write wherever that user wants.
 */
#ifndef CUNEI_TRACE_RECOVERY_RECOVER_H
#define CUNEI_TRACE_RECOVERY_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/directory/trace.h"

enum cunei_trace_outcome {
    CUNEI_RECOVER_NOTHING,   /* it is whole */
    CUNEI_RECOVER_RUNNING,   /* its writer is alive, or recovery is under way */
    CUNEI_RECOVER_ELSEWHERE, /* of another machine: its writer cannot be looked for */
    CUNEI_RECOVER_FOREIGN,   /* of another user: nothing is written there */
    CUNEI_RECOVER_DONE,
};

struct cunei_trace_recovery {
    enum cunei_trace_outcome outcome;
    uint64_t packets;      /* appended */
    uint64_t bytes;        /* of them */
    uint64_t cut_bytes;    /* torn ends */
    uint64_t damaged;      /* live packets of which only a beginning could be kept */
    bool is_clock_changed; /* its frequency was corrected */
};

struct cunei_trace_recover_options {
    bool elsewhere;    /* take it that processes of other machines do not run */
    char *pointers[2]; /* folders with links to live files, by pid; or NULL */
};

/*
 * Recover the process in `folder`.  Negative errno with `error` filled in: it cannot be
 * opened, or not be written (-EROFS, -EACCES, -ENOSPC …); what was there still is.
 */
int cunei_trace_recover(const char *folder,
                        const struct cunei_trace_recover_options *options,
                        struct cunei_trace_recovery *recovery,
                        struct cunei_trace_error *error);

#endif
