// SPDX-License-Identifier: MIT
#include "cmd/target.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
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

/* Whether there may be something of that name: what is in the way is said. */
static int check(const char *path, bool is_folder, bool force, struct stat *status)
{
    if (stat(path, status) != 0) {
        status->st_mode = 0;
        return EXIT_SUCCESS;
    }
    if (S_ISDIR(status->st_mode) && !is_folder)
        return cunei_cmd_fail(0, "cannot write to '%s': it is a directory", path);
    if (!S_ISDIR(status->st_mode) && is_folder)
        return cunei_cmd_fail(0, "cannot write to '%s': it is no directory", path);
    if (!force && (S_ISDIR(status->st_mode) || S_ISREG(status->st_mode)))
        return cunei_cmd_fail(0, "'%s' exists; --force overwrites it", path);
    return EXIT_SUCCESS;
}

int cunei_target_check(const char *path, bool is_folder, bool force)
{
    struct stat status;

    return strcmp(path, "-") == 0 ? EXIT_SUCCESS
                                  : check(path, is_folder, force, &status);
}

static bool open_part(struct cunei_target *target)
{
    if (target->is_folder)
        return mkdtemp(target->part) != NULL;
    int fd = mkostemp(target->part, O_CLOEXEC);
    target->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    return target->out != NULL;
}

int cunei_target_open(struct cunei_target *target, const char *path, bool is_folder,
                      bool force)
{
    struct cunei_buffer part = {0};
    struct stat status;

    *target = (struct cunei_target){.path = path, .is_folder = is_folder};
    if (strcmp(path, "-") == 0 && is_folder)
        return cunei_cmd_usage("this format is a folder of files, which stdout cannot "
                               "take: name one with -o");
    if (strcmp(path, "-") == 0) {
        target->out = stdout;
        return EXIT_SUCCESS;
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
