// SPDX-License-Identifier: MIT
/*
 * The memory of another process: what is mapped where, and its bytes.
 *
 *     struct cunei_memory_map map = {0};
 *     struct cunei_mapping mapping = {0};
 *     if (cunei_memory_map_read(&map, pid) == 0)
 *         while (cunei_memory_map_next(&map, &mapping))
 *             … mapping.path …
 *     cunei_memory_map_fini(&map);
 */
#ifndef CUNEI_ATTACH_MEMORY_MAP_H
#define CUNEI_ATTACH_MEMORY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"

struct cunei_memory_map {
    struct cunei_buffer text; /* owned: of /proc/PID/maps */
};

struct cunei_mapping {
    uint64_t start, end, offset, inode;
    char rights[5];     /* "r-xp" */
    const char *path;   /* borrowed from the map, not NUL-terminated; as the process
                           sees it, with newlines as \012 */
    size_t path_length; /* 0: it is not a file */
    bool is_deleted;    /* the name no longer leads to the file */
    size_t next;        /* private: where the search continues; 0 to begin */
};

/* -EACCES: we may not look into the process. */
int cunei_memory_map_read(struct cunei_memory_map *map, pid_t pid);

/* The next mapping; false: there are no more. */
bool cunei_memory_map_next(const struct cunei_memory_map *map,
                           struct cunei_mapping *mapping);
void cunei_memory_map_fini(struct cunei_memory_map *map);

/* The last part of a mapping's path, as long as `*length`. */
const char *cunei_mapping_name(const struct cunei_mapping *mapping, size_t *length);

/* All of the bytes, or -EFAULT, -EPERM, -ESRCH. */
int cunei_memory_read(pid_t pid, uint64_t address, void *bytes, size_t size);
int cunei_memory_write(pid_t pid, uint64_t address, const void *bytes, size_t size);

#endif
