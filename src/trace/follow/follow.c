// SPDX-License-Identifier: MIT
#include "trace/follow/follow.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/vector.h"
#include "trace/directory/process_folder.h"
#include "trace/directory/trace.h"
#include "trace/follow/follow_process.h"
#include "trace/process/file.h"
#include "trace/process/fork_names.h"

/* Bytes of a stream's file that one poll reads, so that all streams get their turn. */
#define PORTION (UINT64_C(8) << 20)

struct cunei_trace_follow {
    struct cunei_trace trace;
    struct cunei_follow_process *processes; /* owned: as the trace's */
    size_t capacity;
    const struct cunei_trace_choice *choice; /* borrowed */
    bool is_one;                             /* the path is a process's folder */
    char **names;                            /* owned: folders that were looked at */
    size_t name_count;
    struct cunei_map map; /* of names */
    uint64_t portion;     /* of a stream, in one poll */
    uint64_t missed;
    int damage; /* the errno of the first folder that cannot be read */
};

static uint64_t hash_name(const char *name)
{
    return cunei_hash_bytes(CUNEI_HASH_BYTES_FIRST, name, strlen(name));
}

static bool is_known(const struct cunei_trace_follow *follow, const char *name)
{
    struct cunei_map_search search = {.hash = hash_name(name)};

    for (uint32_t i; cunei_map_next(&follow->map, &search, &i);) {
        if (strcmp(follow->names[i], name) == 0)
            return true;
    }
    return false;
}

static int remember(struct cunei_trace_follow *follow, const char *name)
{
    if (!CUNEI_VECTOR_RESERVE_ONE(follow->names, follow->name_count))
        return -ENOMEM;
    char *copy = strdup(name);
    if (!copy)
        return -ENOMEM;
    follow->names[follow->name_count] = copy;
    return cunei_map_add(&follow->map, hash_name(name), (uint32_t)follow->name_count++);
}

static int add_process(struct cunei_trace_follow *follow, const char *path,
                       struct cunei_trace_error *error)
{
    struct cunei_trace *trace = &follow->trace;

    if (!CUNEI_VECTOR_RESERVE(follow->processes, follow->capacity,
                              trace->process_count + 1) ||
        !CUNEI_VECTOR_RESERVE_ONE(trace->processes, trace->process_count))
        return -ENOMEM;
    int rc =
        cunei_follow_process_open(&follow->processes[trace->process_count],
                                  &trace->processes[trace->process_count], path, error);
    trace->process_count += rc == 0;
    return rc;
}

static bool is_folder(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A folder of a process has metadata as soon as there is something to read.  A link is
 * not followed: a process makes none, so another user has put it there. */
static int add_folder(struct cunei_trace_follow *follow, const char *name,
                      struct cunei_trace_error *error)
{
    char *path = cunei_trace_path(follow->trace.path, name);
    if (!path)
        return -ENOMEM;
    int rc = is_folder(path) ? cunei_process_folder_is_one(path) : 0;
    if (rc > 0) {
        rc = remember(follow, name);
        if (rc == 0)
            rc = add_process(follow, path, error);
        if (rc < 0 && rc != -ENOMEM) {
            follow->damage = follow->damage ? follow->damage : rc;
            rc = cunei_trace_add_damage(&follow->trace, name, error);
        }
    }
    free(path);
    return rc == -ENOMEM ? rc : 0;
}

/* Find new processes.  `*others`: names that are not processes. */
static int list_folders(struct cunei_trace_follow *follow,
                        struct cunei_trace_error *error, size_t *others)
{
    size_t before = follow->name_count;
    int rc = 0;

    DIR *folder = opendir(follow->trace.path);
    if (!folder)
        return cunei_trace_fail(error, -errno, "'%s' cannot be opened",
                                follow->trace.path);
    for (struct dirent *entry; rc == 0 && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.' || is_known(follow, entry->d_name))
            continue;
        ++*others;
        rc = add_folder(follow, entry->d_name, error);
    }
    closedir(folder);
    *others -= follow->name_count - before;
    return rc;
}

static int find_processes(struct cunei_trace_follow *follow, const char *path,
                          struct cunei_trace_error *error)
{
    size_t others = 0;

    int rc = cunei_process_folder_is_one(path);
    if (rc < 0)
        return cunei_trace_fail(error, rc, "'%s' cannot be opened", path);
    follow->is_one = rc > 0;
    if (follow->is_one)
        return add_process(follow, path, error);
    rc = list_folders(follow, error, &others);
    if (rc == 0 && follow->trace.process_count == 0) {
        if (follow->trace.damage_count > 0) {
            *error = follow->trace.damages[0].error;
            return follow->damage;
        }
        if (others > 0)
            return cunei_trace_fail(error, -ENODATA, "'%s' contains no trace", path);
    }
    return rc;
}

int cunei_trace_follow_open(struct cunei_trace_follow **follow, const char *path,
                            const struct cunei_trace_choice *choice,
                            struct cunei_trace_error *error)
{
    struct cunei_trace_follow *opened = calloc(1, sizeof(*opened));

    *error = (struct cunei_trace_error){0};
    if (!opened)
        return -ENOMEM;
    opened->choice = choice;
    opened->portion = PORTION;
    opened->trace.path = strdup(path);
    int rc = opened->trace.path ? find_processes(opened, path, error) : -ENOMEM;
    if (rc < 0) {
        cunei_trace_follow_close(opened);
        return rc;
    }
    *follow = opened;
    return 0;
}

void cunei_trace_follow_close(struct cunei_trace_follow *follow)
{
    if (!follow)
        return;
    for (size_t i = 0; i < follow->trace.process_count; i++)
        cunei_follow_process_fini(&follow->processes[i]);
    free(follow->processes);
    for (size_t i = 0; i < follow->name_count; i++)
        free(follow->names[i]);
    free(follow->names);
    cunei_map_fini(&follow->map);
    cunei_trace_close(&follow->trace);
    free(follow);
}

/* What the reader of parts returned ends the poll; what cannot be read does not. */
struct guard {
    int (*read)(void *context, const struct cunei_trace_part *part);
    void *context;
    int rc;
};

static int guarded_read(void *context, const struct cunei_trace_part *part)
{
    struct guard *guard = context;

    guard->rc = guard->read(guard->context, part);
    return guard->rc;
}

static int poll_process(struct cunei_trace_follow *follow, size_t index,
                        struct guard *guard, bool *has_more)
{
    struct cunei_trace_error error = {0};
    struct cunei_follow_poll poll = {.trace = &follow->trace,
                                     .index = index,
                                     .portion = follow->portion,
                                     .read = guarded_read,
                                     .context = guard};

    int rc = cunei_follow_process_poll(&follow->processes[index], &poll, follow->choice,
                                       &error);
    *has_more |= poll.has_more;
    follow->missed += poll.missed;
    if (rc >= 0 || rc == -ENOMEM || guard->rc != 0)
        return rc;
    /* Its rest is passed over. */
    const struct cunei_trace_process *process = &follow->trace.processes[index];
    if (error.text[0] == '\0')
        (void)cunei_trace_fail(&error, rc, "'%s' cannot be read", process->path);
    follow->processes[index].has_ended = true;
    return cunei_trace_add_damage(&follow->trace, cunei_trace_folder(process), &error);
}

int cunei_trace_follow_poll(struct cunei_trace_follow *follow,
                            int (*read)(void *context,
                                        const struct cunei_trace_part *part),
                            void *context)
{
    struct guard guard = {.read = read, .context = context};
    struct cunei_trace_error error;
    bool has_more = false, is_alive = false, has_ended = false;
    size_t others = 0;
    int rc = 0;

    /* A trace that was removed meanwhile has no new processes. */
    if (!follow->is_one && list_folders(follow, &error, &others) == -ENOMEM)
        return -ENOMEM;
    for (size_t i = 0; rc == 0 && i < follow->trace.process_count; i++) {
        if (follow->processes[i].has_ended)
            continue;
        rc = poll_process(follow, i, &guard, &has_more);
        is_alive |= !follow->processes[i].has_ended;
        has_ended |= follow->processes[i].has_ended;
    }
    if (rc == 0 && has_ended)
        rc = cunei_trace_find_ends(&follow->trace);
    if (rc == 0)
        rc = cunei_fork_names_set(follow->trace.processes, follow->trace.process_count);
    if (rc != 0)
        return rc;
    if (follow->trace.process_count == 0)
        return 1;
    return has_more || has_ended ? 2 : is_alive;
}

const struct cunei_trace *cunei_trace_follow_trace(
    const struct cunei_trace_follow *follow)
{
    return &follow->trace;
}

bool cunei_trace_follow_is_read(const struct cunei_trace_follow *follow, size_t process)
{
    return follow->processes[process].is_chosen;
}

bool cunei_trace_follow_has_ended(const struct cunei_trace_follow *follow,
                                  size_t process)
{
    return follow->processes[process].has_ended;
}

void cunei_trace_follow_set_portion(struct cunei_trace_follow *follow, uint64_t bytes)
{
    follow->portion = bytes;
}

uint64_t cunei_trace_follow_missed(const struct cunei_trace_follow *follow)
{
    return follow->missed;
}
