// SPDX-License-Identifier: MIT
/*
 * A connection to an armed process: to its socket, or from it to a port of ours.
 *
 *     struct cunei_connection connection;
 *     rc = cunei_connection_open(&connection, &facts, &error);
 *     if (rc == 0)
 *         rc = cunei_connection_ask(&connection, &request, timeout_ns, &answer,
 * &error); … cunei_connection_close(&connection);
 *
 * The other end may be hostile: what it says is checked, and its texts are printed like
 * those of a trace.
 */
#ifndef CUNEI_ATTACH_CONNECTION_H
#define CUNEI_ATTACH_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/error.h"
#include "base/buffer.h"
#include "wire/control_message.h"

struct cunei_process_facts;

struct cunei_connection {
    int fd;                 /* -1: closed */
    pid_t pid;              /* of the other end, as we number it */
    struct cunei_buffer in; /* what has come of the next answer */
};

/*
 * Connect to the socket of a process.  -ENOENT: it is not armed; -EACCES, -EPERM: it is
 * another user's.
 */
int cunei_connection_open(struct cunei_connection *connection,
                          const struct cunei_process_facts *process,
                          struct cunei_attach_error *error);

/*
 * A descriptor that listens at a path, which is made: for this user alone, or for all
 * if that is root.
 */
int cunei_connection_listen(const char *path, struct cunei_attach_error *error);

/* Take a process that connects there; only those of this user, or any for root.
 * -EAGAIN: none has come yet. */
int cunei_connection_accept(struct cunei_connection *connection, int port);

/*
 * Send a request and wait for its answer, which the caller ends.  -EPIPE: the process
 * has closed the connection (it forks, or ends); -ETIMEDOUT: it does not answer;
 * -EREMOTEIO: it refuses, the reason is in `error` as in the answer.  After any other
 * error the connection is closed.
 */
int cunei_connection_ask(struct cunei_connection *connection,
                         const struct cunei_control_request *request,
                         uint64_t timeout_ns, struct cunei_control_answer *answer,
                         struct cunei_attach_error *error);

/* Whether the other end has closed it. */
bool cunei_connection_is_gone(const struct cunei_connection *connection);
void cunei_connection_close(struct cunei_connection *connection);

#endif
