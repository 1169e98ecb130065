// SPDX-License-Identifier: MIT
#include "rt/folder.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rt/run_in_child.h"
#include "wire/temporary_name.h"

#define FOLDER_MODE     0700
#define WRITE_OF_OTHERS 022

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

/*
 * Whether it is the folder that was made.  Its owner may let others read it, but if
 * others may write in it, they may have put links there.
 */
static bool is_folder(const struct cunei_folder *folder, const struct stat *status)
{
    return cunei_file_id_is(&folder->id, status) && status->st_uid == folder->owner &&
           (status->st_mode & WRITE_OF_OTHERS & ~folder->mode) == 0;
}

/* Whether one is held, and the program has left the descriptor as it was. */
static bool is_held(const struct cunei_folder *folder)
{
    struct stat status;

    return folder->fd >= 0 && fstat(folder->fd, &status) == 0 &&
           is_folder(folder, &status);
}

static void drop(struct cunei_folder *folder)
{
    if (is_held(folder))
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

/* Without its parent. */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Make the folder in the open directory `at`.  Its path, owned by the caller; NULL: see
 * errno. */
static char *make(int at, const char *parent)
{
    char host[65], name[128];
    char *path = NULL;
    int rc = -1;

    clean_host_name(host, sizeof(host));
    errno = EEXIST;
    for (unsigned n = 0; rc < 0 && errno == EEXIST; n++) {
        (void)snprintf(name, sizeof(name), "%s-%d-%u", host, (int)getpid(), n);
        rc = mkdirat(at, name, FOLDER_MODE);
    }
    if (rc == 0 && asprintf(&path, "%s/%s", parent, name) < 0) {
        (void)unlinkat(at, name, AT_REMOVEDIR);
        errno = ENOMEM;
        return NULL;
    }
    return path;
}

/* Note what the folder is recognized by from now on. */
static int identify(struct cunei_folder *folder, int at)
{
    struct stat status;

    int fd = cunei_safe_open_folder(at, name_of(folder->path), &status);
    if (fd < 0)
        return fd;
    int rc = cunei_safe_check_made(fd, &status, CUNEI_OWNER_PROBE_NAME);
    close(fd);
    folder->id = cunei_file_id_of(&status);
    folder->owner = status.st_uid;
    folder->mode = status.st_mode;
    return rc;
}

struct place {
    struct cunei_folder *folder;
    const char *parent;
    const struct cunei_file_id *id; /* of the parent */
};

/* Where descriptors run out in the middle, it is called again and continues there. */
static int make_in_place(void *context)
{
    const struct place *place = context;
    struct cunei_folder *folder = place->folder;
    struct stat status;

    int at = cunei_safe_open_directory(place->parent, place->id);
    if (at < 0)
        return at;
    int rc = fstat(at, &status) < 0 ? -errno : 0;
    folder->parent = cunei_file_id_of(&status);
    if (rc == 0 && !folder->path)
        folder->path = make(at, place->parent);
    if (rc == 0)
        rc = folder->path ? identify(folder, at) : -errno;
    close(at);
    return rc;
}

int cunei_folder_open(struct cunei_folder *folder, const char *parent,
                      const struct cunei_file_id *id)
{
    struct place place = {folder, parent, id};

    *folder = (struct cunei_folder){.fd = -1};
    int rc = cunei_run_in_child(make_in_place, &place);
    if (rc < 0)
        cunei_folder_close(folder);
    return rc;
}

int cunei_folder_open_parent(const struct cunei_folder *folder)
{
    size_t size = (size_t)(name_of(folder->path) - folder->path) - 1;
    char *path = size ? strndup(folder->path, size) : strdup("/");

    int fd = path ? cunei_safe_open_directory(path, &folder->parent) : -ENOMEM;
    free(path);
    return fd;
}

/* A descriptor of what is at this path now, if that is the folder. */
static int open_at(const struct cunei_folder *folder, const char *path)
{
    struct stat status;

    int fd = cunei_safe_open_folder(AT_FDCWD, path, &status);
    if (fd >= 0 && !is_folder(folder, &status)) {
        close(fd);
        return -ESTALE;
    }
    return fd;
}

static int hold(struct cunei_folder *folder, const char *path)
{
    int rc = 0;

    cunei_folder_lock();
    if (!is_held(folder)) {
        int fd = open_at(folder, path);
        if (fd < 0)
            rc = fd;
        else
            folder->fd = move_up(fd);
    }
    cunei_folder_unlock();
    return rc;
}

void cunei_folder_hold(struct cunei_folder *folder)
{
    (void)hold(folder, folder->path);
}

/* A second descriptor of the one that is held; -1: none is, or it is the program's. */
static int copy_held(const struct cunei_folder *folder)
{
    struct stat status;

    int fd = folder->fd < 0 ? -1 : fcntl(folder->fd, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0 && (fstat(fd, &status) < 0 || !is_folder(folder, &status))) {
        close(fd);
        return -1;
    }
    return fd;
}

int cunei_folder_enter(struct cunei_folder *folder)
{
    int fd = copy_held(folder);
    if (fd < 0)
        fd = open_at(folder, folder->path);
    if (fd == -ENOENT || fd == -ESTALE)
        folder->was_away = true;
    return fd;
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
    if (!folder->mapped || access(folder->path, F_OK) == 0)
        return -ENOENT; /* a file in it is missing */
    char *path = path_of_mapping(folder->mapped);
    char *name = path ? strrchr(path, '/') : NULL;
    int rc = -ENOENT;

    if (name) {
        *name = '\0';
        rc = hold(folder, path);
    }
    free(path);
    return rc;
}

int cunei_folder_run(struct cunei_folder *folder, int (*work)(void *context),
                     void *context)
{
    int rc = cunei_run_in_child(work, context);
    if (rc == -ENOENT && find_again(folder) == 0)
        rc = cunei_run_in_child(work, context);
    return rc;
}

bool cunei_folder_is_away(const struct cunei_folder *folder)
{
    struct stat status;

    return folder->was_away &&
           (lstat(folder->path, &status) < 0 || !is_folder(folder, &status));
}

void cunei_folder_remove(struct cunei_folder *folder)
{
    int fd = cunei_folder_enter(folder);

    if (fd < 0)
        return;
    close(fd);
    (void)rmdir(folder->path);
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

int cunei_folder_space(struct cunei_folder *folder, struct statvfs *state)
{
    int fd = cunei_folder_enter(folder);
    if (fd == -EMFILE) /* only the free space at the path is read */
        return statvfs(folder->path, state) < 0 ? -errno : 0;
    if (fd < 0)
        return fd;
    int rc = fstatvfs(fd, state) < 0 ? -errno : 0;
    close(fd);
    return rc;
}
