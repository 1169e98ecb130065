// SPDX-License-Identifier: MIT
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(int fd, char *text, size_t *size)
{
    size_t done = 0;
    ssize_t got = 1;

    while (done < *size && got != 0) {
        got = read(fd, text + done, *size - done);
        if (got < 0 && errno != EINTR)
            return -errno;
        done += got > 0 ? (size_t)got : 0;
    }
    text[done] = '\0';
    *size = done;
    return 0;
}

int cunei_regular_file_read(const char *path, size_t max, char **text, size_t *size)
{
    struct stat status;
    char *memory = NULL;
    int rc = 0;

    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) < 0)
        rc = -errno;
    else if (!S_ISREG(status.st_mode))
        rc = S_ISDIR(status.st_mode) ? -EISDIR : -EBADMSG;
    else if ((uint64_t)status.st_size > max)
        rc = -EFBIG;
    if (rc < 0)
        goto out;
    size_t file_size = (size_t)status.st_size;
    memory = malloc(file_size + 1);
    rc = memory ? read_all(fd, memory, &file_size) : -ENOMEM;
    if (rc < 0)
        goto out;
    *text = memory;
    *size = file_size;
    memory = NULL;
out:
    free(memory);
    close(fd);
    return rc;
}

const char *cunei_regular_file_problem(int rc)
{
    return rc == -EBADMSG ? "it is not a regular file" : strerror(-rc);
}

bool cunei_is_directory(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}
