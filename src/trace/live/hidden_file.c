// SPDX-License-Identifier: MIT
#include "trace/live/hidden_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/process/file.h"
#include "trace/process/process.h"
#include "wire/live_place.h"

/* Whether its name exists, and what it names. */
static int find(struct cunei_trace_hidden *file, const char *name,
                const struct cunei_trace_process *process)
{
    int at = process->is_held ? process->folder : AT_FDCWD;
    const char *path = process->is_held ? name : file->path;
    struct stat status;

    if (fstatat(at, path, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -errno;
    file->is_there = true;
    file->named = cunei_file_id_of(&status);
    return 0;
}

/* Go on with the file in memory; -ENOENT: it is gone, or another has its name. */
static int follow(struct cunei_trace_hidden *file, const struct cunei_live_place *place)
{
    struct stat status;

    char *path = strdup(place->path);
    if (!path)
        return -ENOMEM;
    free(file->path);
    file->path = path;
    file->is_in_memory = true;
    int fd = cunei_safe_open_file(AT_FDCWD, path, O_RDONLY, &status);
    if (fd < 0)
        return fd;
    if (!cunei_file_id_is(&place->id, &status)) {
        close(fd);
        return -ENOENT;
    }
    file->size = (uint64_t)status.st_size;
    return fd;
}

int cunei_trace_hidden_open(struct cunei_trace_hidden *file, const char *name,
                            const struct cunei_trace_process *process)
{
    struct cunei_live_place place;

    *file = (struct cunei_trace_hidden){.fd = -1};
    file->path = cunei_trace_path(process->path, name);
    if (!file->path)
        return -ENOMEM;
    int rc = find(file, name, process);
    if (rc < 0 || !file->is_there)
        return rc;
    int fd = cunei_trace_file_open(process, name, &file->size);
    if (fd >= 0 && cunei_live_place_read(&place, fd) == 0) {
        close(fd);
        fd = follow(file, &place);
    }
    if (fd == -ENOENT || fd == -EBADMSG)
        return 0;
    if (fd < 0)
        return fd;
    file->fd = fd;
    return fstat(fd, &file->stat) < 0 ? -errno : 0;
}

void cunei_trace_hidden_close(struct cunei_trace_hidden *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    *file = (struct cunei_trace_hidden){.fd = -1};
}

int cunei_trace_hidden_remove(const struct cunei_trace_hidden *file, int folder,
                              const char *name, bool is_ours)
{
    if (file->is_in_memory && is_ours) {
        const struct cunei_file_id memory = cunei_file_id_of(&file->stat);
        int rc = cunei_safe_remove_path(file->path, &memory);
        if (rc < 0 && rc != -ENOENT)
            return rc;
    }
    int rc = cunei_safe_remove(folder, name, &file->named);
    return rc == -ENOENT ? 0 : rc;
}
