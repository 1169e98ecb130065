// SPDX-License-Identifier: MIT
/* From a pid to a connection: the process is looked at, and armed if it is not. */
#ifndef CUNEI_CMD_ATTACH_CONNECT_H
#define CUNEI_CMD_ATTACH_CONNECT_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/connection.h"
#include "attach/target.h"

/* The pid of a word that a user typed; 0: it is none. */
pid_t cunei_attach_pid(const char *word);

/* Look at the process that a user has named.  Returns 0, or the exit status after an
 * error message. */
int cunei_attach_open_target(const char *word, struct cunei_target *target);

/*
 * Connect to the process with this pid.  `arm`: into one that is not armed, a script is
 * injected that arms it.  Returns 0, or the exit status after an error message; the
 * caller ends both.
 */
int cunei_attach_connect(const char *word, bool arm, uint64_t timeout_ns,
                         struct cunei_target *target,
                         struct cunei_connection *connection);

/*
 * cunei_connection_ask, also where the process closes the connection because it forks:
 * it is connected again, and the request sent again.  -ESRCH: it has ended.
 */
int cunei_attach_ask(struct cunei_connection *connection,
                     const struct cunei_process_facts *process,
                     const struct cunei_control_request *request, uint64_t timeout_ns,
                     struct cunei_control_answer *answer,
                     struct cunei_attach_error *error);

/*
 * Listen at a path, and wait for a program that connects to it.  Returns as above.
 */
int cunei_attach_await(const char *path, struct cunei_target *target,
                       struct cunei_connection *connection);

#endif
