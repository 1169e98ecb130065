// SPDX-License-Identifier: MIT
#include "trace/process/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/safe_open.h"
#include "trace/process/process.h"

char *cunei_trace_path(const char *folder, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

uint64_t cunei_trace_file_size(const struct cunei_trace_process *process,
                               const char *name)
{
    struct stat status;
    char *path = cunei_trace_path(process->path, name);

    uint64_t size = path && stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
    free(path);
    return size;
}

int cunei_trace_file_open(const struct cunei_trace_process *process, const char *name,
                          uint64_t *size)
{
    char *path = process->is_held ? NULL : cunei_trace_path(process->path, name);
    int at = process->is_held ? process->folder : AT_FDCWD;
    struct stat status;

    if (!path && !process->is_held)
        return -ENOMEM;
    int fd = cunei_safe_open_file(at, path ? path : name, O_RDONLY, &status);
    free(path);
    if (fd >= 0)
        *size = (uint64_t)status.st_size;
    return fd;
}

int cunei_trace_stream_open(const struct cunei_trace_process *process,
                            const struct cunei_trace_stream *stream, uint64_t *size)
{
    if (!stream->is_kept)
        return cunei_trace_file_open(process, cunei_trace_stream_name(stream), size);
    int fd = fcntl(stream->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    *size = stream->size;
    return fd;
}

int64_t cunei_trace_file_read(int fd, void *bytes, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t count =
            pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -errno;
        if (count == 0)
            break;
        done += (size_t)count;
    }
    return (int64_t)done;
}

int cunei_trace_file_write(int fd, const void *bytes, size_t size, uint64_t offset)
{
    struct rlimit limit;
    size_t done = 0;

    /* Asked first: passing the limit raises SIGXFSZ, which would end us. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        offset + size > limit.rlim_cur)
        return -EFBIG;
    while (done < size) {
        ssize_t count =
            pwrite(fd, (const char *)bytes + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -errno;
        done += (size_t)count;
    }
    return 0;
}

int cunei_trace_file_load(const struct cunei_trace_process *process, const char *name,
                          size_t max, char **text, size_t *size)
{
    uint64_t file_size = 0;
    char *memory = NULL;
    int rc = 0;

    int fd = cunei_trace_file_open(process, name, &file_size);
    if (fd < 0)
        return fd;
    if (file_size > max) {
        rc = -EFBIG;
        goto out;
    }
    memory = malloc((size_t)file_size + 1);
    if (!memory) {
        rc = -ENOMEM;
        goto out;
    }
    int64_t count = cunei_trace_file_read(fd, memory, (size_t)file_size, 0);
    if (count < 0) {
        rc = (int)count;
        goto out;
    }
    memory[count] = '\0';
    *text = memory;
    *size = (size_t)count;
    memory = NULL;
out:
    free(memory);
    close(fd);
    return rc;
}
