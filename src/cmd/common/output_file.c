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

/* As in linux/fs.h, which not every libc has. */
#define EXCHANGE (1u << 1)

/* Whether an export may have written this entry of a folder. */
static bool is_ours(const char *folder, const char *name)
{
    struct cunei_buffer path = {0};

    /* Of OTF2 … */
    if (strcmp(name, "traces") == 0 || strcmp(name, "traces.otf2") == 0 ||
        strcmp(name, "traces.def") == 0)
        return true;
    /* … and of CTF, which is a folder for each process. */
    cunei_buffer_format(&path, "%s/%s/metadata", folder, name);
    bool is_there = !path.failed && access(path.data, F_OK) == 0;
    cunei_buffer_fini(&path);
    return is_there;
}

/*
 * --force deletes nothing but an export.  A recording looks like an export to CTF, and
 * there is no other copy of it: so exports are marked.
 */
static bool holds_only_ours(const char *path)
{
    bool is_fine = true, is_empty = true, is_marked = false;

    DIR *folder = opendir(path);
    if (!folder)
        return false;
    for (struct dirent *entry; is_fine && (entry = readdir(folder));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        is_empty = false;
        if (strcmp(name, CUNEI_TARGET_MARK) == 0)
            is_marked = true;
        else
            is_fine = is_ours(path, name);
    }
    closedir(folder);
    return is_empty || (is_fine && is_marked);
}

/* Whether a file can be created in the folder of `path`. */
static int check_place(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct cunei_buffer folder = {0};
    int rc = 0;

    cunei_buffer_append(&folder, path, slash ? (size_t)(slash - path) + 1 : 0);
    cunei_buffer_append_text(&folder,
                             "."); /* so that a file is not taken for a folder */
    if (folder.failed)
        rc = -ENOMEM;
    else if (access(folder.data, W_OK | X_OK) != 0)
        rc = -errno;
    cunei_buffer_fini(&folder);
    return rc < 0 ? cunei_cmd_fail(rc, "cannot write to '%s'", path) : EXIT_SUCCESS;
}

/* Whether `path` can be written; prints why not. */
static int check(const char *path, bool is_folder, bool force, struct stat *status)
{
    if (stat(path, status) != 0) {
        status->st_mode = 0;
        return check_place(path);
    }
    if (S_ISDIR(status->st_mode) && !is_folder)
        return cunei_cmd_fail(0, "cannot write to '%s': it is a directory", path);
    if (!S_ISDIR(status->st_mode) && is_folder)
        return cunei_cmd_fail(0, "cannot write to '%s': it is not a directory", path);
    if (!force && (S_ISDIR(status->st_mode) || S_ISREG(status->st_mode)))
        return cunei_cmd_fail(0, "'%s' exists; --force overwrites it", path);
    if (is_folder && !holds_only_ours(path))
        return cunei_cmd_fail(
            0,
            "'%s' contains files that are not of an export, so it is not overwritten",
            path);
    return S_ISDIR(status->st_mode) || S_ISREG(status->st_mode) ? check_place(path)
                                                                : EXIT_SUCCESS;
}

int cunei_output_file_check(const char *path, bool is_folder, bool force)
{
    struct stat status;

    if (strcmp(path, "-") != 0)
        return check(path, is_folder, force, &status);
    return is_folder
               ? cunei_cmd_usage("this format is a folder, which cannot go to stdout; "
                                 "name one with -o")
               : EXIT_SUCCESS;
}

static bool mark(const char *folder)
{
    struct cunei_buffer path = {0};
    int fd = -1;

    cunei_buffer_format(&path, "%s/" CUNEI_TARGET_MARK, folder);
    if (!path.failed)
        fd = open(path.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    cunei_buffer_fini(&path);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Readable by the user only, as a recording is: it may hold arguments. */
static bool open_part(struct cunei_output_file *target)
{
    if (target->is_folder)
        return mkdtemp(target->part) && mark(target->part);
    int fd = mkostemp(target->part, O_CLOEXEC);
    target->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    return target->out != NULL;
}

/* A signal between creating and watching would leave the file behind. */
static bool open_watched(struct cunei_output_file *target)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_open = open_part(target);
    int error = errno;
    if (is_open)
        cunei_temp_cleanup_watch(target->part);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return is_open;
}

int cunei_output_file_open(struct cunei_output_file *target, const char *path,
                           bool is_folder, bool force)
{
    struct cunei_buffer part = {0};
    struct stat status;

    *target = (struct cunei_output_file){.path = path, .is_folder = is_folder};
    /* A file that gets too large is an error of write(2), not a signal. */
    (void)signal(SIGXFSZ, SIG_IGN);
    if (strcmp(path, "-") == 0) {
        target->out = stdout;
        return cunei_output_file_check(path, is_folder, force);
    }
    int code = check(path, is_folder, force, &status);
    if (code != EXIT_SUCCESS)
        return code;
    /* A pipe or a device cannot be replaced by rename. */
    if (status.st_mode != 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        target->out = fopen(path, "we");
        return target->out ? EXIT_SUCCESS
                           : cunei_cmd_fail(-errno, "cannot write to '%s'", path);
    }
    cunei_buffer_format(&part, "%s.XXXXXX", path);
    target->part = part.data;
    if (part.failed || !open_watched(target)) {
        int error = part.failed ? ENOMEM : errno;
        free(target->part);
        return cunei_cmd_fail(-error, "cannot write to '%s'", path);
    }
    return EXIT_SUCCESS;
}

/*
 * rename(2) replaces empty folders only.  If the file system can exchange the two,
 * `path` exists at every moment.
 */
static int replace_folder(const struct cunei_output_file *target)
{
    if (syscall(SYS_renameat2, AT_FDCWD, target->part, AT_FDCWD, target->path,
                EXCHANGE) == 0)
        return cunei_temp_cleanup_remove(target->part);
    int rc = cunei_temp_cleanup_remove(target->path);
    if (rc == 0 && rename(target->part, target->path) != 0)
        rc = -errno;
    return rc;
}

int cunei_output_file_close(struct cunei_output_file *target, int rc)
{
    if (target->out && target->out != stdout && fclose(target->out) != 0 && rc == 0)
        rc = -errno;
    if (!target->part)
        return rc;
    if (rc == 0 && target->is_folder && access(target->path, F_OK) == 0)
        rc = replace_folder(target);
    else if (rc == 0 && rename(target->part, target->path) != 0)
        rc = -errno;
    if (rc < 0)
        (void)cunei_temp_cleanup_remove(target->part);
    cunei_temp_cleanup_forget();
    free(target->part);
    target->part = NULL;
    return rc;
}
