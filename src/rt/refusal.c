// SPDX-License-Identifier: MIT
#include "rt/refusal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/safe_open.h"
#include "base/units.h"
#include "base/vector.h"
#include "python/refusal_reason.h"
#include "python/refusals.h"
#include "rt/clock.h"
#include "rt/folder.h"
#include "wire/record_env.h"

#define BACKLOG    4096
#define MESSAGE_MS 100 /* from a connection to its message … */
#define ALL_MS     500 /* … and of all of them together */

struct message {
    uint64_t secret;
    int64_t error;
    int64_t pid; /* that could not record: the sender's, or a child's */
};

static socklen_t name_socket(uint64_t number, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int size = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
                        "cunei-%016" PRIx64, number);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
}

static int leave_file(int directory, int64_t pid, int error)
{
    char name[64];

    /* The reason is in the name: a full disk may still take that. */
    (void)snprintf(name, sizeof(name), CUNEI_REFUSAL_NAME "%" PRId64 "-%d", pid, error);
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    /* A file that is there is counted already. */
    if (fd < 0)
        return errno == EEXIST ? 0 : -errno;
    close(fd);
    return 0;
}

/* Whether there is a file now that the launcher reads. */
static bool leave_own_file(const char *path, const struct cunei_file_id *id,
                           int64_t pid, int error)
{
    struct stat status;

    int directory = cunei_safe_open_directory(path, id);
    if (directory < 0)
        return false;
    bool is_left = leave_file(directory, pid, error) == 0;
    bool is_own = fstat(directory, &status) == 0 && status.st_uid == geteuid();
    close(directory);
    return is_left && is_own;
}

/* -ENOTCONN: the launcher does not listen. */
static int send_message(const struct cunei_launcher *launcher, pid_t pid, int error)
{
    const struct message message = {
        .secret = launcher->secret, .error = error, .pid = pid};
    struct sockaddr_un address;

    if (!launcher->secret)
        return -ENOTCONN;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    socklen_t size = name_socket(launcher->socket, &address);
    int rc = connect(fd, (const struct sockaddr *)&address, size) < 0 ||
                     send(fd, &message, sizeof(message), MSG_NOSIGNAL) < 0
                 ? -errno
                 : 0;
    close(fd);
    return rc;
}

void cunei_refusal_leave(const struct cunei_record_env *session, pid_t pid, int error)
{
    if (!leave_own_file(session->directory, &session->directory_id, pid, error))
        (void)send_message(&session->launcher, pid, error);
}

void cunei_refusal_report_loss(const struct cunei_folder *folder,
                               const struct cunei_launcher *launcher)
{
    if (send_message(launcher, getpid(), CUNEI_REFUSAL_MOVED) == 0)
        return;
    int directory = cunei_folder_open_parent(folder);
    if (directory < 0)
        return;
    (void)leave_file(directory, getpid(), CUNEI_REFUSAL_MOVED);
    close(directory);
}

/* A name that can be predicted could be taken by another user beforehand. */
static int choose_numbers(struct cunei_launcher *launcher)
{
    uint64_t numbers[2];

    if (getrandom(numbers, sizeof(numbers), GRND_NONBLOCK) != (ssize_t)sizeof(numbers))
        return -EAGAIN;
    launcher->socket = numbers[0];
    launcher->secret = numbers[1];
    return 0;
}

int cunei_refusal_listen(struct cunei_launcher *launcher)
{
    struct sockaddr_un address;

    int low = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (low < 0)
        return -errno;
    int fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int rc = fd < 0 ? -errno : fd;
    close(low);
    if (rc < 0)
        return rc;
    int error = -choose_numbers(launcher);
    socklen_t size = name_socket(launcher->socket, &address);
    if (!error && (bind(fd, (const struct sockaddr *)&address, size) < 0 ||
                   listen(fd, BACKLOG) < 0))
        error = errno;
    if (!error)
        return fd;
    close(fd);
    return -error;
}

/*
 * Another user may own the trace directory, and make files there.  A process of another
 * user below the launcher sends a message.
 */
static bool is_trusted(int folder, const char *name, uid_t owner)
{
    struct stat status;

    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           (status.st_uid == geteuid() || status.st_uid == 0 || status.st_uid == owner);
}

/* `owner`: files of that user count as well as those of the caller. */
static void collect_files(DIR *folder, uid_t owner, struct cunei_refusals *refusals)
{
    for (struct dirent *entry; (entry = readdir(folder));) {
        const size_t prefix = strlen(CUNEI_REFUSAL_NAME);
        const char *dash = strrchr(entry->d_name, '-');
        if (strncmp(entry->d_name, CUNEI_REFUSAL_NAME, prefix) == 0 &&
            is_trusted(dirfd(folder), entry->d_name, owner))
            cunei_refusals_add(refusals, strtol(entry->d_name + prefix, NULL, 10),
                               strtol(dash + 1, NULL, 10));
    }
}

/* Whether there is something to be read before this time. */
static bool await_input(int fd, uint64_t end_ns)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    int count;

    do {
        uint64_t now_ns = cunei_clock_ns(CLOCK_MONOTONIC);
        uint64_t left_ns = now_ns < end_ns ? end_ns - now_ns : 0;
        count = poll(&ready, 1, (int)(left_ns / CUNEI_NS_PER_MS));
    } while (count < 0 && errno == EINTR);
    return count == 1;
}

/* A message with the secret, awaited until this time; false: another, or none. */
static bool receive(int fd, uint64_t secret, uint64_t end_ns, struct message *message)
{
    return await_input(fd, end_ns) &&
           recv(fd, message, sizeof(*message), MSG_DONTWAIT) ==
               (ssize_t)sizeof(*message) &&
           message->secret == secret;
}

/* A process that sent a message, and the one in the message. */
struct sender {
    pid_t peer;
    int64_t pid;
};

/* Those whose messages were counted. */
struct senders {
    struct sender *items; /* owned */
    size_t count;
};

/*
 * The kernel names the sender, which may send a message for each of its children.  0,
 * in another pid namespace, may be several.
 */
static bool is_first(struct senders *senders, int fd, int64_t pid)
{
    struct ucred peer = {0};
    socklen_t size = sizeof(peer);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return false;
    for (size_t i = 0; peer.pid && i < senders->count; i++) {
        if (senders->items[i].peer == peer.pid && senders->items[i].pid == pid)
            return false;
    }
    if (CUNEI_VECTOR_RESERVE_ONE(senders->items, senders->count))
        senders->items[senders->count++] = (struct sender){peer.pid, pid};
    return true;
}

/* The launcher at work. */
struct receiver {
    uint64_t secret;
    int directory; /* -1: it is gone */
    size_t files;  /* how many refusals come from files */
    struct cunei_refusals *refusals;
};

/* Whether the process has left a file as well. */
static bool has_file(const struct receiver *receiver, const struct message *message)
{
    const struct cunei_refusal *items = receiver->refusals->items;
    bool has = false;

    for (size_t i = 0; !has && i < receiver->files; i++)
        has = items[i].pid == message->pid && items[i].reason == message->error;
    return has;
}

/* Such a message is kept in the directory, where other commands find it. */
static void add_message(const struct receiver *receiver, const struct message *message)
{
    bool is_reason = message->error > 0 && message->error <= CUNEI_REFUSAL_MAX;

    if (has_file(receiver, message))
        return;
    cunei_refusals_add(receiver->refusals, message->pid, message->error);
    if (receiver->directory >= 0 && is_reason)
        (void)leave_file(receiver->directory, message->pid, (int)message->error);
}

/*
 * Connections that stay silent use up the time to wait; behind them, messages that have
 * arrived are still read.  Connections that keep coming are not read for ever.
 */
static void receive_messages(int listener, const struct receiver *receiver)
{
    uint64_t end_ns = cunei_clock_ns(CLOCK_MONOTONIC) + ALL_MS * CUNEI_NS_PER_MS;
    struct senders senders = {0};

    for (int i = 0; i <= BACKLOG; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            break;
        uint64_t until_ns =
            cunei_clock_ns(CLOCK_MONOTONIC) + MESSAGE_MS * CUNEI_NS_PER_MS;
        struct message message = {0};
        if (receive(fd, receiver->secret, until_ns < end_ns ? until_ns : end_ns,
                    &message) &&
            is_first(&senders, fd, message.pid))
            add_message(receiver, &message);
        close(fd);
    }
    free(senders.items);
}

/* The owner's files are believed as well as ours. */
static void read_files(int directory, uid_t owner, struct cunei_refusals *refusals)
{
    DIR *folder = cunei_safe_list_folder(directory, ".");

    if (!folder)
        return;
    collect_files(folder, owner, refusals);
    (void)closedir(folder);
}

/* The launcher does not believe another user, who may own the directory. */
void cunei_refusal_receive(const char *path, const struct cunei_file_id *id,
                           int listener, uint64_t secret,
                           struct cunei_refusals *refusals)
{
    int directory = cunei_safe_open_directory(path, id);

    if (directory >= 0)
        read_files(directory, geteuid(), refusals);
    const struct receiver receiver = {secret, directory, refusals->count, refusals};
    if (listener >= 0)
        receive_messages(listener, &receiver);
    if (directory >= 0)
        close(directory);
}

void cunei_refusal_read(const char *path, struct cunei_refusals *refusals)
{
    const struct cunei_file_id any = {0};
    struct stat status;

    int directory = cunei_safe_open_directory(path, &any);
    if (directory < 0)
        return;
    if (fstat(directory, &status) == 0)
        read_files(directory, status.st_uid, refusals);
    close(directory);
}
