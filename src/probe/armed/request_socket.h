// SPDX-License-Identifier: MIT
/*
 * The socket of an armed process: in the runtime folder of its user, which other users
 * cannot enter.  Only this user and root are accepted.
 */
#ifndef CUNEI_PROBE_ARMED_REQUEST_SOCKET_H
#define CUNEI_PROBE_ARMED_REQUEST_SOCKET_H

#include <sys/types.h>

#define CUNEI_REQUEST_SOCKET_NAME_SIZE 64

struct cunei_request_socket {
    int folder; /* where it is */
    char name[CUNEI_REQUEST_SOCKET_NAME_SIZE];
    int fd; /* listens, never blocks */
};

/*
 * Open the socket of this process, and remove some of those that processes left that
 * were killed.  -ENOENT: this user has no runtime folder.
 */
int cunei_request_socket_open(struct cunei_request_socket *socket);

/* Remove and close it; not in a forked child. */
void cunei_request_socket_close(struct cunei_request_socket *socket);

/* A connection that does not block.  -EAGAIN: no controller waits; -EPERM: another
 * user. */
int cunei_request_socket_accept(const struct cunei_request_socket *socket);

/*
 * Connect to a controller that waits at the absolute path.  -EPERM: it is neither this
 * user nor root.
 */
int cunei_request_socket_connect(const char *path);

#endif
