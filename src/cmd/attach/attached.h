// SPDX-License-Identifier: MIT
/*
 * The processes that record for a controller: the one that it has attached, and those
 * that were forked from it since.
 *
 *     struct cunei_attached_processes attached = {.session = number, .timeout_ns = …};
 *     rc = cunei_attached_add(&attached, &connection, &facts);
 *     while (cunei_attached_update(&attached, directory) > 0)
 *         … wait …
 *     rc = cunei_attached_stop(&attached, &error);
 *     cunei_attached_fini(&attached);
 *
 * An armed process closes its connections when it forks.  They are opened again, to
 * parent and child.
 */
#ifndef CUNEI_CMD_ATTACH_ATTACHED_H
#define CUNEI_CMD_ATTACH_ATTACHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/connection.h"
#include "attach/process_facts.h"

struct cunei_attached_process {
    struct cunei_connection connection; /* closed: it is looked for */
    struct cunei_process_facts facts;
    uint64_t missing_since; /* ns; 0: it is connected */
    bool has_left;          /* it has ended, or records for us no more */
};

struct cunei_attached_processes {
    uint64_t session, timeout_ns;
    struct cunei_attached_process *items; /* owned */
    size_t count, capacity;
};

/* Take the connection over. */
int cunei_attached_add(struct cunei_attached_processes *attached,
                       struct cunei_connection *connection,
                       const struct cunei_process_facts *facts);

/*
 * Connect again to those that have closed their connections, and to those that have
 * begun to record into the directory.  Returns how many still record.
 */
size_t cunei_attached_update(struct cunei_attached_processes *attached,
                             const char *directory);

/* Ask each of them; the first that refuses says why in `error`. */
int cunei_attached_ask(struct cunei_attached_processes *attached,
                       const struct cunei_control_request *request,
                       struct cunei_attach_error *error);

/*
 * End the recordings, and disarm the processes that were armed by attaching.  -EIO: one
 * did not answer, and records on for at most 2 s.
 */
int cunei_attached_stop(struct cunei_attached_processes *attached,
                        struct cunei_attach_error *error);
void cunei_attached_fini(struct cunei_attached_processes *attached);

/* What armed a process by attaching to it: it is disarmed at the end. */
#define CUNEI_ATTACHED_ARMED_BY "cunei attach"

#endif
