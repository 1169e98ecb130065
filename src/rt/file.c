// SPDX-License-Identifier: MIT
#include "rt/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rt/run_in_child.h"

#define FILE_MODE   0600
#define FOLDER_MODE 0700

#define RESERVE_FROM (UINT64_C(1) << 20)
#define RESERVE_MAX  (UINT64_C(1) << 24)

/* Taken to begin holding a descriptor. */
static pthread_mutex_t descriptor_lock = PTHREAD_MUTEX_INITIALIZER;

void cunei_folder_lock(void)
{
    (void)pthread_mutex_lock(&descriptor_lock);
}

void cunei_folder_unlock(void)
{
    (void)pthread_mutex_unlock(&descriptor_lock);
}

/*
 * A descriptor is held at a high number: the program's own open() then gives the same
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

static bool is_folder(const struct cunei_folder *folder, const struct stat *stat)
{
    return stat->st_dev == folder->device && stat->st_ino == folder->inode;
}

/* Whether one is held, and the program has left the descriptor as it was. */
static bool is_ours(const struct cunei_folder *folder)
{
    struct stat stat;

    return folder->fd >= 0 && fstat(folder->fd, &stat) == 0 && is_folder(folder, &stat);
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
    struct stat stat;
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
    if (lstat(path, &stat) < 0) {
        rc = -errno;
        (void)rmdir(path);
        cunei_folder_close(folder);
        return rc;
    }
    folder->device = stat.st_dev;
    folder->inode = stat.st_ino;
    return 0;
}

/* Hold the folder that is at this path now, if it is the one. */
static int hold(struct cunei_folder *folder, const char *path)
{
    struct stat stat;
    int rc = 0;

    cunei_folder_lock();
    if (!is_ours(folder)) {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            rc = -errno;
        else if (fstat(fd, &stat) < 0 || !is_folder(folder, &stat)) {
            close(fd);
            rc = -ENOENT;
        } else
            folder->fd = move_up(fd);
    }
    cunei_folder_unlock();
    return rc;
}

void cunei_folder_hold(struct cunei_folder *folder)
{
    (void)hold(folder, folder->path);
}

/* The path of the file that is mapped there, as the kernel knows it now; owned. */
static char *path_of_mapping(const void *memory)
{
    char *line = NULL, *path = NULL;
    size_t size = 0;

    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !path && getline(&line, &size, maps) > 0) {
        uintptr_t begin = strtoull(line, NULL, 16);
        char *found = begin == (uintptr_t)memory ? strchr(line, '/') : NULL;
        if (found)
            path = strndup(found, strcspn(found, "\n"));
    }
    free(line);
    if (maps)
        (void)fclose(maps);
    return path;
}

/* The folder, or one above it, was renamed: the path of our mapping in /proc/self/maps
 * is its new place. */
static int find_again(struct cunei_folder *folder)
{
    char *path = folder->mapped ? path_of_mapping(folder->mapped) : NULL;
    char *name = path ? strrchr(path, '/') : NULL;
    int rc = -ENOENT;

    if (name) {
        *name = '\0';
        rc = hold(folder, path);
    }
    free(path);
    return rc;
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

int cunei_folder_place(const struct cunei_folder *folder, const char *name,
                       struct cunei_place *place)
{
    bool is_held = is_ours(folder);
    const char *path = is_held ? "." : folder->path;
    size_t size = sizeof(place->path);

    place->at = is_held ? folder->fd : AT_FDCWD;
    int length = snprintf(place->path, size, "%s/%s", path, name);
    return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int cunei_folder_open_file(const struct cunei_folder *folder, const char *name,
                           int flags)
{
    struct cunei_place place;

    int rc = cunei_folder_place(folder, name, &place);
    if (rc < 0)
        return rc;
    int fd = openat(place.at, place.path, flags | O_CLOEXEC, FILE_MODE);
    return fd < 0 ? -errno : fd;
}

int cunei_folder_remove(const struct cunei_folder *folder, const char *name)
{
    struct cunei_place place;

    int rc = cunei_folder_place(folder, name, &place);
    if (rc < 0)
        return rc;
    return unlinkat(place.at, place.path, 0) < 0 ? -errno : 0;
}

int cunei_folder_space(const struct cunei_folder *folder, struct statvfs *state)
{
    int rc =
        is_ours(folder) ? fstatvfs(folder->fd, state) : statvfs(folder->path, state);
    return rc < 0 ? -errno : 0;
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

/* What is done with a file of the folder, maybe on other descriptors. */
struct work {
    struct cunei_folder *folder;
    const char *name;
    int flags;
    int (*with)(int fd, const struct work *work);
    const void *bytes;
    size_t size;
    uint64_t offset;
    struct cunei_file_end *end;
};

static int do_work(void *context)
{
    const struct work *work = context;

    int fd = cunei_folder_open_file(work->folder, work->name, work->flags | O_NOFOLLOW);
    if (fd < 0)
        return fd;
    int rc = work->with(fd, work);
    close(fd);
    return rc;
}

static int run(struct work *work)
{
    int rc = cunei_run_in_child(do_work, work);
    if (rc == -ENOENT && find_again(work->folder) == 0)
        rc = cunei_run_in_child(do_work, work);
    return rc;
}

static int append_bytes(int fd, const struct work *work)
{
    return append(fd, work->bytes, work->size, work->end);
}

int cunei_folder_append(struct cunei_folder *folder, const char *name,
                        const void *bytes, size_t size, struct cunei_file_end *end)
{
    struct work work = {.folder = folder,
                        .name = name,
                        .flags = O_WRONLY | O_APPEND | O_CREAT,
                        .with = append_bytes,
                        .bytes = bytes,
                        .size = size,
                        .end = end};

    return run(&work);
}

static int trim(int fd, const struct work *work)
{
    return ftruncate(fd, (off_t)work->end->length) < 0 ? -errno : 0;
}

void cunei_folder_trim(struct cunei_folder *folder, const char *name,
                       struct cunei_file_end *end)
{
    struct work work = {
        .folder = folder, .name = name, .flags = O_WRONLY, .with = trim, .end = end};

    if (end->reserved > end->length && end->reserved != UINT64_MAX)
        (void)run(&work);
}

static int patch(int fd, const struct work *work)
{
    ssize_t written = pwrite(fd, work->bytes, work->size, (off_t)work->offset);
    if (written < 0)
        return -errno;
    return (size_t)written == work->size ? 0 : -EIO;
}

int cunei_folder_patch(struct cunei_folder *folder, const char *name, const void *bytes,
                       size_t size, uint64_t offset)
{
    struct work work = {.folder = folder,
                        .name = name,
                        .flags = O_WRONLY,
                        .with = patch,
                        .bytes = bytes,
                        .size = size,
                        .offset = offset};

    int rc = cunei_file_check_limit(offset + size);
    return rc < 0 ? rc : run(&work);
}

static int rename_file(const struct cunei_folder *folder, const char *from,
                       const char *to)
{
    struct cunei_place old, new;

    int rc = cunei_folder_place(folder, from, &old);
    if (rc == 0)
        rc = cunei_folder_place(folder, to, &new);
    if (rc == 0 && renameat(old.at, old.path, new.at, new.path) < 0)
        rc = -errno;
    return rc;
}

int cunei_folder_replace(struct cunei_folder *folder, const char *name,
                         const void *bytes, size_t size)
{
    char temporary[64];
    struct cunei_file_end end = {0};
    struct work work = {.folder = folder,
                        .name = temporary,
                        .flags = O_WRONLY | O_CREAT | O_TRUNC,
                        .with = append_bytes,
                        .bytes = bytes,
                        .size = size,
                        .end = &end};

    (void)snprintf(temporary, sizeof(temporary), ".%s.new", name);
    int rc = run(&work);
    if (rc == 0)
        rc = rename_file(folder, temporary, name);
    if (rc < 0)
        (void)cunei_folder_remove(folder, temporary);
    return rc;
}
