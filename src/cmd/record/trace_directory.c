// SPDX-License-Identifier: MIT
#include "cmd/record/trace_directory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/safe_open.h"
#include "cmd/common/output_file.h"
#include "rt/refusal.h"
#include "rt/space.h"
#include "trace/process_folder.h"
#include "trace/trace.h"
#include "wire/live.h"
#include "wire/live_place.h"
#include "wire/process.h"

#define NAMES_MAX 1000 /* that are tried for a new directory */

/* What stands in a directory. */
struct content {
    unsigned traces; /* folders of processes, and our own hidden files */
    unsigned others;
};

static bool is_digits(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* In a process's folder: streams, metadata, the hidden files and their successors. */
static bool is_ours_inside(const char *name)
{
    return strcmp(name, "metadata") == 0 || strcmp(name, ".metadata.new") == 0 ||
           strcmp(name, CUNEI_LIVE_NAME) == 0 ||
           strcmp(name, "." CUNEI_LIVE_NAME ".new") == 0 ||
           strcmp(name, CUNEI_PROCESS_NAME) == 0 ||
           strcmp(name, "." CUNEI_PROCESS_NAME ".new") == 0 ||
           (name[0] == 's' && is_digits(name + 1));
}

/* In the trace directory, beside the folders. */
static bool is_ours_beside(const char *name)
{
    /* A trace that was exported is marked, one that is recorded in its place is not. */
    return strcmp(name, CUNEI_SPACE_NAME) == 0 ||
           strcmp(name, CUNEI_TARGET_MARK) == 0 ||
           strncmp(name, CUNEI_REFUSAL_NAME, strlen(CUNEI_REFUSAL_NAME)) == 0;
}

/* Whether there is nothing in the folder. */
static bool is_empty(int fd)
{
    unsigned count = 0;
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);

    if (!folder) {
        if (copy >= 0)
            close(copy);
        return false;
    }
    while (readdir(folder))
        count++;
    (void)closedir(folder);
    return count <= 2; /* itself and its parent */
}

/* `<host>-<pid>-<n>` with something of ours in it, or killed before there was. */
static bool is_process_folder(int parent, const char *name)
{
    static const char *const marks[] = {CUNEI_PROCESS_NAME, CUNEI_LIVE_NAME,
                                        "metadata"};
    const char *dash = strrchr(name, '-');
    bool found = false;

    if (!dash || !is_digits(dash + 1) || dash == name ||
        !isdigit((unsigned char)dash[-1]))
        return false;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        found |= faccessat(fd, marks[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    found = found || is_empty(fd);
    close(fd);
    return found;
}

/* A live file in memory goes with the file that names it. */
static void remove_from_memory(int folder)
{
    struct cunei_live_place place;
    struct stat status;

    int fd = cunei_safe_open_file(folder, CUNEI_LIVE_NAME, O_RDONLY, &status);
    if (fd < 0)
        return;
    if (cunei_live_place_read(&place, fd) == 0)
        (void)cunei_safe_remove_path(place.path, &place.id);
    close(fd);
}

static int remove_process_folder(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    DIR *folder = fdopendir(fd);
    if (!folder) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    remove_from_memory(fd);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (is_ours_inside(entry->d_name))
            (void)unlinkat(fd, entry->d_name, 0);
    }
    (void)closedir(folder);
    return unlinkat(parent, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* Look at each entry; with `remove`, take ours away. */
static int walk(const char *path, bool remove, struct content *content)
{
    int rc = 0;

    DIR *folder = opendir(path);
    if (!folder)
        return -errno;
    int fd = dirfd(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *name = entry->d_name;
        int removed = 0;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        bool beside = is_ours_beside(name);
        if (!beside && !is_process_folder(fd, name)) {
            content->others++;
            continue;
        }
        content->traces++;
        if (remove && beside)
            removed = unlinkat(fd, name, 0) < 0 ? -errno : 0;
        else if (remove)
            removed = remove_process_folder(fd, name);
        if (rc == 0)
            rc = removed;
    }
    (void)closedir(folder);
    return rc;
}

int cunei_trace_directory_remove(const char *path)
{
    struct content content = {0};

    int rc = walk(path, true, &content);
    if (rmdir(path) < 0 && rc == 0 && errno != ENOTEMPTY)
        rc = -errno;
    return rc;
}

bool cunei_trace_directory_has_data(const char *path)
{
    bool has = false;

    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && !has && (entry = readdir(folder));) {
        char *inside = NULL;
        struct stat status;
        if (entry->d_name[0] == '.' ||
            fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISDIR(status.st_mode) ||
            asprintf(&inside, "%s/%s", path, entry->d_name) < 0)
            continue;
        has = cunei_process_folder_is_one(inside) > 0 ||
              cunei_process_folder_has_packets(inside);
        free(inside);
    }
    if (folder)
        (void)closedir(folder);
    return has;
}

unsigned cunei_trace_directory_writers(const char *path, uint64_t *pid)
{
    struct cunei_trace trace;
    struct cunei_trace_error error;
    unsigned count = 0;

    if (cunei_trace_open(&trace, path, &error) < 0)
        return 0;
    for (size_t i = 0; i < trace.process_count; i++) {
        if (trace.processes[i].state == CUNEI_TRACE_RUNNING) {
            *pid = trace.processes[i].metadata.pid;
            count++;
        }
    }
    cunei_trace_close(&trace);
    return count;
}

/* The directory is there: it must be empty, or a trace that may go. */
static bool take_over(const char *path, const char *option, bool force,
                      struct cunei_buffer *reason)
{
    struct content content = {0};
    uint64_t writer = 0;

    int rc = walk(path, false, &content);
    if (rc == 0 && content.traces && force)
        (void)cunei_trace_directory_writers(path, &writer);
    if (rc < 0)
        cunei_buffer_format(reason, "cannot record to '%s': %s", path, strerror(-rc));
    else if (content.traces && !force)
        cunei_buffer_format(reason,
                            "'%s' already holds a trace; overwrite it with --force, or "
                            "choose another directory with %s",
                            path, option);
    else if (writer)
        cunei_buffer_format(reason,
                            "process %" PRIu64
                            " is recording to '%s'; choose another directory with "
                            "%s",
                            writer, path, option);
    else if (content.others && !content.traces)
        cunei_buffer_format(reason,
                            "cannot record to '%s': it contains other files; choose a "
                            "new directory",
                            path);
    else if (content.traces && (rc = walk(path, true, &content)) < 0)
        cunei_buffer_format(reason, "cannot remove the old trace in '%s': %s", path,
                            strerror(-rc));
    else if (access(path, W_OK | X_OK) < 0)
        cunei_buffer_format(reason, "cannot record to '%s': %s", path, strerror(errno));
    return !reason->size;
}

char *cunei_trace_directory_make(const char *path, const char *option, bool force,
                                 struct cunei_buffer *reason)
{
    bool made = mkdir(path, 0700) == 0;
    int error = errno;

    if (!made && error == EEXIST) {
        if (!take_over(path, option, force, reason))
            return NULL;
    } else if (!made) {
        cunei_buffer_format(
            reason, "cannot create the directory '%s': %s; choose another with %s",
            path, strerror(error), option);
        return NULL;
    }
    char *absolute = realpath(path, NULL);
    if (!absolute)
        cunei_buffer_format(reason, "cannot record to '%s': %s", path, strerror(errno));
    return absolute;
}

char *cunei_trace_directory_make_new(const char *name, char **made,
                                     struct cunei_buffer *reason)
{
    char *path = NULL, *absolute = NULL;
    int error = EEXIST;

    for (unsigned n = 0; error == EEXIST && n < NAMES_MAX; n++) {
        free(path);
        int length =
            n ? asprintf(&path, "%s-%u", name, n) : asprintf(&path, "%s", name);
        path = length < 0 ? NULL : path;
        error = !path ? ENOMEM : mkdir(path, 0700) < 0 ? errno : 0;
    }
    absolute = error ? NULL : realpath(path, NULL);
    if (!absolute) {
        cunei_buffer_format(reason,
                            "cannot create the directory '%s': %s; choose another with "
                            "-o",
                            name, strerror(error ? error : errno));
        free(path);
    } else
        *made = path;
    return absolute;
}

static bool is_in_memory(const char *path)
{
    struct statfs system;

    return statfs(path, &system) == 0 &&
           (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

char *cunei_trace_directory_make_temporary(struct cunei_buffer *reason)
{
    const char *places[] = {getenv("TMPDIR"), "/var/tmp", "/tmp", "."};
    const size_t count = sizeof(places) / sizeof(places[0]);
    char *path = NULL;

    /* A trace may be larger than memory: first the disks, then what there is. */
    for (size_t i = 0; i < 2 * count; i++) {
        const char *place = places[i % count];
        bool in_memory = i >= count;
        if (!place || !*place || is_in_memory(place) != in_memory)
            continue;
        if (asprintf(&path, "%s/cunei-XXXXXX", place) < 0)
            break;
        char *absolute = mkdtemp(path) ? realpath(path, NULL) : NULL;
        free(path);
        if (absolute)
            return absolute;
    }
    cunei_buffer_append_text(reason,
                             "cannot create a temporary directory for the trace; "
                             "choose a place with TMPDIR, or with --save");
    return NULL;
}
