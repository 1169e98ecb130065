// SPDX-License-Identifier: MIT
#include "rt/refusal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "python/refusal_reason.h"

#define BACKLOG    4096
#define MESSAGE_MS 100 /* from a connection to its message */

/* The socket's name follows from the directory. */
static socklen_t name_socket(const char *directory, struct sockaddr_un *address)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (const char *c = directory; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int size = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
                        "cunei-%016" PRIx64, hash);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
}

static int leave_file(const char *directory, int error)
{
    char *path = NULL;

    /* The reason is in the name: a full disk may still take that. */
    if (asprintf(&path, "%s/%s%d-%d", directory, CUNEI_REFUSAL_NAME, (int)getpid(),
                 error) < 0)
        return -ENOMEM;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    free(path);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

static int send_message(const char *directory, int error)
{
    struct sockaddr_un address;
    int32_t message = error;

    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    socklen_t size = name_socket(directory, &address);
    int rc = connect(fd, (const struct sockaddr *)&address, size) < 0 ||
                     send(fd, &message, sizeof(message), MSG_NOSIGNAL) < 0
                 ? -errno
                 : 0;
    close(fd);
    return rc;
}

void cunei_refusal_leave(const char *directory, int error)
{
    if (leave_file(directory, error) < 0)
        (void)send_message(directory, error);
}

void cunei_refusal_report_loss(const char *folder)
{
    const char *name = strrchr(folder, '/');
    char *directory = name ? strndup(folder, (size_t)(name - folder)) : NULL;

    if (directory && send_message(directory, CUNEI_REFUSAL_MOVED) < 0)
        (void)leave_file(directory, CUNEI_REFUSAL_MOVED);
    free(directory);
}

int cunei_refusal_listen(const char *directory)
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
    socklen_t size = name_socket(directory, &address);
    if (bind(fd, (const struct sockaddr *)&address, size) < 0 ||
        listen(fd, BACKLOG) < 0) {
        rc = -errno;
        close(fd);
    }
    return rc;
}

static void add(struct cunei_refusals *refusals, long error)
{
    int reason = error > 0 && error <= CUNEI_REFUSAL_MAX ? (int)error : 0;

    refusals->count++;
    for (size_t i = 0; i < CUNEI_REFUSAL_REASONS; i++) {
        if (refusals->reasons[i].count && refusals->reasons[i].error != reason)
            continue;
        refusals->reasons[i].error = reason;
        refusals->reasons[i].count++;
        return;
    }
}

static void collect_files(const char *directory, struct cunei_refusals *refusals)
{
    DIR *folder = opendir(directory);

    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *dash = strrchr(entry->d_name, '-');
        if (strncmp(entry->d_name, CUNEI_REFUSAL_NAME, strlen(CUNEI_REFUSAL_NAME)) ==
                0 &&
            dash)
            add(refusals, strtol(dash + 1, NULL, 10));
    }
    (void)closedir(folder);
}

static void collect_messages(int listener, struct cunei_refusals *refusals)
{
    for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        int32_t message = 0;
        if (poll(&ready, 1, MESSAGE_MS) == 1 &&
            recv(fd, &message, sizeof(message), MSG_DONTWAIT) !=
                (ssize_t)sizeof(message))
            message = 0;
        add(refusals, message);
        close(fd);
    }
}

void cunei_refusal_collect(const char *directory, int listener,
                           struct cunei_refusals *refusals)
{
    *refusals = (struct cunei_refusals){0};
    collect_files(directory, refusals);
    if (listener >= 0)
        collect_messages(listener, refusals);
}
