// SPDX-License-Identifier: MIT
#include "probe/armed/own_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

/* Before Linux 5.9: one by one.  A limit that was lowered later leaves some open. */
static int close_each(void)
{
    struct rlimit limit = {0};

    if (unshare(CLONE_FILES) < 0)
        return -errno;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return -errno;
    rlim_t end = limit.rlim_max < (1u << 20) ? limit.rlim_max : (1u << 20);
    for (rlim_t fd = 0; fd < end; fd++)
        (void)close((int)fd);
    return 0;
}

static int close_all(void)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) == 0)
        return 0;
    if (errno != ENOSYS)
        return -errno;
#endif
    return close_each();
}

int cunei_own_descriptors_take(void)
{
    int rc = close_all();

    /* What expects these three writes to none of our sockets. */
    for (int fd = 0; rc == 0 && fd <= STDERR_FILENO; fd++) {
        if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
            rc = -errno;
    }
    return rc;
}
