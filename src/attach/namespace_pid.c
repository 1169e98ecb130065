// SPDX-License-Identifier: MIT
#include "attach/namespace_pid.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/process_facts.h"

enum {
    NAME_SIZE = 64
};

/* "pid:[4026531836]"; empty: we may not look. */
static void read_namespace(pid_t pid, char name[NAME_SIZE])
{
    char path[NAME_SIZE];

    (void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
    ssize_t size = readlink(path, name, NAME_SIZE - 1);
    name[size > 0 ? size : 0] = '\0';
}

static bool is_it(pid_t pid, pid_t inner_pid, const char *namespace,
                  struct cunei_process_facts *facts)
{
    char name[NAME_SIZE];

    if (cunei_process_facts_read(pid, facts) < 0 || facts->inner_pid != inner_pid)
        return false;
    read_namespace(pid, name);
    return strcmp(name, namespace) == 0;
}

int cunei_namespace_pid_find(const struct cunei_process_facts *neighbour,
                             pid_t inner_pid, struct cunei_process_facts *found)
{
    char namespace[NAME_SIZE];
    bool is_found = false;

    if (!neighbour->is_in_other_pid_namespace)
        return cunei_process_facts_read(inner_pid, found);
    read_namespace(neighbour->pid, namespace);
    DIR *processes = namespace[0] ? opendir("/proc") : NULL;
    for (struct dirent *entry; processes && !is_found && (entry = readdir(processes));)
        is_found =
            isdigit((unsigned char)entry->d_name[0]) &&
            is_it((pid_t)strtol(entry->d_name, NULL, 10), inner_pid, namespace, found);
    if (processes)
        (void)closedir(processes);
    return is_found ? 0 : -ESRCH;
}
