// SPDX-License-Identifier: MIT
#include "base/safe_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define FILE_MODE       0600
#define WRITE_OF_OTHERS 022

struct cunei_file_id cunei_file_id_of(const struct stat *status)
{
    return (struct cunei_file_id){.device = status->st_dev, .inode = status->st_ino};
}

bool cunei_file_id_is(const struct cunei_file_id *id, const struct stat *status)
{
    return status->st_dev == id->device && status->st_ino == id->inode;
}

/* Its status; the descriptor is closed if there is none. */
static int look_at(int fd, struct stat *status)
{
    if (fstat(fd, status) == 0)
        return fd;
    int rc = -errno;
    close(fd);
    return rc;
}

int cunei_safe_open_folder(int at, const char *path, struct stat *status)
{
    int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOTDIR || errno == ELOOP ? -ESTALE : -errno;
    return look_at(fd, status);
}

int cunei_safe_open_directory(const char *path, const struct cunei_file_id *id)
{
    struct stat status;

    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    fd = look_at(fd, &status);
    bool is_any = id->device == 0 && id->inode == 0;
    if (fd < 0 || is_any || cunei_file_id_is(id, &status))
        return fd;
    close(fd);
    return -EXDEV;
}

DIR *cunei_safe_list_folder(int at, const char *path)
{
    int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !folder)
        close(fd);
    return folder;
}

int cunei_safe_open_file(int at, const char *path, int flags, struct stat *status)
{
    const int safe = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

    int fd = openat(at, path, flags | safe, FILE_MODE);
    if (fd < 0) /* ELOOP: a link, ENXIO: a pipe or a socket */
        return errno == ELOOP || errno == ENXIO || errno == EISDIR ? -EBADMSG : -errno;
    fd = look_at(fd, status);
    if (fd >= 0 && !S_ISREG(status->st_mode)) {
        close(fd);
        return -EBADMSG;
    }
    return fd;
}

int cunei_safe_check_made(int folder, const struct stat *status, const char *probe)
{
    mode_t others = status->st_mode & WRITE_OF_OTHERS;
    struct stat file = {0};

    if (status->st_uid == geteuid() && others == 0)
        return 0;
    int fd = cunei_safe_open_file(folder, probe, O_WRONLY | O_CREAT | O_EXCL, &file);
    if (fd == -EACCES || fd == -EEXIST)
        return -ESTALE; /* ours is empty, and for us to write */
    if (fd < 0)
        return fd;
    close(fd);
    (void)unlinkat(folder, probe, 0);
    bool is_alike =
        file.st_uid == status->st_uid && (file.st_mode & WRITE_OF_OTHERS) == others;
    return is_alike ? 0 : -ESTALE;
}

bool cunei_safe_is_own_file(const struct stat *status)
{
    return status->st_uid == geteuid() && status->st_nlink == 1;
}

int cunei_safe_remove(int folder, const char *name, const struct cunei_file_id *id)
{
    struct stat status;

    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (!cunei_file_id_is(id, &status))
        return -ESTALE;
    return unlinkat(folder, name, 0) < 0 ? -errno : 0;
}

int cunei_safe_remove_path(const char *path, const struct cunei_file_id *id)
{
    char folder[PATH_MAX];
    struct stat status = {0};

    const char *name = strrchr(path, '/');
    if (!name || name == path || (size_t)(name - path) >= sizeof(folder))
        return -EINVAL;
    memcpy(folder, path, (size_t)(name - path));
    folder[name - path] = '\0';
    int fd = cunei_safe_open_folder(AT_FDCWD, folder, &status);
    if (fd < 0)
        return fd;
    bool is_own = status.st_uid == geteuid() && (status.st_mode & 022) == 0;
    int rc = is_own ? cunei_safe_remove(fd, name + 1, id) : -EPERM;
    close(fd);
    return rc;
}
