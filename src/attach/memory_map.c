// SPDX-License-Identifier: MIT
#include "attach/memory_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "attach/process_facts.h"

#define MAPS_MAX (64u << 20)

int cunei_memory_map_read(struct cunei_memory_map *map, pid_t pid)
{
    return cunei_process_file_read(pid, "maps", MAPS_MAX, &map->text);
}

void cunei_memory_map_fini(struct cunei_memory_map *map)
{
    cunei_buffer_fini(&map->text);
}

static void set_path(struct cunei_mapping *mapping, const char *path, size_t length)
{
    static const char deleted[] = " (deleted)";
    const size_t tail = sizeof(deleted) - 1;

    mapping->is_deleted =
        length > tail && memcmp(path + length - tail, deleted, tail) == 0;
    mapping->path = path;
    mapping->path_length = length - (mapping->is_deleted ? tail : 0);
    if (length == 0 || path[0] != '/')
        mapping->path_length = 0;
}

bool cunei_memory_map_next(const struct cunei_memory_map *map,
                           struct cunei_mapping *mapping)
{
    while (mapping->next < map->text.size) {
        const char *line = map->text.data + mapping->next;
        size_t length = strcspn(line, "\n");
        int path = 0;
        mapping->next += length + 1;
        if (sscanf(line,
                   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64 "%n",
                   &mapping->start, &mapping->end, mapping->rights, &mapping->offset,
                   &mapping->inode, &path) < 5 ||
            (size_t)path > length || mapping->end <= mapping->start)
            continue;
        size_t from = (size_t)path + strspn(line + path, " ");
        set_path(mapping, line + from, length - from);
        return true;
    }
    return false;
}

const char *cunei_mapping_name(const struct cunei_mapping *mapping, size_t *length)
{
    const char *path = mapping->path;
    size_t from = mapping->path_length;

    while (from > 0 && path[from - 1] != '/')
        from--;
    *length = mapping->path_length - from;
    return path + from;
}

int cunei_memory_read(pid_t pid, uint64_t address, void *bytes, size_t size)
{
    struct iovec local = {bytes, size};
    struct iovec remote = {(void *)(uintptr_t)address, size};

    ssize_t read = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (read < 0)
        return -errno;
    return (size_t)read == size ? 0 : -EFAULT;
}

int cunei_memory_write(pid_t pid, uint64_t address, const void *bytes, size_t size)
{
    struct iovec local = {(void *)(uintptr_t)bytes, size};
    struct iovec remote = {(void *)(uintptr_t)address, size};

    ssize_t written = process_vm_writev(pid, &local, 1, &remote, 1, 0);
    if (written < 0)
        return -errno;
    return (size_t)written == size ? 0 : -EFAULT;
}
