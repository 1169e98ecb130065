// SPDX-License-Identifier: MIT
#include "cmd/common/temp_cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/safe_open.h"

/* No export has folders this deep. */
#define LEVELS_MAX 8

static const int signals[] = {SIGHUP, SIGINT, SIGTERM};

#define SIGNAL_COUNT (sizeof(signals) / sizeof(signals[0]))

static char watched[PATH_MAX];
static struct cunei_file_id watched_id;
static volatile sig_atomic_t is_watching;
static int inner; /* watches inside the one that counts */
static struct sigaction before[SIGNAL_COUNT];

/* As getdents64 writes it: readdir may allocate, which a signal handler must not. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

static int remove_at(int parent, const char *name, int level);

/* Remove everything in a folder, a few entries at a time. */
static int empty(int folder, int level)
{
    alignas(struct entry) char bytes[2048];
    long count;
    int rc = 0;

    while (rc == 0 &&
           (count = syscall(SYS_getdents64, folder, bytes, sizeof(bytes))) > 0) {
        bool is_removed = false;
        for (long at = 0; rc == 0 && at < count;) {
            const struct entry *entry = (const void *)(bytes + at);
            at += entry->size;
            if (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0)
                continue;
            rc = remove_at(folder, entry->name, level + 1);
            is_removed = true;
        }
        if (is_removed)
            (void)lseek(folder, 0, SEEK_SET);
    }
    return rc;
}

static int remove_at(int parent, const char *name, int level)
{
    int rc = 0;

    if (unlinkat(parent, name, 0) == 0)
        return 0;
    if ((errno != EISDIR && errno != EPERM) || level == LEVELS_MAX)
        return -errno;
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    rc = empty(folder, level);
    close(folder);
    if (rc == 0 && unlinkat(parent, name, AT_REMOVEDIR) != 0)
        rc = -errno;
    return rc;
}

static int remove_folder(const char *path, const struct cunei_file_id *id)
{
    struct stat status;

    int folder = cunei_safe_open_folder(AT_FDCWD, path, &status);
    if (folder < 0)
        return folder;
    int rc = cunei_file_id_is(id, &status) ? empty(folder, 0) : -ESTALE;
    close(folder);
    /* If another folder has its place by now, it is only removed if it is empty. */
    return rc == 0 && rmdir(path) != 0 ? -errno : rc;
}

int cunei_temp_cleanup_remove(const char *path, const struct cunei_file_id *id)
{
    struct stat status;

    if (lstat(path, &status) != 0)
        return -errno;
    if (!cunei_file_id_is(id, &status))
        return -ESTALE;
    if (S_ISDIR(status.st_mode))
        return remove_folder(path, id);
    return unlink(path) != 0 ? -errno : 0;
}

static void leave(int number)
{
    int error = errno;

    if (is_watching)
        (void)cunei_temp_cleanup_remove(watched, &watched_id);
    is_watching = false;
    /* The signal is delivered again when the handler returns. */
    (void)sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    (void)raise(number);
    errno = error;
}

void cunei_temp_cleanup_watch(const char *path, const struct cunei_file_id *id)
{
    if (is_watching) {
        inner++;
        return;
    }
    int size = snprintf(watched, sizeof(watched), "%s", path);

    if (size < 0 || (size_t)size >= sizeof(watched))
        return;
    watched_id = *id;
    is_watching = true;
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        struct sigaction action = {.sa_handler = leave};
        (void)sigfillset(&action.sa_mask);
        (void)sigaction(signals[i], &action, &before[i]);
        if (before[i].sa_handler == SIG_IGN)
            (void)sigaction(signals[i], &before[i], NULL);
    }
}

void cunei_temp_cleanup_forget(void)
{
    if (inner > 0) {
        inner--;
        return;
    }
    if (!is_watching)
        return;
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        (void)sigaction(signals[i], &before[i], NULL);
    is_watching = false;
}
