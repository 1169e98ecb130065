// SPDX-License-Identifier: MIT
#include "trace/directory/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/map.h"
#include "base/vector.h"
#include "trace/directory/open_options.h"
#include "trace/directory/process_folder.h"
#include "trace/process/file.h"
#include "trace/process/folder_packets.h"
#include "trace/process/fork_names.h"

static int add_process(struct cunei_trace *trace, const char *path,
                       const struct cunei_trace_open_options *options,
                       struct cunei_trace_error *error)
{
    if (!CUNEI_VECTOR_RESERVE_ONE(trace->processes, trace->process_count))
        return -ENOMEM;
    int rc = cunei_process_folder_open(&trace->processes[trace->process_count], path,
                                       options, error);
    if (rc == 0)
        trace->process_count++;
    return rc;
}

/* A process that cannot be read does not keep the others from being read. */
int cunei_trace_add_damage(struct cunei_trace *trace, const char *folder,
                           const struct cunei_trace_error *error)
{
    if (!CUNEI_VECTOR_RESERVE_ONE(trace->damages, trace->damage_count))
        return -ENOMEM;
    char *copy = strdup(folder);
    if (!copy)
        return -ENOMEM;
    trace->damages[trace->damage_count++] = (struct cunei_trace_damage){copy, *error};
    return 0;
}

static bool is_link(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/*
 * Add a folder below the trace's, if it is a process's; a new one may not be yet.  A
 * link is not followed: a process makes none, so another user has put it there.
 */
static int add_folder(struct cunei_trace *trace, const char *name,
                      const struct cunei_trace_open_options *options,
                      struct cunei_trace_error *error)
{
    char *path = cunei_trace_path(trace->path, name);
    if (!path)
        return -ENOMEM;
    int rc = is_link(path) ? -ENOTDIR : cunei_process_folder_is_one(path);
    if (rc > 0)
        rc = add_process(trace, path, options, error);
    else if (rc == 0 && cunei_folder_has_packets(AT_FDCWD, path))
        rc = cunei_trace_fail(error, -EBADMSG, "the metadata of '%s' is missing", path);
    else if (rc == -ENOTDIR)
        rc = 0; /* a file beside the folders */
    else if (rc < 0)
        (void)cunei_trace_fail(error, rc, "'%s' cannot be searched", path);
    free(path);
    return rc;
}

/* A process that has spent time on writing packets has streams of them. */
static bool has_lost_events(const struct cunei_trace_process *process)
{
    if (process->state != CUNEI_TRACE_ENDED || process->has_ring ||
        process->description.lost > 0 || process->description.write_cpu_ns == 0)
        return false;
    for (size_t i = 0; i < process->stream_count; i++) {
        if (process->streams[i].stream_class == CUNEI_STREAM_EVENTS)
            return false;
    }
    return true;
}

static int find_lost_events(struct cunei_trace *trace)
{
    struct cunei_trace_error error;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < trace->process_count; i++) {
        if (!has_lost_events(&trace->processes[i]))
            continue;
        (void)cunei_trace_fail(&error, -EBADMSG, "the streams of '%s' are missing",
                               trace->processes[i].path);
        rc = cunei_trace_add_damage(trace, cunei_trace_folder(&trace->processes[i]),
                                    &error);
    }
    return rc;
}

static int open_folders(struct cunei_trace *trace,
                        const struct cunei_trace_open_options *options,
                        struct cunei_trace_error *error)
{
    size_t seen = 0;
    int rc = 0, damage = 0;

    DIR *folder = opendir(trace->path);
    if (!folder)
        return cunei_trace_fail(error, -errno, "'%s' cannot be opened", trace->path);
    for (struct dirent *entry; rc == 0 && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        seen++;
        rc = add_folder(trace, entry->d_name, options, error);
        if (rc == -EBADMSG || rc == -ENODATA) {
            damage = damage ? damage : rc;
            rc = cunei_trace_add_damage(trace, entry->d_name, error);
        }
    }
    closedir(folder);
    if (rc == 0 && damage < 0 && trace->process_count == 0) {
        *error = trace->damages[0].error;
        return damage;
    }
    if (rc == 0 && trace->process_count == 0)
        rc = cunei_trace_fail(error, -ENODATA,
                              seen ? "'%s' contains no trace" : "'%s' is empty",
                              trace->path);
    return rc;
}

int cunei_trace_compare_processes(const struct cunei_trace_process *a,
                                  const struct cunei_trace_process *b)
{
    uint64_t start_a = a->description.start_ns, start_b = b->description.start_ns;

    if (start_a != start_b)
        return start_a < start_b ? -1 : 1;
    return strcmp(a->path, b->path);
}

static int compare_processes(const void *left, const void *right)
{
    return cunei_trace_compare_processes(left, right);
}

static bool is_same_process(const struct cunei_trace_process *a,
                            const struct cunei_trace_process *b)
{
    return a->metadata.pid == b->metadata.pid &&
           strcmp(a->metadata.host, b->metadata.host) == 0;
}

/* execv ends a recording as a kill does, but the process has a later folder. */
static void find_replaced(struct cunei_trace *trace)
{
    for (size_t i = 0; i < trace->process_count; i++) {
        struct cunei_trace_process *process = &trace->processes[i];
        for (size_t j = 0;
             process->state == CUNEI_TRACE_KILLED && j < trace->process_count; j++) {
            if (cunei_trace_compare_processes(process, &trace->processes[j]) < 0 &&
                is_same_process(process, &trace->processes[j]))
                process->state = CUNEI_TRACE_REPLACED;
        }
    }
}

/* What the launcher or the process itself wrote has precedence. */
static void take_end(struct cunei_trace_process *process,
                     const struct cunei_child_end *end)
{
    struct cunei_process *description = &process->description;

    if (process->state != CUNEI_TRACE_KILLED || description->signal > 0)
        return;
    if (WIFSIGNALED(end->wait_status)) {
        description->signal = (uint64_t)WTERMSIG(end->wait_status);
        if (end->sent_signal == WTERMSIG(end->wait_status))
            process->state = CUNEI_TRACE_TERMINATED;
    } else if (WIFEXITED(end->wait_status)) {
        description->exited = true;
        description->exit_status = (uint64_t)WEXITSTATUS(end->wait_status);
        process->state = CUNEI_TRACE_EXITED;
    }
}

static uint64_t hash_folder(const char *folder)
{
    return cunei_hash_bytes(CUNEI_HASH_BYTES_FIRST, folder, strlen(folder));
}

static struct cunei_trace_process *find_folder(const struct cunei_trace *trace,
                                               const struct cunei_map *folders,
                                               const char *folder)
{
    struct cunei_map_search search = {.hash = hash_folder(folder)};

    for (uint32_t i; cunei_map_next(folders, &search, &i);) {
        if (strcmp(cunei_trace_folder(&trace->processes[i]), folder) == 0)
            return &trace->processes[i];
    }
    return NULL;
}

static void take_ends_of_children(const struct cunei_trace *trace,
                                  const struct cunei_map *folders,
                                  const struct cunei_trace_process *parent)
{
    for (size_t i = 0; i < parent->description.child_count; i++) {
        const struct cunei_child_end *end = &parent->description.children[i];
        struct cunei_trace_process *child = find_folder(trace, folders, end->folder);
        const char *folder = child ? child->description.parent_folder : NULL;
        if (folder && strcmp(folder, cunei_trace_folder(parent)) == 0)
            take_end(child, end);
    }
}

/* A process that was cut off did not describe its end; its parent may have. */
static int find_described_ends(struct cunei_trace *trace)
{
    struct cunei_map folders = {0};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < trace->process_count; i++)
        rc = cunei_map_add(&folders,
                           hash_folder(cunei_trace_folder(&trace->processes[i])),
                           (uint32_t)i);
    for (size_t i = 0; rc == 0 && i < trace->process_count; i++)
        take_ends_of_children(trace, &folders, &trace->processes[i]);
    cunei_map_fini(&folders);
    return rc;
}

int cunei_trace_find_ends(struct cunei_trace *trace)
{
    find_replaced(trace);
    return find_described_ends(trace);
}

/* Order the processes by time, and find out about each from the others. */
static int relate_processes(struct cunei_trace *trace)
{
    qsort(trace->processes, trace->process_count, sizeof(trace->processes[0]),
          compare_processes);
    int rc = cunei_trace_find_ends(trace);
    return rc < 0 ? rc : cunei_fork_names_set(trace->processes, trace->process_count);
}

int cunei_trace_open(struct cunei_trace *trace, const char *path,
                     struct cunei_trace_error *error)
{
    return cunei_trace_open_with(trace, path, &(struct cunei_trace_open_options){0},
                                 error);
}

int cunei_trace_open_with(struct cunei_trace *trace, const char *path,
                          const struct cunei_trace_open_options *options,
                          struct cunei_trace_error *error)
{
    *error = (struct cunei_trace_error){0};
    *trace = (struct cunei_trace){.path = strdup(path)};
    int rc = trace->path ? cunei_process_folder_is_one(path) : -ENOMEM;
    if (rc > 0)
        rc = add_process(trace, path, options, error);
    else if (rc == 0)
        rc = open_folders(trace, options, error);
    else
        (void)cunei_trace_fail(error, rc, "'%s' cannot be opened", path);
    if (rc == 0)
        rc = find_lost_events(trace);
    if (rc == 0)
        rc = relate_processes(trace);
    if (rc < 0) {
        cunei_trace_close(trace);
        if (error->text[0] == '\0')
            (void)cunei_trace_fail(error, rc, "'%s' cannot be opened", path);
        return rc;
    }
    return 0;
}

void cunei_trace_close(struct cunei_trace *trace)
{
    for (size_t i = 0; i < trace->process_count; i++)
        cunei_process_folder_close(&trace->processes[i]);
    free(trace->processes);
    for (size_t i = 0; i < trace->damage_count; i++)
        free(trace->damages[i].folder);
    free(trace->damages);
    free(trace->path);
    *trace = (struct cunei_trace){0};
}
