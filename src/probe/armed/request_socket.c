// SPDX-License-Identifier: MIT
#include "probe/armed/request_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "rt/runtime_folder.h"
#include "wire/control_message.h"

enum { WAITING_MAX = 8 /* controllers that were not accepted yet */ };

static int make_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    return fd < 0 ? -errno : fd;
}

static int set_path(struct sockaddr_un *address, const char *path)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address->sun_path))
        return -ENAMETOOLONG;
    memcpy(address->sun_path, path, strlen(path) + 1);
    return 0;
}

/* The mode is that of the socket when it gets its name. */
static int listen_at(int fd, const char *path)
{
    struct sockaddr_un address;

    int rc = set_path(&address, path);
    if (rc < 0)
        return rc;
    /* It was left by a killed process with the same number. */
    (void)unlink(path);
    if (fchmod(fd, 0600) < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
        listen(fd, WAITING_MAX) < 0)
        return -errno;
    return 0;
}

int cunei_request_socket_open(struct cunei_request_socket *socket)
{
    char *folder = cunei_runtime_folder();
    char *path = NULL;

    if (!folder)
        return -ENOENT;
    int length = asprintf(&path, "%s/" CUNEI_CONTROL_SOCKET, folder, (int)getpid());
    free(folder);
    if (length < 0)
        return -ENOMEM;
    int fd = make_socket();
    int rc = fd < 0 ? fd : listen_at(fd, path);
    if (rc < 0) {
        if (fd >= 0)
            close(fd);
        free(path);
        return rc;
    }
    *socket = (struct cunei_request_socket){path, fd};
    return 0;
}

void cunei_request_socket_close(struct cunei_request_socket *socket)
{
    (void)unlink(socket->path);
    close(socket->fd);
    free(socket->path);
    *socket = (struct cunei_request_socket){.fd = -1};
}

/* Whether the other end is this user or root. */
static int check_peer(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return -errno;
    return peer.uid == 0 || peer.uid == geteuid() ? 0 : -EPERM;
}

int cunei_request_socket_accept(const struct cunei_request_socket *socket)
{
    int fd = accept4(socket->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return errno == ECONNABORTED || errno == EINTR ? -EAGAIN : -errno;
    int rc = check_peer(fd);
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

int cunei_request_socket_connect(const char *path)
{
    struct sockaddr_un address;

    int rc = set_path(&address, path);
    int fd = rc < 0 ? rc : make_socket();
    if (fd < 0)
        return fd;
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        rc = -errno;
    if (rc == 0)
        rc = check_peer(fd);
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}
