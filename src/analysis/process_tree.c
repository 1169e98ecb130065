// SPDX-License-Identifier: MIT
#include "analysis/process_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

uint64_t cunei_process_tree_start_ns(const struct cunei_analysis_process *process)
{
    uint64_t start_ns = process->process->description.start_ns;

    /* Events of a forked child begin with the fork, before its recorder is there. */
    return start_ns == 0 || (process->begin_ns > 0 && process->begin_ns < start_ns)
               ? process->begin_ns
               : start_ns;
}

/* Whether it ran on after what is known of it. */
static bool runs_on(const struct cunei_analysis_process *process)
{
    return process->process->state == CUNEI_TRACE_RUNNING ||
           process->process->state == CUNEI_TRACE_SNAPSHOT;
}

/* A process that was killed lived at least up to its last event. */
static uint64_t lived_until_ns(const struct cunei_analysis_process *process)
{
    uint64_t start_ns = cunei_process_tree_start_ns(process);
    uint64_t end_ns = runs_on(process) ? 0 : process->process->description.end_ns;

    end_ns = end_ns > process->end_ns ? end_ns : process->end_ns;
    return end_ns > start_ns ? end_ns : start_ns;
}

uint64_t cunei_process_tree_end_ns(const struct cunei_analysis_process *process)
{
    return runs_on(process) ? 0 : lived_until_ns(process);
}

uint64_t cunei_process_tree_wall_ns(const struct cunei_analysis_process *process)
{
    return lived_until_ns(process) - cunei_process_tree_start_ns(process);
}

/* The processes by pid and index; and by folder. */
struct key {
    const struct cunei_analysis_process *process;
    const char *folder;
    size_t index;
};

static int compare_pids(const void *a, const void *b)
{
    const struct key *one = a, *two = b;
    uint32_t pid = one->process->process->metadata.pid;
    uint32_t other = two->process->process->metadata.pid;

    if (pid != other)
        return pid < other ? -1 : 1;
    return one->index < two->index ? -1 : one->index > two->index;
}

static int compare_folders(const void *a, const void *b)
{
    const struct key *one = a, *two = b;
    return strcmp(one->folder, two->folder);
}

static size_t find_folder(const struct key *keys, size_t count, const char *folder)
{
    const struct key wanted = {.folder = folder};
    const struct key *found =
        bsearch(&wanted, keys, count, sizeof(*keys), compare_folders);
    return found ? found->index : SIZE_MAX;
}

/* The first key of a pid, or of a greater one. */
static size_t find_pid(const struct key *keys, size_t count, uint64_t pid)
{
    return CUNEI_VECTOR_BISECT(i, count, keys[i].process->process->metadata.pid < pid);
}

/* The last one before the child that has its parent's number, on the same host. */
static size_t find_parent(const struct key *keys, size_t count,
                          const struct cunei_analysis_process *child, size_t index)
{
    const struct cunei_trace_process *process = child->process;
    uint64_t pid = process->description.parent;
    uint64_t start_ns = cunei_process_tree_start_ns(child);
    size_t best = SIZE_MAX;

    for (size_t i = find_pid(keys, count, pid);
         i < count && keys[i].process->process->metadata.pid == pid; i++) {
        const struct cunei_analysis_process *parent = keys[i].process;
        uint64_t end_ns = cunei_process_tree_end_ns(parent);
        bool is_over = end_ns > 0 && end_ns < start_ns &&
                       parent->process->state == CUNEI_TRACE_ENDED;
        if (keys[i].index < index && !is_over &&
            strcmp(parent->process->metadata.host, process->metadata.host) == 0)
            best = keys[i].index;
    }
    return best;
}

int cunei_process_tree_find(struct cunei_analysis *analysis)
{
    size_t count = analysis->process_count;
    struct key *keys = calloc(2 * count + 1, sizeof(*keys));
    struct key *folders = keys + count;
    if (!keys)
        return -ENOMEM;

    for (size_t i = 0; i < count; i++)
        keys[i] = folders[i] = (struct key){
            .process = &analysis->processes[i],
            .folder = cunei_trace_folder(analysis->processes[i].process),
            .index = i,
        };
    qsort(keys, count, sizeof(*keys), compare_pids);
    qsort(folders, count, sizeof(*folders), compare_folders);
    for (size_t i = 0; i < count; i++) {
        struct cunei_analysis_process *process = &analysis->processes[i];
        const char *folder = process->process->description.parent_folder;
        size_t parent = folder ? find_folder(folders, count, folder) : SIZE_MAX;
        if (parent >= i)
            parent = find_parent(keys, count, process, i);
        process->parent = parent;
    }
    free(keys);
    return 0;
}

size_t cunei_process_tree_parent(const struct cunei_analysis *analysis, size_t process)
{
    size_t parent = analysis->processes[process].parent;
    return parent < analysis->process_count ? parent : analysis->process_count;
}

int cunei_process_tree_init(struct cunei_process_tree *family,
                            const struct cunei_analysis *analysis)
{
    size_t count = analysis->process_count;

    family->first = malloc((2 * count + 1) * sizeof(*family->first));
    if (!family->first)
        return -ENOMEM;
    family->next = family->first + count + 1;
    for (size_t i = 0; i <= count; i++)
        family->first[i] = SIZE_MAX;
    for (size_t i = count; i > 0; i--) {
        size_t *first = &family->first[cunei_process_tree_parent(analysis, i - 1)];
        family->next[i - 1] = *first;
        *first = i - 1;
    }
    return 0;
}

void cunei_process_tree_fini(struct cunei_process_tree *family)
{
    free(family->first);
    *family = (struct cunei_process_tree){0};
}
