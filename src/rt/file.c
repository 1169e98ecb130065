// SPDX-License-Identifier: MIT
#include "rt/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MODE   0600
#define FOLDER_MODE 0700

#define RESERVE_FROM (UINT64_C(1) << 20)
#define RESERVE_MAX  (UINT64_C(1) << 24)

/*
 * The descriptor of the folder changes hands when the program took it away or needs its
 * place; threads that write packets at the same time must not use it meanwhile.
 */
static pthread_mutex_t descriptor_lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Descriptors are held at high numbers: the program's own open() then gives the same
 * numbers as without us.
 */
static int move_up(int fd)
{
    struct rlimit limit;

    if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return fd;
    rlim_t highest = limit.rlim_cur < 1024 ? limit.rlim_cur : 1024;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, (int)(highest - highest / 8));
    if (moved < 0)
        return fd;
    close(fd);
    return moved;
}

static void hold(struct cunei_folder *folder, int fd)
{
    struct stat stat;

    folder->fd = move_up(fd);
    if (folder->fd < 0 || fstat(folder->fd, &stat) < 0) {
        folder->fd = -1;
        return;
    }
    folder->device = stat.st_dev;
    folder->inode = stat.st_ino;
}

/* Whether the program has left the descriptor as it was. */
static int is_ours(const struct cunei_folder *folder)
{
    struct stat stat;

    return folder->fd >= 0 && fstat(folder->fd, &stat) == 0 &&
           stat.st_dev == folder->device && stat.st_ino == folder->inode;
}

static void drop(struct cunei_folder *folder)
{
    if (is_ours(folder))
        close(folder->fd);
    folder->fd = -1;
}

static void clean_host_name(char *name, size_t size)
{
    if (gethostname(name, size) < 0 || name[0] == '\0')
        (void)snprintf(name, size, "localhost");
    name[size - 1] = '\0';
    for (char *c = name; *c; c++) {
        if (!isalnum((unsigned char)*c) && *c != '.' && *c != '_')
            *c = '-';
    }
    if (name[0] == '.')
        name[0] = '-'; /* a hidden folder would not be found */
}

int cunei_folder_make_parent(const char *parent)
{
    return mkdir(parent, FOLDER_MODE) < 0 && errno != EEXIST ? -errno : 0;
}

int cunei_folder_open(struct cunei_folder *folder, const char *parent)
{
    char host[65];
    char *path = NULL;
    int rc = 0;

    *folder = (struct cunei_folder){.fd = -1};
    clean_host_name(host, sizeof(host));
    for (unsigned n = 0;; n++) {
        if (asprintf(&path, "%s/%s-%d-%u", parent, host, (int)getpid(), n) < 0)
            return -ENOMEM;
        if (mkdir(path, FOLDER_MODE) == 0)
            break;
        rc = -errno;
        free(path);
        if (rc != -EEXIST)
            return rc;
    }
    folder->path = path;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        rc = -errno;
        (void)rmdir(path);
        cunei_folder_close(folder);
        return rc;
    }
    hold(folder, fd);
    return 0;
}

void cunei_folder_rest(struct cunei_folder *folder)
{
    drop(folder);
}

void cunei_folder_close(struct cunei_folder *folder)
{
    drop(folder);
    free(folder->path);
    folder->path = NULL;
}

void cunei_folder_lock(void)
{
    (void)pthread_mutex_lock(&descriptor_lock);
}

void cunei_folder_unlock(void)
{
    (void)pthread_mutex_unlock(&descriptor_lock);
}

/* The folder's descriptor; lock held, for as long as it is used. */
static int folder_fd(struct cunei_folder *folder)
{
    if (!is_ours(folder)) {
        int fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            return -errno;
        hold(folder, fd);
    }
    return folder->fd;
}

int cunei_folder_fd(struct cunei_folder *folder)
{
    cunei_folder_lock();
    int fd = folder_fd(folder);
    cunei_folder_unlock();
    return fd;
}

/*
 * The program uses all the descriptors it may have: the folder's gives its place up,
 * until the file is closed.
 */
static int open_without_folder(struct cunei_folder *folder, const char *name, int flags)
{
    char *path = NULL;

    if (asprintf(&path, "%s/%s", folder->path, name) < 0)
        return -ENOMEM;
    drop(folder);
    int fd = open(path, flags, FILE_MODE);
    int rc = fd < 0 ? -errno : fd;
    free(path);
    return rc;
}

int cunei_folder_open_file(struct cunei_folder *folder, const char *name, int flags)
{
    flags |= O_CLOEXEC | O_NOFOLLOW;
    cunei_folder_lock();
    int directory = folder_fd(folder);
    int fd = directory < 0 ? directory : openat(directory, name, flags, FILE_MODE);
    if (directory >= 0 && fd < 0)
        fd = -errno;
    if (fd == -EMFILE || fd == -ENFILE)
        fd = open_without_folder(folder, name, flags);
    cunei_folder_unlock();
    return fd;
}

void cunei_folder_close_file(struct cunei_folder *folder, int fd)
{
    cunei_folder_lock();
    close(fd);
    /* At once, before the program takes the place. */
    if (folder->fd < 0)
        (void)folder_fd(folder);
    cunei_folder_unlock();
}

int cunei_folder_remove(struct cunei_folder *folder, const char *name)
{
    int directory = cunei_folder_fd(folder);
    if (directory < 0)
        return directory;
    return unlinkat(directory, name, 0) < 0 ? -errno : 0;
}

/* Asked first: passing the limit raises SIGXFSZ, which may end the program. */
int cunei_file_check_limit(uint64_t size)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        size > limit.rlim_cur)
        return -EFBIG;
    return 0;
}

static int write_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size > 0) {
        ssize_t written = write(fd, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -ENOSPC;
        at += written;
        size -= (size_t)written;
    }
    return 0;
}

/* Places are reserved for as much again as there is, within these bounds. */
static void reserve(int fd, size_t size, struct cunei_file_end *end)
{
    uint64_t more = end->length < RESERVE_MAX ? end->length : RESERVE_MAX;

    if (end->length < RESERVE_FROM || end->length + size <= end->reserved ||
        cunei_file_check_limit(end->length + more) < 0)
        return;
    end->reserved =
        fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)end->length, (off_t)more) == 0
            ? end->length + more
            : UINT64_MAX; /* not on this file system: do not ask again */
}

static int append(int fd, const void *bytes, size_t size, struct cunei_file_end *end)
{
    int rc = cunei_file_check_limit(end->length + size);
    if (rc == 0) {
        reserve(fd, size, end);
        rc = write_all(fd, bytes, size);
    }
    if (rc == 0)
        end->length += size;
    else
        (void)!ftruncate(fd, (off_t)end->length);
    return rc;
}

int cunei_folder_append(struct cunei_folder *folder, const char *name,
                        const void *bytes, size_t size, struct cunei_file_end *end)
{
    int fd = cunei_folder_open_file(folder, name, O_WRONLY | O_APPEND | O_CREAT);
    if (fd < 0)
        return fd;
    int rc = append(fd, bytes, size, end);
    cunei_folder_close_file(folder, fd);
    return rc;
}

void cunei_folder_trim(struct cunei_folder *folder, const char *name,
                       struct cunei_file_end *end)
{
    if (end->reserved <= end->length || end->reserved == UINT64_MAX)
        return;
    int fd = cunei_folder_open_file(folder, name, O_WRONLY);
    if (fd < 0)
        return;
    (void)!ftruncate(fd, (off_t)end->length);
    cunei_folder_close_file(folder, fd);
}

int cunei_folder_patch(struct cunei_folder *folder, const char *name, const void *bytes,
                       size_t size, uint64_t offset)
{
    int rc = cunei_file_check_limit(offset + size);
    if (rc < 0)
        return rc;
    int fd = cunei_folder_open_file(folder, name, O_WRONLY);
    if (fd < 0)
        return fd;
    ssize_t written = pwrite(fd, bytes, size, (off_t)offset);
    rc = written == (ssize_t)size ? 0 : written < 0 ? -errno : -EIO;
    cunei_folder_close_file(folder, fd);
    return rc;
}

int cunei_folder_replace(struct cunei_folder *folder, const char *name,
                         const void *bytes, size_t size)
{
    char temporary[64];
    struct cunei_file_end end = {0};

    (void)snprintf(temporary, sizeof(temporary), ".%s.new", name);
    int fd = cunei_folder_open_file(folder, temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0)
        return fd;
    int rc = append(fd, bytes, size, &end);
    cunei_folder_close_file(folder, fd);
    int directory = rc < 0 ? rc : cunei_folder_fd(folder);
    if (directory < 0)
        rc = directory;
    else if (renameat(directory, temporary, directory, name) < 0)
        rc = -errno;
    if (rc < 0)
        (void)cunei_folder_remove(folder, temporary);
    return rc;
}
