// SPDX-License-Identifier: MIT
#include "cmd/common/output_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/common/message.h"
#include "cmd/common/temp_cleanup.h"

/* An empty file, for a moment: whom it belongs to. */
#define OWNER_PROBE ".new"

/* As in linux/fs.h, which not every libc has. */
#define EXCHANGE (1u << 1)

/* Whether an export may have written this entry of a folder. */
static bool is_ours(int folder, const char *name)
{
    struct cunei_buffer path = {0};

    /* Of OTF2 … */
    if (strcmp(name, "traces") == 0 || strcmp(name, "traces.otf2") == 0 ||
        strcmp(name, "traces.def") == 0)
        return true;
    /* … and of CTF, which is a folder for each process. */
    cunei_buffer_format(&path, "%s/metadata", name);
    bool is_there = !path.failed && faccessat(folder, path.data, F_OK, 0) == 0;
    cunei_buffer_fini(&path);
    return is_there;
}

/*
 * --force deletes nothing but an export.  A recording looks like an export to CTF, and
 * there is no other copy of it: so exports are marked.  What is looked at is noted.
 */
static bool holds_only_ours(const char *path, struct stat *status)
{
    bool is_empty = true, is_marked = false;

    DIR *folder = opendir(path);
    if (!folder)
        return false;
    bool is_fine = fstat(dirfd(folder), status) == 0;
    for (struct dirent *entry; is_fine && (entry = readdir(folder));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        is_empty = false;
        if (strcmp(name, CUNEI_TARGET_MARK) == 0)
            is_marked = true;
        else
            is_fine = is_ours(dirfd(folder), name);
    }
    closedir(folder);
    return is_empty || (is_fine && is_marked);
}

/* Whether a file can be created in the folder of `place`. */
static int check_place(const char *place, const char *path)
{
    const char *slash = strrchr(place, '/');
    struct cunei_buffer folder = {0};
    int rc = 0;

    cunei_buffer_append(&folder, place, slash ? (size_t)(slash - place) + 1 : 0);
    cunei_buffer_append_text(&folder,
                             "."); /* so that a file is not taken for a folder */
    if (folder.failed)
        rc = -ENOMEM;
    else if (access(folder.data, W_OK | X_OK) != 0)
        rc = -errno;
    cunei_buffer_fini(&folder);
    return rc < 0 ? cunei_cmd_fail(rc, "cannot write to '%s'", path) : EXIT_SUCCESS;
}

/* Whether the file at `place` can be written, which the user calls `path`; prints why
 * not. */
static int check(const char *place, const char *path, bool is_folder, bool force,
                 struct stat *status)
{
    if (stat(place, status) != 0) {
        status->st_mode = 0;
        return check_place(place, path);
    }
    if (S_ISDIR(status->st_mode) && !is_folder)
        return cunei_cmd_fail(0, "cannot write to '%s': it is a directory", path);
    if (!S_ISDIR(status->st_mode) && is_folder)
        return cunei_cmd_fail(0, "cannot write to '%s': it is not a directory", path);
    if (!force && (S_ISDIR(status->st_mode) || S_ISREG(status->st_mode)))
        return cunei_cmd_fail(0, "'%s' exists; --force overwrites it", path);
    if (is_folder && !holds_only_ours(place, status))
        return cunei_cmd_fail(
            0,
            "'%s' contains files that are not of an export, so it is not overwritten",
            path);
    return S_ISDIR(status->st_mode) || S_ISREG(status->st_mode)
               ? check_place(place, path)
               : EXIT_SUCCESS;
}

int cunei_output_file_check(const char *path, bool is_folder, bool force)
{
    struct stat status;

    if (strcmp(path, "-") != 0)
        return check(path, path, is_folder, force, &status);
    return is_folder
               ? cunei_cmd_usage("this format is a folder, which cannot go to stdout; "
                                 "name one with -o")
               : EXIT_SUCCESS;
}

/* A path that leads below the descriptor, whatever is called as the folder is by now;
 * without /proc `path`, which led there.  Owned; NULL: no memory. */
static char *path_below(int fd, const char *name, const char *path)
{
    char *below = NULL;

    if (asprintf(&below, "/proc/self/fd/%d", fd) < 0)
        return NULL;
    bool has_proc = access(below, F_OK) == 0;
    free(below);
    if (!has_proc)
        return strdup(path);
    return asprintf(&below, "/proc/self/fd/%d%s", fd, name) < 0 ? NULL : below;
}

/* Open the directory around the file. */
static int open_around(struct cunei_output_file *target, const char *path)
{
    size_t size = strlen(path);

    while (size > 1 && path[size - 1] == '/')
        size--;
    const char *slash = memrchr(path, '/', size);
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *around = slash ? strndup(path, length) : strdup(".");
    char *name = NULL;
    int rc = -ENOMEM;

    if (around && asprintf(&name, "/%.*s", (int)(size - length), path + length) >= 0) {
        target->around = open(around, O_PATH | O_DIRECTORY | O_CLOEXEC);
        rc = target->around < 0 ? -errno : 0;
    }
    if (rc == 0)
        target->place = path_below(target->around, name, path);
    free(around);
    free(name);
    return rc == 0 && !target->place ? -ENOMEM : rc;
}

static void fini(struct cunei_output_file *target)
{
    if (target->around >= 0)
        close(target->around);
    if (target->inside >= 0)
        close(target->inside);
    free(target->place);
    free(target->part);
    free(target->folder);
    target->around = target->inside = -1;
    target->place = target->part = target->folder = NULL;
}

static int mark(int folder)
{
    struct stat status;

    int fd = cunei_safe_open_file(folder, CUNEI_TARGET_MARK,
                                  O_WRONLY | O_CREAT | O_EXCL, &status);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

/* By a path to the folder itself: another user may rename it. */
static int open_folder(struct cunei_output_file *target)
{
    struct stat status;

    if (!mkdtemp(target->part))
        return -errno;
    target->inside = cunei_safe_open_folder(AT_FDCWD, target->part, &status);
    if (target->inside < 0)
        return target->inside;
    target->id = cunei_file_id_of(&status);
    int rc = cunei_safe_check_made(target->inside, &status, OWNER_PROBE);
    if (rc == 0)
        rc = mark(target->inside);
    if (rc < 0)
        return rc;
    target->folder = path_below(target->inside, "", target->part);
    return target->folder ? 0 : -ENOMEM;
}

static int open_file(struct cunei_output_file *target)
{
    struct stat status;

    int fd = mkostemp(target->part, O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0)
        return -errno;
    target->id = cunei_file_id_of(&status);
    target->out = fdopen(fd, "w");
    return target->out ? 0 : -errno;
}

/* Readable by the user only, as a recording is: it may hold arguments.  A signal
 * between creating and watching would leave the file behind. */
static int open_watched(struct cunei_output_file *target)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = target->is_folder ? open_folder(target) : open_file(target);
    if (rc == 0)
        cunei_temp_cleanup_watch(target->part, &target->id);
    else if (target->id.inode != 0)
        (void)cunei_temp_cleanup_remove(target->part, &target->id);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

/* Of a link only the link is replaced.  Otherwise it has to be what was looked at. */
static int note_old(struct cunei_output_file *target, const struct stat *seen)
{
    struct stat status;

    target->replaces = lstat(target->place, &status) == 0;
    if (!target->replaces)
        return 0;
    target->old = cunei_file_id_of(&status);
    bool is_it = S_ISLNK(status.st_mode) || cunei_file_id_is(&target->old, seen);
    return target->is_folder && !is_it ? -EEXIST : 0;
}

static int open_part(struct cunei_output_file *target, const struct stat *seen)
{
    int rc = note_old(target, seen);
    if (rc < 0)
        return rc;
    if (asprintf(&target->part, "%s.XXXXXX", target->place) < 0) {
        target->part = NULL;
        return -ENOMEM;
    }
    return open_watched(target);
}

/* A pipe or a device cannot be replaced by rename. */
static bool is_in_place(const struct stat *status)
{
    return status->st_mode != 0 && !S_ISREG(status->st_mode) &&
           !S_ISDIR(status->st_mode);
}

static int open_in_place(struct cunei_output_file *target)
{
    target->out = fopen(target->place, "we");
    return target->out ? 0 : -errno;
}

int cunei_output_file_open(struct cunei_output_file *target, const char *path,
                           bool is_folder, bool force)
{
    struct stat status;

    *target =
        (struct cunei_output_file){.is_folder = is_folder, .around = -1, .inside = -1};
    /* A file that gets too large is an error of write(2), not a signal. */
    (void)signal(SIGXFSZ, SIG_IGN);
    if (strcmp(path, "-") == 0) {
        target->out = stdout;
        return cunei_output_file_check(path, is_folder, force);
    }
    int rc = open_around(target, path);
    int code =
        rc == 0 ? check(target->place, path, is_folder, force, &status) : EXIT_SUCCESS;
    if (rc == 0 && code == EXIT_SUCCESS)
        rc = is_in_place(&status) ? open_in_place(target) : open_part(target, &status);
    if (rc < 0)
        code = cunei_cmd_fail(rc, "cannot write to '%s'", path);
    if (code != EXIT_SUCCESS)
        fini(target);
    return code;
}

/*
 * rename(2) replaces empty folders only.  If the file system can exchange the two, the
 * name exists at every moment.  A folder that came to it meanwhile is left alone.
 */
static int replace_folder(const struct cunei_output_file *target)
{
    if (syscall(SYS_renameat2, AT_FDCWD, target->part, AT_FDCWD, target->place,
                EXCHANGE) == 0) {
        int rc = cunei_temp_cleanup_remove(target->part, &target->old);
        return rc == -ESTALE ? 0 : rc;
    }
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    int rc = cunei_temp_cleanup_remove(target->place, &target->old);
    if (rc == 0 && rename(target->part, target->place) != 0)
        rc = -errno;
    return rc;
}

int cunei_output_file_close(struct cunei_output_file *target, int rc)
{
    if (target->out && target->out != stdout && fclose(target->out) != 0 && rc == 0)
        rc = -errno;
    if (target->part) {
        if (rc == 0 && target->is_folder && target->replaces)
            rc = replace_folder(target);
        else if (rc == 0 && rename(target->part, target->place) != 0)
            rc = -errno;
        if (rc < 0)
            (void)cunei_temp_cleanup_remove(target->part, &target->id);
        cunei_temp_cleanup_forget();
    }
    fini(target);
    return rc;
}
