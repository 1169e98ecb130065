// SPDX-License-Identifier: MIT
#include "rt/space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FREE_BYTES_MIN (UINT64_C(1) << 30)
#define FREE_PARTS     20 /* one of so many parts stays free: 5 % */

static void *map_counter(const char *directory)
{
    char *path = NULL;
    void *memory = NULL;

    if (asprintf(&path, "%s/%s", directory, CUNEI_SPACE_NAME) < 0)
        return NULL;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    free(path);
    if (fd < 0)
        return NULL;
    /* Allocated, not only sized: a store into a hole of a full disk is a SIGBUS. */
    if (posix_fallocate(fd, 0, sizeof(uint64_t)) == 0) {
        memory =
            mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (memory == MAP_FAILED)
            memory = NULL;
    }
    close(fd);
    return memory;
}

void cunei_space_open(struct cunei_space *space, const char *directory,
                      uint64_t max_bytes)
{
    space->max_bytes = max_bytes;
    space->own = 0;
    space->mapped = max_bytes ? map_counter(directory) : NULL;
    space->used = space->mapped ? space->mapped : &space->own;
}

void cunei_space_close(struct cunei_space *space)
{
    if (space->mapped)
        munmap(space->mapped, sizeof(uint64_t));
    space->mapped = NULL;
}

int cunei_space_take(struct cunei_space *space, const struct cunei_folder *folder,
                     uint64_t size)
{
    struct statvfs state;

    if (cunei_folder_space(folder, &state) == 0) {
        uint64_t available = (uint64_t)state.f_bavail * state.f_frsize;
        uint64_t total = (uint64_t)state.f_blocks * state.f_frsize;
        if (available < FREE_BYTES_MIN || available < total / FREE_PARTS)
            return -ENOSPC;
    }
    uint64_t used =
        atomic_fetch_add_explicit(space->used, size, memory_order_relaxed) + size;
    return space->max_bytes && used > space->max_bytes ? -E2BIG : 0;
}
