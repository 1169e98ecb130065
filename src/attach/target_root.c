// SPDX-License-Identifier: MIT
#include "attach/target_root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int cunei_target_root_open(pid_t pid)
{
    char path[32];

    (void)snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int open_inside(int root, const char *path, int flags, uint64_t resolve,
                       struct stat *status)
{
    struct open_how how = {
        .flags = (unsigned)flags | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve,
    };

    int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
    if (fd < 0)
        return -errno;
    if (fstat(fd, status) == 0)
        return fd;
    int rc = -errno;
    close(fd);
    return rc;
}

int cunei_target_root_open_file(int root, const char *path, struct stat *status)
{
    int fd = open_inside(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, status);
    if (fd >= 0 && !S_ISREG(status->st_mode)) {
        close(fd);
        return -EBADMSG;
    }
    return fd;
}

int cunei_target_root_open_folder(int root, const char *path, struct stat *status)
{
    return open_inside(root, path, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS, status);
}

int cunei_target_root_look_at(int root, const char *path, struct stat *status)
{
    int fd = open_inside(root, path, O_PATH, RESOLVE_NO_SYMLINKS, status);
    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}
