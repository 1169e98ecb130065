// SPDX-License-Identifier: MIT
/*
 * A recording that is begun in a running program: by the controller that stays in the
 * foreground, or one that leaves at once.
 */
#ifndef CUNEI_CMD_ATTACH_SESSION_H
#define CUNEI_CMD_ATTACH_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/connection.h"
#include "attach/target.h"
#include "cmd/attach/attached.h"
#include "cmd/attach/remote_directory.h"
#include "cmd/record/recorded_run.h"

struct cunei_attach_session {
    struct cunei_recorded_run run; /* where to, and what; its options were checked */
    struct cunei_target target;
    struct cunei_connection connection; /* handed over when it begins */
    struct cunei_attached_processes attached;
    struct cunei_remote_directory
        remote; /* in another mount namespace, until the end */
    uint64_t timeout_ns;
};

/* Where the recording can be read while it is on. */
const char *cunei_attach_session_path(const struct cunei_attach_session *session);

/* Make the directory, `name` or a new one, for the process's user.  Returns 0, or the
 * exit status, as the others. */
int cunei_attach_session_make_directory(struct cunei_attach_session *session,
                                        const char *name);

/* The same for a temporary directory. */
int cunei_attach_session_make_temporary(struct cunei_attach_session *session);

/* Start the recording; `stay`: it goes on without a controller. */
int cunei_attach_session_begin(struct cunei_attach_session *session, bool stay);

/* Take over the recording that an answer names, to end or change it. */
int cunei_attach_session_adopt(struct cunei_attach_session *session,
                               const struct cunei_control_answer *answer);

/* Before it ends: a directory, as above, for what cannot be reached here. */
int cunei_attach_session_make_copy(struct cunei_attach_session *session,
                                   const char *name);

/* Wait until a signal asks us to end, `for_ns` is over (UINT64_MAX: never), or the
 * process has ended; whether it still runs. */
bool cunei_attach_session_wait(struct cunei_attach_session *session, uint64_t for_ns);

/* End the recording. */
int cunei_attach_session_end(struct cunei_attach_session *session);
void cunei_attach_session_fini(struct cunei_attach_session *session);

#endif
