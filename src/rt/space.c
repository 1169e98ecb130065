// SPDX-License-Identifier: MIT
#include "rt/space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/safe_open.h"
#include "base/units.h"
#include "rt/file.h"

#define FREE_BYTES_MIN (UINT64_C(1) << 30)
#define FREE_PARTS     20 /* one of 20 parts stays free: 5 % */

/*
 * Whether another process of this user made the file, or we did just now: it has the
 * owner and the rights that the file system gives to what we make.
 */
static bool is_counter(const struct stat *status, const struct cunei_folder *folder)
{
    return status->st_uid == folder->owner && status->st_nlink == 1 &&
           (status->st_mode & 022 & ~folder->mode) == 0 &&
           (status->st_size == 0 || status->st_size == sizeof(uint64_t));
}

/*
 * Give the counter a place on disk: a store into a hole of a full disk is a SIGBUS.
 * Others may be counting already, so only the highest byte is written: it is always 0.
 */
static int allocate(int fd)
{
    int rc = cunei_file_check_limit(sizeof(uint64_t));
    return rc < 0 ? rc : pwrite(fd, "", 1, sizeof(uint64_t) - 1) == 1 ? 0 : -EIO;
}

static void *map_counter(const struct cunei_folder *folder)
{
    void *memory = NULL;
    struct stat status;

    int directory = cunei_folder_open_parent(folder);
    if (directory < 0)
        return NULL;
    int fd =
        cunei_safe_open_file(directory, CUNEI_SPACE_NAME, O_RDWR | O_CREAT, &status);
    close(directory);
    if (fd < 0)
        return NULL;
    if (is_counter(&status, folder) && allocate(fd) == 0) {
        memory =
            mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (memory == MAP_FAILED)
            memory = NULL;
    }
    close(fd);
    return memory;
}

void cunei_space_open(struct cunei_space *space, const struct cunei_folder *folder,
                      uint64_t max_bytes)
{
    space->max_bytes = max_bytes;
    space->own = 0;
    space->mapped = max_bytes ? map_counter(folder) : NULL;
    space->used = space->mapped ? space->mapped : &space->own;
}

void cunei_space_close(struct cunei_space *space)
{
    if (space->mapped)
        munmap(space->mapped, sizeof(uint64_t));
    space->mapped = NULL;
}

/* Whether that much may be used of a file system. */
static int check(const struct statvfs *state, uint64_t size)
{
    uint64_t available = (uint64_t)state->f_bavail * state->f_frsize;
    uint64_t total = (uint64_t)state->f_blocks * state->f_frsize;
    uint64_t kept =
        total / FREE_PARTS > FREE_BYTES_MIN ? total / FREE_PARTS : FREE_BYTES_MIN;
    return available < kept || available - kept < size ? -ENOSPC : 0;
}

int cunei_space_check(struct cunei_folder *folder, uint64_t size)
{
    struct statvfs state;

    /* If it is not known, writing shows it. */
    return cunei_folder_space(folder, &state) < 0 ? 0 : check(&state, size);
}

int cunei_space_check_directory(const char *path, uint64_t size)
{
    struct statvfs state;

    return statvfs(path, &state) < 0 ? 0 : check(&state, size);
}

/* Memory that programs can still get, in bytes; UINT64_MAX: not known. */
static uint64_t available_memory(void)
{
    static const char name[] = "MemAvailable:";
    char line[128];
    bool is_found = false;

    FILE *file = fopen("/proc/meminfo", "re");
    if (!file)
        return UINT64_MAX;
    while (!is_found && fgets(line, sizeof(line), file))
        is_found = strncmp(line, name, sizeof(name) - 1) == 0;
    (void)fclose(file);
    return is_found ? strtoull(line + sizeof(name) - 1, NULL, 10) * CUNEI_KIB
                    : UINT64_MAX;
}

int cunei_space_check_memory(uint64_t size)
{
    struct statvfs state;

    if (statvfs("/dev/shm", &state) == 0 &&
        (uint64_t)state.f_bavail * state.f_frsize < size)
        return -ENOSPC;
    return size > available_memory() / 2 ? -ENOMEM : 0;
}

int cunei_space_count(struct cunei_space *space, uint64_t size)
{
    uint64_t used =
        atomic_fetch_add_explicit(space->used, size, memory_order_relaxed) + size;
    return space->max_bytes && used > space->max_bytes ? -E2BIG : 0;
}

int cunei_space_take(struct cunei_space *space, struct cunei_folder *folder,
                     uint64_t size)
{
    int rc = cunei_space_check(folder, 0);
    return rc < 0 ? rc : cunei_space_count(space, size);
}
