// SPDX-License-Identifier: MIT
#include "base/file_stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PART_SIZE = 4096 /* bytes that are read at a time, on the stack of a program */
};

/* Longer files are not source code: their size and time are their stamp. */
#define SIZE_MAX_BYTES ((off_t)4 << 20)

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Identifies the file and its version without reading it. */
static uint64_t state_of(const struct stat *status)
{
    uint64_t hash = mix((uint64_t)status->st_dev, (uint64_t)status->st_ino);

    hash = mix(hash, (uint64_t)status->st_size);
    hash = mix(hash, (uint64_t)status->st_mtim.tv_sec);
    return mix(hash, (uint64_t)status->st_mtim.tv_nsec);
}

/* As much as there is, at most PART_SIZE bytes, zeros behind it; negative errno. */
static ssize_t read_part(int fd, uint64_t *part)
{
    size_t size = 0;

    memset(part, 0, PART_SIZE);
    while (size < PART_SIZE) {
        ssize_t got = read(fd, (char *)part + size, PART_SIZE - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        size += (size_t)got;
    }
    return (ssize_t)size;
}

/* 0: it cannot be read. */
static uint64_t hash_text(const char *path)
{
    uint64_t part[PART_SIZE / sizeof(uint64_t)], hash = 0;
    ssize_t got = PART_SIZE;

    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return 0;
    while (got == PART_SIZE) {
        got = read_part(fd, part);
        for (ssize_t i = 0; i < got; i += (ssize_t)sizeof(uint64_t))
            hash = mix(hash, part[i / (ssize_t)sizeof(uint64_t)]);
        hash = mix(hash, (uint64_t)got);
    }
    close(fd);
    if (got < 0)
        return 0;
    return hash == 0 || hash == CUNEI_STAMP_MIXED ? 1 : hash;
}

size_t cunei_file_stamp_archive(const char *path)
{
    char part[PATH_MAX];
    size_t size = strlen(path);
    struct stat status;

    if (size >= sizeof(part))
        return 0;
    memcpy(part, path, size + 1);
    for (char *slash = strrchr(part, '/'); slash && slash > part;
         slash = strrchr(part, '/')) {
        *slash = '\0';
        if (stat(part, &status) == 0)
            return S_ISREG(status.st_mode) ? (size_t)(slash - part) : 0;
    }
    return 0;
}

/* The stamp of the file that `status` describes. */
static uint64_t stamp_of(struct cunei_file_stamps *stamps, const char *path,
                         const struct stat *status)
{
    const size_t count = sizeof(stamps->places) / sizeof(stamps->places[0]);

    if (!S_ISREG(status->st_mode))
        return 0;
    uint64_t state = state_of(status);
    size_t place = state % count;
    if (stamps->places[place].stamp && stamps->places[place].state == state)
        return stamps->places[place].stamp;
    uint64_t stamp =
        status->st_size > SIZE_MAX_BYTES
            ? mix((uint64_t)status->st_size, (uint64_t)status->st_mtim.tv_sec) | 1
            : hash_text(path);
    stamps->places[place].state = state;
    stamps->places[place].stamp = stamp;
    return stamp;
}

uint64_t cunei_file_stamp_read(struct cunei_file_stamps *stamps, const char *path)
{
    char archive[PATH_MAX];
    struct stat status;

    if (stat(path, &status) == 0)
        return stamp_of(stamps, path, &status);
    size_t size = errno == ENOTDIR ? cunei_file_stamp_archive(path) : 0;
    memcpy(archive, path, size);
    archive[size] = '\0';
    return size > 0 && stat(archive, &status) == 0 ? stamp_of(stamps, archive, &status)
                                                   : 0;
}
