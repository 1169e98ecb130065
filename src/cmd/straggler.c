// SPDX-License-Identifier: MIT
#include "cmd/straggler.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rt/clock.h"
#include "wire/live.h"

#define PATIENCE_NS UINT64_C(250000000)
#define WATCHED_MAX 256

/* The process whose folder has this name, `<host>-<pid>-<n>`; 0: it is none. */
static pid_t pid_of(const char *name)
{
    const char *last = strrchr(name, '-');
    const char *middle = last ? memrchr(name, '-', (size_t)(last - name)) : NULL;
    char *end = NULL;
    long pid = middle ? strtol(middle + 1, &end, 10) : 0;

    return middle && end == last && pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

static bool has_live_file(int directory, const char *name)
{
    char path[NAME_MAX + sizeof(CUNEI_LIVE_NAME) + 1];

    (void)snprintf(path, sizeof(path), "%s/%s", name, CUNEI_LIVE_NAME);
    return faccessat(directory, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Descriptors of the processes that record; returns how many. */
static nfds_t find(const char *directory, struct pollfd watched[WATCHED_MAX])
{
    nfds_t count = 0;

    DIR *folders = opendir(directory);
    if (!folders)
        return 0;
    for (struct dirent *entry; count < WATCHED_MAX && (entry = readdir(folders));) {
        pid_t pid = pid_of(entry->d_name);
        if (!pid || !has_live_file(dirfd(folders), entry->d_name))
            continue;
        int fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (fd >= 0)
            watched[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    (void)closedir(folders);
    return count;
}

/* Wait for one of them to end; false: it took too long. */
static bool wait_for_one(struct pollfd *watched, nfds_t count, uint64_t deadline_ns)
{
    uint64_t now_ns = cunei_clock_ns(CLOCK_MONOTONIC);

    return now_ns < deadline_ns &&
           poll(watched, count, (int)((deadline_ns - now_ns) / 1000000) + 1) > 0;
}

void cunei_straggler_wait(const char *directory)
{
    struct pollfd watched[WATCHED_MAX];
    uint64_t deadline_ns = cunei_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    bool goes_on = true;

    /* Looked for anew each time: who ends may have started others before. */
    while (goes_on) {
        nfds_t count = find(directory, watched);
        goes_on = count > 0 && wait_for_one(watched, count, deadline_ns);
        for (nfds_t i = 0; i < count; i++)
            close(watched[i].fd);
    }
}
