// SPDX-License-Identifier: MIT
#include "cmd/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/cmd.h"

#define OPEN_FOLDERS 16

static int remove_entry(const char *path, const struct stat *status, int type,
                        struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static int remove_folder(const char *path)
{
    return nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

/* Whether one of a folder's entries is what an export may have left there. */
static bool is_ours(const char *folder, const char *name)
{
    struct cunei_buffer path = {0};

    /* Of OTF2 … */
    if (strncmp(name, "traces", 6) == 0)
        return true;
    /* … and of CTF, which is a folder for each process. */
    cunei_buffer_format(&path, "%s/%s/metadata", folder, name);
    bool is_there = !path.failed && access(path.data, F_OK) == 0;
    cunei_buffer_fini(&path);
    return is_there;
}

/* Nothing else is ever deleted, whatever is forced. */
static bool holds_only_ours(const char *path)
{
    bool is_fine = true;

    DIR *folder = opendir(path);
    if (!folder)
        return false;
    for (struct dirent *entry; is_fine && (entry = readdir(folder));) {
        const char *name = entry->d_name;
        is_fine =
            strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || is_ours(path, name);
    }
    closedir(folder);
    return is_fine;
}

/* What is written next to it gets its name in the end. */
static int check_place(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct cunei_buffer folder = {0};
    int rc = 0;

    cunei_buffer_append(&folder, path, slash ? (size_t)(slash - path) + 1 : 0);
    cunei_buffer_append_text(&folder, "."); /* so that a file is none */
    if (folder.failed)
        rc = -ENOMEM;
    else if (access(folder.data, W_OK | X_OK) != 0)
        rc = -errno;
    cunei_buffer_fini(&folder);
    return rc < 0 ? cunei_cmd_fail(rc, "cannot write to '%s'", path) : EXIT_SUCCESS;
}

/* Whether there may be something of that name: what is in the way is said. */
static int check(const char *path, bool is_folder, bool force, struct stat *status)
{
    if (stat(path, status) != 0) {
        status->st_mode = 0;
        return check_place(path);
    }
    if (S_ISDIR(status->st_mode) && !is_folder)
        return cunei_cmd_fail(0, "cannot write to '%s': it is a directory", path);
    if (!S_ISDIR(status->st_mode) && is_folder)
        return cunei_cmd_fail(0, "cannot write to '%s': it is no directory", path);
    if (!force && (S_ISDIR(status->st_mode) || S_ISREG(status->st_mode)))
        return cunei_cmd_fail(0, "'%s' exists; --force overwrites it", path);
    if (is_folder && !holds_only_ours(path))
        return cunei_cmd_fail(0, "'%s' holds more than an export, and is left as it is",
                              path);
    return S_ISDIR(status->st_mode) || S_ISREG(status->st_mode) ? check_place(path)
                                                                : EXIT_SUCCESS;
}

int cunei_target_check(const char *path, bool is_folder, bool force)
{
    struct stat status;

    if (strcmp(path, "-") != 0)
        return check(path, is_folder, force, &status);
    return is_folder ? cunei_cmd_usage("this format is a folder of files, which stdout "
                                       "cannot take: name one")
                     : EXIT_SUCCESS;
}

/* What the user lets others do with files that are made; mkstemp's kin allow nothing.
 */
static mode_t allowed(mode_t most)
{
    mode_t mask = umask(0);

    (void)umask(mask);
    return most & ~mask;
}

static bool open_part(struct cunei_target *target)
{
    if (target->is_folder)
        return mkdtemp(target->part) && chmod(target->part, allowed(0777)) == 0;
    int fd = mkostemp(target->part, O_CLOEXEC);
    if (fd >= 0)
        (void)fchmod(fd, allowed(0666));
    target->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    return target->out != NULL;
}

int cunei_target_open(struct cunei_target *target, const char *path, bool is_folder,
                      bool force)
{
    struct cunei_buffer part = {0};
    struct stat status;

    *target = (struct cunei_target){.path = path, .is_folder = is_folder};
    /* A file that becomes too large is an error like any other, and no signal. */
    (void)signal(SIGXFSZ, SIG_IGN);
    if (strcmp(path, "-") == 0) {
        target->out = stdout;
        return cunei_target_check(path, is_folder, force);
    }
    int code = check(path, is_folder, force, &status);
    if (code != EXIT_SUCCESS)
        return code;
    /* A pipe or a device cannot have another name first. */
    if (status.st_mode != 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        target->out = fopen(path, "we");
        return target->out ? EXIT_SUCCESS
                           : cunei_cmd_fail(-errno, "cannot write to '%s'", path);
    }
    cunei_buffer_format(&part, "%s.XXXXXX", path);
    target->part = part.data;
    if (part.failed || !open_part(target)) {
        int error = part.failed ? ENOMEM : errno;
        free(target->part);
        return cunei_cmd_fail(-error, "cannot write to '%s'", path);
    }
    return EXIT_SUCCESS;
}

int cunei_target_close(struct cunei_target *target, int rc)
{
    if (target->out && target->out != stdout && fclose(target->out) != 0 && rc == 0)
        rc = -errno;
    if (!target->part)
        return rc;
    /* A folder can take the place of an empty one only. */
    if (rc == 0 && target->is_folder && access(target->path, F_OK) == 0 &&
        remove_folder(target->path) != 0)
        rc = -errno;
    if (rc == 0 && rename(target->part, target->path) != 0)
        rc = -errno;
    if (rc < 0 && target->is_folder)
        (void)remove_folder(target->part);
    else if (rc < 0)
        (void)unlink(target->part);
    free(target->part);
    target->part = NULL;
    return rc;
}
