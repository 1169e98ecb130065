// SPDX-License-Identifier: MIT
#include "probe/armed/request_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "rt/runtime_folder.h"
#include "wire/control_message.h"

enum {
    WAITING_MAX = 64, /* controllers that were not accepted yet */
    SWEEP_MAX = 100
};

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

static uint64_t number_of_pid_namespace(void)
{
    struct stat status;

    return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

/* The process of a socket in our pid namespace; 0: it is none. */
static pid_t owner_of(const char *name, uint64_t namespace)
{
    char same[CUNEI_REQUEST_SOCKET_NAME_SIZE];
    pid_t pid = (pid_t)strtol(name, NULL, 10);

    (void)snprintf(same, sizeof(same), CUNEI_CONTROL_SOCKET, (int)pid, namespace);
    return strcmp(name, same) == 0 ? pid : 0;
}

/*
 * Forked children that end with os._exit() leave theirs, as killed processes do.  The
 * newest come first, so that a few looks are enough.
 */
static void sweep(int folder, uint64_t namespace)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *sockets = fd < 0 ? NULL : fdopendir(fd);
    unsigned left = SWEEP_MAX;

    if (!sockets) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; left-- > 0 && (entry = readdir(sockets));) {
        pid_t pid = owner_of(entry->d_name, namespace);
        if (pid > 0 && kill(pid, 0) < 0 && errno == ESRCH)
            (void)unlinkat(folder, entry->d_name, 0);
    }
    (void)closedir(sockets);
}

/* A path of any length: /proc/self would be the descriptors of the program. */
static int set_path_in(struct sockaddr_un *address, int folder, const char *name)
{
    char path[sizeof(address->sun_path)];

    (void)snprintf(path, sizeof(path), "/proc/thread-self/fd/%d/%s", folder, name);
    return set_path(address, path);
}

/* The mode is that of the socket when it gets its name. */
static int bind_in(int fd, int folder, const char *path, const char *name)
{
    struct sockaddr_un address;

    int rc = set_path(&address, path);
    if (rc < 0)
        rc = set_path_in(&address, folder, name);
    (void)unlinkat(folder, name, 0);
    if (rc == 0 && (fchmod(fd, 0600) < 0 ||
                    bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0))
        rc = -errno;
    return rc;
}

/*
 * It gets its name when it listens; that replaces the one of a killed process with the
 * same number.
 */
static int listen_in(struct cunei_request_socket *socket, const char *folder)
{
    char first[CUNEI_REQUEST_SOCKET_NAME_SIZE + 8], *path = NULL;

    (void)snprintf(first, sizeof(first), "%s.new", socket->name);
    if (asprintf(&path, "%s/%s", folder, first) < 0)
        return -ENOMEM;
    int rc = bind_in(socket->fd, socket->folder, path, first);
    free(path);
    if (rc == 0 && (listen(socket->fd, WAITING_MAX) < 0 ||
                    renameat(socket->folder, first, socket->folder, socket->name) < 0))
        rc = -errno;
    return rc;
}

static int open_in(struct cunei_request_socket *socket, const char *folder)
{
    uint64_t namespace = number_of_pid_namespace();

    (void)snprintf(socket->name, sizeof(socket->name), CUNEI_CONTROL_SOCKET,
                   (int)getpid(), namespace);
    socket->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (socket->folder < 0)
        return -errno;
    sweep(socket->folder, namespace);
    socket->fd = make_socket();
    return socket->fd < 0 ? socket->fd : listen_in(socket, folder);
}

int cunei_request_socket_open(struct cunei_request_socket *socket)
{
    struct cunei_request_socket opened = {.folder = -1, .fd = -1};
    char *folder = cunei_runtime_folder();
    int rc = folder ? open_in(&opened, folder) : -ENOENT;

    free(folder);
    if (rc == 0) {
        *socket = opened;
        return 0;
    }
    if (opened.fd >= 0)
        close(opened.fd);
    if (opened.folder >= 0)
        close(opened.folder);
    return rc;
}

void cunei_request_socket_close(struct cunei_request_socket *socket)
{
    (void)unlinkat(socket->folder, socket->name, 0);
    close(socket->fd);
    close(socket->folder);
    *socket = (struct cunei_request_socket){.folder = -1, .fd = -1};
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
