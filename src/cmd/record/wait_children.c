// SPDX-License-Identifier: MIT
#include "cmd/record/wait_children.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "rt/clock.h"
#include "wire/live.h"
#include "wire/process.h"

#define PATIENCE_NS (250 * CUNEI_NS_PER_MS)
#define WATCHED_MAX 256

/* The process whose folder has this name, `<host>-<pid>-<n>`; 0: another name. */
static pid_t pid_of(const char *name)
{
    const char *last = strrchr(name, '-');
    const char *middle = last ? memrchr(name, '-', (size_t)(last - name)) : NULL;
    char *end = NULL;
    long pid = middle ? strtol(middle + 1, &end, 10) : 0;

    return middle && end == last && pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

/* A file in the folder of that name. */
static bool look_at(int directory, const char *name, const char *file,
                    struct stat *status)
{
    char path[2 * NAME_MAX];

    (void)snprintf(path, sizeof(path), "%s/%s", name, file);
    return fstatat(directory, path, status, AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * Whether its process records, or has just ended that and is about to say with which
 * status it exits.
 */
static bool is_busy(int directory, const char *name)
{
    struct stat status;

    if (look_at(directory, name, CUNEI_LIVE_NAME, &status))
        return true;
    return look_at(directory, name, CUNEI_PROCESS_NAME, &status) &&
           time(NULL) - status.st_mtime <= 1;
}

/* Descriptors of the processes that are there; returns how many. */
static nfds_t find(const char *directory, struct pollfd watched[WATCHED_MAX])
{
    nfds_t count = 0;

    DIR *folders = opendir(directory);
    if (!folders)
        return 0;
    for (struct dirent *entry; count < WATCHED_MAX && (entry = readdir(folders));) {
        pid_t pid = pid_of(entry->d_name);
        if (!pid || !is_busy(dirfd(folders), entry->d_name))
            continue;
        struct pollfd process = {.fd = (int)syscall(SYS_pidfd_open, pid, 0),
                                 .events = POLLIN};
        if (process.fd < 0)
            continue;
        /* Skip a process that has ended, even if its parent has not waited for it. */
        if (poll(&process, 1, 0) == 0)
            watched[count++] = process;
        else
            close(process.fd);
    }
    (void)closedir(folders);
    return count;
}

/* Wait for one of them to end; false: it took too long. */
static bool wait_for_one(struct pollfd *watched, nfds_t count, uint64_t deadline_ns)
{
    uint64_t now_ns = cunei_clock_ns(CLOCK_MONOTONIC);

    return now_ns < deadline_ns &&
           poll(watched, count, (int)((deadline_ns - now_ns) / CUNEI_NS_PER_MS) + 1) >
               0;
}

void cunei_wait_children(const char *directory)
{
    struct pollfd watched[WATCHED_MAX];
    uint64_t deadline_ns = cunei_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    bool is_waiting = true;

    /* Search again each time: a process that ended may have started others. */
    while (is_waiting) {
        nfds_t count = find(directory, watched);
        is_waiting = count > 0 && wait_for_one(watched, count, deadline_ns);
        for (nfds_t i = 0; i < count; i++)
            close(watched[i].fd);
    }
}
