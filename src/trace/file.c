// SPDX-License-Identifier: MIT
#include "trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

char *cunei_trace_path(const char *folder, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

int cunei_trace_file_open(const char *path, int flags, uint64_t *size)
{
    struct stat stat;

    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &stat) < 0) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    if (!S_ISREG(stat.st_mode)) {
        close(fd);
        return -EBADMSG;
    }
    *size = (uint64_t)stat.st_size;
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

int cunei_trace_file_load(const char *path, size_t max, char **text, size_t *size)
{
    uint64_t file_size = 0;
    char *memory = NULL;
    int rc = 0;

    int fd = cunei_trace_file_open(path, O_RDONLY, &file_size);
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
