// SPDX-License-Identifier: MIT
/* Each process is looked at once; most are dismissed by the names of what they map. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/memory_map.h"
#include "attach/target.h"
#include "base/safe_open.h"
#include "base/vector.h"

/* Programs that were looked into, so that each file is read once. */
struct program {
    struct cunei_file_id id;
    bool is_python;
};

struct programs {
    struct program *items; /* owned */
    size_t count;
};

static pid_t pid_of(const char *name)
{
    char *end = NULL;

    if (!isdigit((unsigned char)name[0]))
        return 0;
    unsigned long pid = strtoul(name, &end, 10);
    return *end == '\0' && pid <= INT_MAX ? (pid_t)pid : 0;
}

static bool maps_python(const struct cunei_memory_map *map)
{
    struct cunei_mapping mapping = {0};

    while (cunei_memory_map_next(map, &mapping)) {
        size_t length;
        const char *name = cunei_mapping_name(&mapping, &length);
        if (length > 0 && cunei_python_image_is_name(name, length))
            return true;
    }
    return false;
}

static bool find_program(const struct programs *programs, const struct stat *status,
                         bool *is_python)
{
    for (size_t i = 0; i < programs->count; i++) {
        if (cunei_file_id_is(&programs->items[i].id, status)) {
            *is_python = programs->items[i].is_python;
            return true;
        }
    }
    return false;
}

/* A program with a name of its own may contain CPython: its symbols say so. */
static bool is_python_inside(const struct cunei_process_facts *process,
                             const struct cunei_memory_map *map,
                             struct programs *programs)
{
    struct cunei_python_image image = {0};
    struct cunei_attach_error error;
    char path[32];
    struct stat status;
    bool is_python = false;

    (void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)process->pid);
    if (stat(path, &status) < 0 || find_program(programs, &status, &is_python))
        return is_python;
    is_python = cunei_python_image_find(process, map, &image, &error) == 0;
    cunei_python_image_fini(&image);
    if (CUNEI_VECTOR_RESERVE_ONE(programs->items, programs->count))
        programs->items[programs->count++] =
            (struct program){cunei_file_id_of(&status), is_python};
    return is_python;
}

/* Whether to examine it: it is, or may be, a Python. */
static bool is_candidate(const struct cunei_process_facts *process,
                         struct programs *programs)
{
    struct cunei_memory_map map = {0};
    bool is_python;

    if (cunei_memory_map_read(&map, process->pid) < 0)
        is_python = cunei_python_image_is_name(process->name, strlen(process->name));
    else
        is_python = maps_python(&map) || is_python_inside(process, &map, programs);
    cunei_memory_map_fini(&map);
    return is_python;
}

static int add(struct cunei_target_list *list,
               const struct cunei_process_facts *process)
{
    if (!CUNEI_VECTOR_RESERVE(list->items, list->capacity, list->count + 1))
        return -ENOMEM;
    struct cunei_target_entry *entry = &list->items[list->count];
    *entry = (struct cunei_target_entry){.target.process = *process};
    entry->rc = cunei_target_open(process->pid, &entry->target, &entry->error);
    /* Not a Python after all, or gone. */
    if (entry->rc != -ENOEXEC && entry->rc != -ESRCH)
        list->count++;
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct cunei_target_entry *a = left, *b = right;
    pid_t first = a->target.process.pid, second = b->target.process.pid;

    return (first > second) - (first < second);
}

static int examine(struct cunei_target_list *list, pid_t pid, struct programs *programs)
{
    struct cunei_process_facts process;

    if (pid == 0 || pid == getpid() || cunei_process_facts_read(pid, &process) < 0 ||
        process.is_zombie || process.is_kernel_thread ||
        !is_candidate(&process, programs))
        return 0;
    return add(list, &process);
}

int cunei_target_list_read(struct cunei_target_list *list)
{
    struct programs programs = {0};
    int rc = 0;

    DIR *processes = opendir("/proc");
    if (!processes)
        return -errno;
    for (struct dirent *entry; rc == 0 && (entry = readdir(processes));)
        rc = examine(list, pid_of(entry->d_name), &programs);
    (void)closedir(processes);
    free(programs.items);
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(list->items[0]), compare);
    return rc;
}

void cunei_target_list_fini(struct cunei_target_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        cunei_target_close(&list->items[i].target);
    free(list->items);
    *list = (struct cunei_target_list){0};
}
