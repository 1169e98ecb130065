// SPDX-License-Identifier: MIT
#include "attach/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "attach/process_facts.h"
#include "attach/target_root.h"
#include "base/syntax_error.h"
#include "base/units.h"
#include "wire/live_place.h"

#define ENVIRONMENT_MAX (8u << 20)
#define FOLDERS_MAX     2
#define PATH_SIZE       4200

/* Programs that have connected to a port of ours, and were not accepted yet. */
#define PORT_WAITING_MAX 16

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * CUNEI_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Where its runtime folder may be, as the process names it. */
struct folders {
    char paths[FOLDERS_MAX][PATH_SIZE];
    size_t count;
};

static void find_folders(const struct cunei_process_facts *process, uid_t user,
                         struct folders *folders)
{
    struct cunei_buffer environment = {0};
    const char *base = NULL;

    if (cunei_process_file_read(process->pid, "environ", ENVIRONMENT_MAX,
                                &environment) == 0)
        base = cunei_process_variable(&environment, "XDG_RUNTIME_DIR");
    folders->count = 0;
    if (base && base[0] == '/' && strlen(base) < PATH_SIZE - 10)
        (void)snprintf(folders->paths[folders->count++], PATH_SIZE, "%s/cunei", base);
    (void)snprintf(folders->paths[folders->count++], PATH_SIZE,
                   CUNEI_LIVE_MEMORY_FOLDER, (unsigned)user);
    cunei_buffer_fini(&environment);
}

static int make_socket(int flags)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);

    return fd < 0 ? -errno : fd;
}

/* It is a socket: a link would lead to one of ours. */
static int open_socket_in(int folder, const struct cunei_process_facts *process)
{
    char name[64];
    struct stat status;

    (void)snprintf(name, sizeof(name), CUNEI_CONTROL_SOCKET, (int)process->inner_pid,
                   process->pid_namespace);
    int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode))
        return fd;
    close(fd);
    return -ENOENT;
}

/*
 * Through a descriptor, as the path may be too long for an address, and may change.
 * -EAGAIN: too many wait for it already.
 */
static int connect_to_opened(int opened)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d",
                   opened);
    int fd = make_socket(SOCK_NONBLOCK);
    if (fd < 0)
        return fd;
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    int rc = -errno;
    close(fd);
    /* A process that was killed has left its socket. */
    return rc == -ECONNREFUSED ? -ENOENT : rc;
}

static int connect_in(int folder, const struct cunei_process_facts *process)
{
    int opened = open_socket_in(folder, process);
    if (opened < 0)
        return opened;
    int fd = connect_to_opened(opened);
    close(opened);
    return fd;
}

/* -ESTALE: another process listens there. */
static int check_peer(int fd, pid_t pid)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return -errno;
    return peer.pid == pid ? 0 : -ESTALE;
}

/* In a folder of that user, who may not be the caller. */
static int connect_below(const struct cunei_process_facts *process, int root,
                         const char *path, uid_t user)
{
    struct stat status;

    int folder = cunei_target_root_open_folder(root, path, &status);
    if (folder == -ENOTDIR || folder == -ELOOP || folder == -ESTALE)
        return -ENOENT;
    if (folder < 0)
        return folder;
    int fd = status.st_uid == user ? connect_in(folder, process) : -ENOENT;
    close(folder);
    if (fd < 0)
        return fd;
    int rc = check_peer(fd, process->pid);
    if (rc == 0)
        return fd;
    close(fd);
    return rc == -ESTALE ? -ENOENT : rc;
}

static int connect_in_folders(const struct cunei_process_facts *process, int root,
                              uid_t user)
{
    struct folders folders;
    int fd = -ENOENT;

    find_folders(process, user, &folders);
    for (size_t i = 0; i < folders.count && fd == -ENOENT; i++)
        fd = connect_below(process, root, folders.paths[i], user);
    return fd;
}

/* Of this thread alone, unlike seteuid(3). */
static int become(uid_t user)
{
    return syscall(SYS_setresuid, -1, user, -1) < 0 ? -errno : 0;
}

/*
 * Root becomes the process's user meanwhile: so it is accepted where its root is
 * another user namespace's, and opens nothing that this user may not open.
 */
static int connect_as_its_user(const struct cunei_process_facts *process, int root)
{
    bool is_root = geteuid() == 0 && process->effective_uid != 0;

    int rc = is_root ? become(process->effective_uid) : 0;
    if (rc < 0)
        return rc;
    int fd = connect_in_folders(process, root, process->effective_uid);
    if (is_root)
        (void)become(0); /* root still is the saved user, so it succeeds */
    return fd;
}

/* A server that was started by root, and is another user's since, was armed by root. */
static int connect_to(const struct cunei_process_facts *process)
{
    int root = cunei_target_root_open(process->pid);
    if (root < 0)
        return root;
    int fd = connect_as_its_user(process, root);
    if ((fd == -ENOENT || fd == -EACCES) && geteuid() == 0 &&
        process->effective_uid != 0)
        fd = connect_in_folders(process, root, 0);
    close(root);
    return fd;
}

int cunei_connection_open(struct cunei_connection *connection,
                          const struct cunei_process_facts *process,
                          struct cunei_attach_error *error)
{
    *connection = (struct cunei_connection){.fd = -1, .pid = process->pid};
    int fd = connect_to(process);
    if (fd >= 0) {
        connection->fd = fd;
        return 0;
    }
    if (fd == -ENOENT)
        return cunei_attach_fail(
            error, fd,
            "process %d takes no requests: it was not started with "
            "'cunei arm', and has not called cunei.arm()",
            (int)process->pid);
    if (fd == -EAGAIN)
        return cunei_attach_fail(error, fd,
                                 "process %d accepts no connection now: it is stopped, "
                                 "or its threads are in C code that does not release "
                                 "the GIL; try again later",
                                 (int)process->pid);
    return cunei_attach_fail(error, fd, "cannot connect to process %d: %s",
                             (int)process->pid, strerror(-fd));
}

static int listen_at(int fd, const struct sockaddr_un *address)
{
    mode_t mode = geteuid() == 0 ? 0666 : 0600;
    int rc = 0;

    /* It gets its mode with its name: whoever may rename things there could put a link
       in its place before chmod(2). */
    mode_t before = umask(0);
    if (fchmod(fd, mode) < 0 ||
        bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ||
        listen(fd, PORT_WAITING_MAX) < 0)
        rc = -errno;
    (void)umask(before);
    return rc;
}

/* Remove a socket of ours that no process listens on: its controller was killed. */
static bool remove_left(const struct sockaddr_un *address)
{
    struct stat status;
    bool is_left = false;

    if (lstat(address->sun_path, &status) < 0 || !S_ISSOCK(status.st_mode) ||
        status.st_uid != geteuid())
        return false;
    int fd = make_socket(SOCK_NONBLOCK);
    if (fd < 0)
        return false;
    is_left = connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
              errno == ECONNREFUSED;
    close(fd);
    return is_left && unlink(address->sun_path) == 0;
}

int cunei_connection_listen(const char *path, struct cunei_attach_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int rc = 0;

    if (strlen(path) >= sizeof(address.sun_path))
        return cunei_attach_fail(
            error, -ENAMETOOLONG,
            "the path of a socket has at most %zu bytes; '%s' is longer",
            sizeof(address.sun_path) - 1, path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = make_socket(SOCK_NONBLOCK);
    if (fd < 0)
        rc = fd;
    else
        rc = listen_at(fd, &address);
    if (rc == -EADDRINUSE && remove_left(&address))
        rc = listen_at(fd, &address);
    if (rc < 0 && fd >= 0)
        close(fd);
    if (rc == -EADDRINUSE)
        return cunei_attach_fail(error, rc,
                                 "'%s' exists already; choose another path, or remove "
                                 "it if no other cunei waits there",
                                 path);
    if (rc < 0)
        return cunei_attach_fail(error, rc, "cannot listen at '%s': %s", path,
                                 strerror(-rc));
    return fd;
}

int cunei_connection_accept(struct cunei_connection *connection, int port)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    int fd = accept4(port, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return -errno;
    int rc = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ? -errno : 0;
    if (rc == 0 && geteuid() != 0 && peer.uid != geteuid() && peer.uid != 0)
        rc = -EPERM;
    if (rc < 0) {
        close(fd);
        return rc;
    }
    *connection = (struct cunei_connection){.fd = fd, .pid = peer.pid};
    return 0;
}

/* Wait until it can be read or written; -ETIMEDOUT. */
static int await(const struct cunei_connection *connection, short events,
                 uint64_t deadline)
{
    struct pollfd ready = {.fd = connection->fd, .events = events};
    uint64_t now = now_ns();

    if (now >= deadline)
        return -ETIMEDOUT;
    int count = poll(&ready, 1, (int)((deadline - now) / CUNEI_NS_PER_MS) + 1);
    return count < 0 && errno != EINTR ? -errno : 0;
}

/* One that has closed the connection may have said why: that is read next. */
static int send_some(const struct cunei_connection *connection, const char *bytes,
                     size_t size, size_t *sent)
{
    ssize_t n = send(connection->fd, bytes, size, MSG_NOSIGNAL);

    *sent = n > 0 ? (size_t)n : 0;
    if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
        *sent = size;
    else if (n < 0 && errno != EINTR && errno != EAGAIN)
        return -errno;
    return 0;
}

static int send_line(const struct cunei_connection *connection,
                     const struct cunei_control_request *request, uint64_t deadline)
{
    struct cunei_buffer line = {0};
    size_t sent = 0;
    int rc = 0;

    cunei_control_request_format(request, &line);
    cunei_buffer_append_text(&line, "\n");
    if (line.failed)
        rc = -ENOMEM;
    else if (line.size > CUNEI_CONTROL_LINE_MAX)
        rc = -EMSGSIZE;
    for (size_t done = 0; rc == 0 && done < line.size; done += sent) {
        rc = await(connection, POLLOUT, deadline);
        if (rc == 0)
            rc = send_some(connection, line.data + done, line.size - done, &sent);
    }
    cunei_buffer_fini(&line);
    return rc;
}

/* Read more, until `deadline`. */
static int receive(struct cunei_connection *connection, uint64_t deadline)
{
    char bytes[4096];

    int rc = await(connection, POLLIN, deadline);
    if (rc < 0)
        return rc;
    ssize_t n = recv(connection->fd, bytes, sizeof(bytes), 0);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0
               : errno == ECONNRESET             ? -EPIPE
                                                 : -errno;
    cunei_buffer_append(&connection->in, bytes, (size_t)n);
    if (connection->in.size > CUNEI_CONTROL_LINE_MAX)
        return -EPROTO;
    return n == 0 ? -EPIPE : connection->in.failed ? -ENOMEM : 0;
}

static int take_answer(struct cunei_connection *connection, const char *end,
                       struct cunei_control_answer *answer)
{
    struct cunei_buffer *in = &connection->in;
    struct cunei_syntax_error syntax;
    size_t size = (size_t)(end - in->data);

    int rc = cunei_control_answer_parse(answer, in->data, size, &syntax);
    memmove(in->data, end + 1, in->size - size - 1);
    cunei_buffer_cut(in, in->size - size - 1);
    return rc == -EINVAL ? -EPROTO : rc;
}

static int wait_for_answer(struct cunei_connection *connection, uint64_t deadline,
                           struct cunei_control_answer *answer)
{
    const struct cunei_buffer *in = &connection->in;

    for (;;) {
        const char *end = in->size ? memchr(in->data, '\n', in->size) : NULL;
        if (end)
            return take_answer(connection, end, answer);
        int rc = receive(connection, deadline);
        if (rc < 0)
            return rc;
    }
}

static int explain(const struct cunei_connection *connection, int rc,
                   uint64_t timeout_ns, struct cunei_attach_error *error)
{
    int pid = (int)connection->pid;

    switch (rc) {
    case -ETIMEDOUT:
        return cunei_attach_fail(
            error, rc,
            "process %d has not answered for %.3g s: its threads are in C code that "
            "does not release the GIL, or it is stopped; try again later, or wait "
            "longer with --timeout",
            pid, (double)timeout_ns / (double)CUNEI_NS_PER_S);
    case -EPIPE:
        return cunei_attach_fail(error, rc, "process %d has closed the connection",
                                 pid);
    case -EPROTO:
        return cunei_attach_fail(error, rc,
                                 "process %d has another version of cunei; use the "
                                 "same version on both sides",
                                 pid);
    case -EMSGSIZE:
        return cunei_attach_fail(error, rc,
                                 "the patterns are too long for a request; replace "
                                 "several by one, for example by the name of their "
                                 "module");
    default:
        return cunei_attach_fail(error, rc, "cannot talk to process %d: %s", pid,
                                 strerror(-rc));
    }
}

static void hang_up(struct cunei_connection *connection)
{
    if (connection->fd >= 0)
        close(connection->fd);
    connection->fd = -1;
    cunei_buffer_fini(&connection->in);
}

int cunei_connection_ask(struct cunei_connection *connection,
                         const struct cunei_control_request *request,
                         uint64_t timeout_ns, struct cunei_control_answer *answer,
                         struct cunei_attach_error *error)
{
    uint64_t now = now_ns();
    uint64_t deadline = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
    int rc = connection->fd < 0 ? -EPIPE : send_line(connection, request, deadline);

    if (rc == 0)
        rc = wait_for_answer(connection, deadline, answer);
    if (rc < 0) {
        rc = explain(connection, rc, timeout_ns, error);
        /* The process does not carry a request out if its connection is closed. */
        hang_up(connection);
        return rc;
    }
    if (!answer->error)
        return 0;
    (void)cunei_attach_fail(error, rc, "%s", answer->error);
    cunei_control_answer_fini(answer);
    return -EREMOTEIO;
}

bool cunei_connection_is_gone(const struct cunei_connection *connection)
{
    struct pollfd end = {.fd = connection->fd, .events = POLLRDHUP};

    return connection->fd < 0 ||
           (poll(&end, 1, 0) > 0 && end.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

void cunei_connection_close(struct cunei_connection *connection)
{
    hang_up(connection);
    *connection = (struct cunei_connection){.fd = -1};
}
