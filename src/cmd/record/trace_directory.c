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
#include "trace/directory/open_options.h"
#include "trace/directory/process_folder.h"
#include "trace/directory/trace.h"
#include "trace/process/folder_packets.h"
#include "wire/live.h"
#include "wire/live_place.h"
#include "wire/metadata.h"
#include "wire/process.h"
#include "wire/ring.h"
#include "wire/temporary_name.h"

#define NAMES_MAX 1000 /* that are tried for a new directory */

/* What stands in a directory. */
struct content {
    uid_t owner;      /* whose folders of processes may be removed */
    unsigned traces;  /* folders of processes, and our own hidden files */
    unsigned foreign; /* of these, folders of other users */
    unsigned others;
};

static bool is_digits(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* In a process's folder: what shows that it is one. */
static const char *const marks[] = {
    CUNEI_PROCESS_NAME,
    CUNEI_LIVE_NAME,
    CUNEI_RING_NAME,
    CUNEI_METADATA_NAME,
    CUNEI_TEMPORARY_NAME(CUNEI_PROCESS_NAME),
    CUNEI_TEMPORARY_NAME(CUNEI_METADATA_NAME),
    CUNEI_RECOVERED_PROCESS_NAME,
    CUNEI_OWNER_PROBE_NAME,
};

#define MARK_COUNT (sizeof(marks) / sizeof(marks[0]))

/* In a process's folder: those, and streams. */
static bool is_ours_inside(const char *name)
{
    bool is_ours = name[0] == 's' && is_digits(name + 1);

    for (size_t i = 0; i < MARK_COUNT; i++)
        is_ours |= strcmp(name, marks[i]) == 0;
    return is_ours;
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
    DIR *folder = cunei_safe_list_folder(fd, ".");

    if (!folder)
        return false;
    while (readdir(folder))
        count++;
    (void)closedir(folder);
    return count <= 2; /* itself and its parent */
}

/*
 * A descriptor of the folder `<host>-<pid>-<n>` with something of ours in it, or killed
 * before there was; -1: it is something else.
 */
static int open_process_folder(int parent, const char *name, struct stat *status)
{
    const char *dash = strrchr(name, '-');
    bool found = false;

    if (!dash || !is_digits(dash + 1) || dash == name ||
        !isdigit((unsigned char)dash[-1]))
        return -1;
    int fd = cunei_safe_open_folder(parent, name, status);
    if (fd < 0)
        return -1;
    for (size_t i = 0; i < MARK_COUNT; i++)
        found |= faccessat(fd, marks[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (found || is_empty(fd))
        return fd;
    close(fd);
    return -1;
}

/* A live file or ring in memory goes with the file that names it. */
static void remove_from_memory(int folder, const char *name)
{
    struct cunei_live_place place;
    struct stat status;

    int fd = cunei_safe_open_file(folder, name, O_RDONLY, &status);
    if (fd < 0)
        return;
    if (cunei_live_place_read(&place, fd) == 0)
        (void)cunei_safe_remove_path(place.path, &place.id);
    close(fd);
}

static int remove_process_folder(int parent, const char *name, int fd)
{
    DIR *folder = cunei_safe_list_folder(fd, ".");

    if (!folder)
        return -errno;
    remove_from_memory(fd, CUNEI_LIVE_NAME);
    remove_from_memory(fd, CUNEI_RING_NAME);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (is_ours_inside(entry->d_name))
            (void)unlinkat(fd, entry->d_name, 0);
    }
    (void)closedir(folder);
    return unlinkat(parent, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* Whether something was recorded in a folder, readable or not. */
static bool has_data(int folder)
{
    return faccessat(folder, CUNEI_METADATA_NAME, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
           cunei_folder_has_packets(folder, ".");
}

/* Whether that is so in any folder below the directory, whatever its name is. */
static bool has_data_below(int directory)
{
    bool has = false;

    DIR *folder = cunei_safe_list_folder(directory, ".");
    for (struct dirent *entry; folder && !has && (entry = readdir(folder));) {
        struct stat status;
        int fd = entry->d_name[0] == '.'
                     ? -1
                     : cunei_safe_open_folder(directory, entry->d_name, &status);
        has = fd >= 0 && has_data(fd);
        if (fd >= 0)
            close(fd);
    }
    if (folder)
        (void)closedir(folder);
    return has;
}

enum purpose {
    LOOK,
    REMOVE_UNUSED, /* what is ours, but no folder in which something was recorded */
    REMOVE,
};

/* One name in the directory; 0, or why it was not removed. */
static int visit(int directory, const char *name, enum purpose purpose,
                 struct content *content)
{
    struct stat status;
    int rc = 0;

    if (is_ours_beside(name)) {
        content->traces++;
        return purpose != LOOK && unlinkat(directory, name, 0) < 0 ? -errno : 0;
    }
    int fd = open_process_folder(directory, name, &status);
    if (fd < 0) {
        content->others++;
        return 0;
    }
    bool is_own = status.st_uid == content->owner;
    content->traces++;
    content->foreign += !is_own;
    if (is_own && (purpose == REMOVE || (purpose == REMOVE_UNUSED && !has_data(fd))))
        rc = remove_process_folder(directory, name, fd);
    close(fd);
    return rc;
}

/* Look at each name, and remove what the purpose says; 0, or the first failure. */
static int walk(int directory, enum purpose purpose, struct content *content)
{
    int rc = 0;

    DIR *folder = cunei_safe_list_folder(directory, ".");
    if (!folder)
        return -errno;
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        int visited = visit(directory, name, purpose, content);
        if (rc == 0)
            rc = visited;
    }
    (void)closedir(folder);
    return rc;
}

int cunei_trace_directory_check(const char *path, const struct cunei_file_id *id)
{
    struct stat status;

    if (lstat(path, &status) < 0)
        return errno == ENOTDIR ? -ENOENT : -errno;
    return cunei_file_id_is(id, &status) ? 0 : -ESTALE;
}

static bool is_at(const char *path, const struct cunei_file_id *id)
{
    return cunei_trace_directory_check(path, id) == 0;
}

/* All of it is done in the directory that was opened, whatever is at its path then. */
static int remove_trace(const char *path, const struct cunei_file_id *id,
                        enum purpose purpose, bool is_kept)
{
    struct content content = {.owner = geteuid()};
    struct stat status;

    int fd = cunei_safe_open_folder(AT_FDCWD, path, &status);
    if (fd < 0)
        return fd;
    int rc = cunei_file_id_is(id, &status) ? 0 : -ESTALE;
    if (rc == 0 && purpose == REMOVE_UNUSED && has_data_below(fd))
        rc = -EEXIST;
    /* Some file systems give all that we make, this directory as well, to one user. */
    if (purpose == REMOVE && !is_kept)
        content.owner = status.st_uid;
    if (rc == 0) {
        rc = walk(fd, purpose, &content);
        if (!is_kept && is_at(path, id) && rmdir(path) < 0 && rc == 0 &&
            errno != ENOTEMPTY)
            rc = -errno;
    }
    close(fd);
    return rc;
}

int cunei_trace_directory_remove(const char *path, const struct cunei_file_id *id,
                                 bool is_kept)
{
    return remove_trace(path, id, REMOVE, is_kept);
}

int cunei_trace_directory_remove_unused(const char *path,
                                        const struct cunei_file_id *id, bool is_kept)
{
    return remove_trace(path, id, REMOVE_UNUSED, is_kept);
}

unsigned cunei_trace_directory_writers(const char *path, uint64_t *pid)
{
    struct cunei_trace trace;
    struct cunei_trace_error error;
    unsigned count = 0;

    const struct cunei_trace_open_options opening = {.without_ring = true};

    if (cunei_trace_open_with(&trace, path, &opening, &error) < 0)
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
static bool take_over(int directory, const char *path, const char *option, bool force,
                      struct cunei_buffer *reason)
{
    struct content content = {.owner = geteuid()};
    uint64_t writer = 0;

    int rc = walk(directory, LOOK, &content);
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
    else if (content.foreign)
        cunei_buffer_format(reason,
                            "cannot remove the old trace in '%s': a process of another "
                            "user recorded it; choose another directory with %s",
                            path, option);
    else if (content.traces && (rc = walk(directory, REMOVE, &content)) < 0)
        cunei_buffer_format(reason, "cannot remove the old trace in '%s': %s", path,
                            strerror(-rc));
    else if (faccessat(directory, ".", W_OK | X_OK, 0) < 0)
        cunei_buffer_format(reason, "cannot record to '%s': %s", path, strerror(errno));
    return !reason->size;
}

/*
 * The absolute path of the directory, owned by the caller; NULL and errno: there is
 * none, or another directory is there.
 */
static char *find_path(const char *path, const struct cunei_file_id *id)
{
    char *absolute = realpath(path, NULL);

    if (!absolute || is_at(absolute, id))
        return absolute;
    free(absolute);
    errno = ESTALE;
    return NULL;
}

/* The same for one that was just made, and what it is recognized by from now on. */
static char *identify(const char *path, struct cunei_file_id *id)
{
    struct stat status;

    int fd = cunei_safe_open_folder(AT_FDCWD, path, &status);
    if (fd < 0) {
        errno = -fd;
        return NULL;
    }
    close(fd);
    *id = cunei_file_id_of(&status);
    return find_path(path, id);
}

/* The same for one that is there.  The user has named it, so a link is followed. */
static char *accept_existing(const char *path, const char *option, bool force,
                             struct cunei_file_id *id, struct cunei_buffer *reason)
{
    struct stat status;
    char *absolute = NULL;

    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && take_over(fd, path, option, force, reason)) {
        *id = cunei_file_id_of(&status);
        absolute = find_path(path, id);
    }
    close(fd);
    return absolute;
}

char *cunei_trace_directory_make(const char *path, const char *option, bool force,
                                 struct cunei_file_id *id, bool *existed,
                                 struct cunei_buffer *reason)
{
    bool made = mkdir(path, 0700) == 0;

    if (!made && errno != EEXIST) {
        cunei_buffer_format(
            reason, "cannot create the directory '%s': %s; choose another with %s",
            path, strerror(errno), option);
        return NULL;
    }
    char *absolute =
        made ? identify(path, id) : accept_existing(path, option, force, id, reason);
    *existed = !made;
    if (!absolute && !reason->size)
        cunei_buffer_format(reason, "cannot record to '%s': %s", path, strerror(errno));
    return absolute;
}

char *cunei_trace_directory_make_new(const char *name, const char *option, char **made,
                                     struct cunei_file_id *id,
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
    absolute = error ? NULL : identify(path, id);
    if (!absolute) {
        cunei_buffer_format(reason,
                            "cannot create the directory '%s': %s; choose another with "
                            "%s",
                            name, strerror(error ? error : errno), option);
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

char *cunei_trace_directory_make_temporary(struct cunei_file_id *id,
                                           struct cunei_buffer *reason)
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
        char *absolute = mkdtemp(path) ? identify(path, id) : NULL;
        free(path);
        if (absolute)
            return absolute;
    }
    cunei_buffer_append_text(reason,
                             "cannot create a temporary directory for the trace; "
                             "choose a place with TMPDIR, or with --save");
    return NULL;
}
