// SPDX-License-Identifier: MIT
#include "attach/memory_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "attach/process_facts.h"

#define MAPS_MAX (64u << 20)
#define RIGHTS   4 /* characters */

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

/* Step over a number and the character behind it; false: it is not there. */
static bool take_number(const char **at, int base, char behind, uint64_t *number)
{
    char *end = NULL;

    *number = strtoull(*at, &end, base);
    if (end == *at || *end != behind)
        return false;
    *at = end + 1;
    return true;
}

/* What comes before the path: "7f00-7f01 r-xp 00001000 fd:01 4711 …".  Where it ends.
 */
static const char *parse_numbers(const char *line, struct cunei_mapping *mapping)
{
    const char *at = line;

    if (!take_number(&at, 16, '-', &mapping->start) ||
        !take_number(&at, 16, ' ', &mapping->end) || strcspn(at, " ") != RIGHTS)
        return NULL;
    memcpy(mapping->rights, at, RIGHTS);
    mapping->rights[RIGHTS] = '\0';
    at += RIGHTS + 1;
    if (!take_number(&at, 16, ' ', &mapping->offset))
        return NULL;
    at += strcspn(at, " \n"); /* the device */
    char *end = NULL;
    mapping->inode = strtoull(at, &end, 10);
    return end == at ? NULL : end;
}

bool cunei_memory_map_next(const struct cunei_memory_map *map,
                           struct cunei_mapping *mapping)
{
    while (mapping->next < map->text.size) {
        const char *line = map->text.data + mapping->next;
        size_t length = strcspn(line, "\n");
        mapping->next += length + 1;
        const char *path = parse_numbers(line, mapping);
        if (!path || path > line + length || mapping->end <= mapping->start)
            continue;
        path += strspn(path, " ");
        set_path(mapping, path, (size_t)(line + length - path));
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
