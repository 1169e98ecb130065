// SPDX-License-Identifier: MIT
#include "trace/live/recordings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/safe_open.h"
#include "base/vector.h"
#include "wire/live.h"

/* The pid in the name of a link: "4711", or "4711-2a63f" of an older process. */
static uint32_t pid_of(const char *name)
{
    char *end = NULL;

    if (name[0] < '1' || name[0] > '9')
        return 0;
    unsigned long pid = strtoul(name, &end, 10);
    return (*end == '\0' || *end == '-') && pid <= INT32_MAX ? (uint32_t)pid : 0;
}

/* The folder of the live file that a link leads to, owned; NULL: it is another link. */
static char *folder_of(int at, const char *name)
{
    static const char live[] = "/" CUNEI_LIVE_NAME;
    const size_t tail = sizeof(live) - 1;
    char target[PATH_MAX];

    ssize_t size = readlinkat(at, name, target, sizeof(target));
    if (size <= (ssize_t)tail || size >= (ssize_t)sizeof(target) || target[0] != '/' ||
        memcmp(target + size - tail, live, tail) != 0)
        return NULL;
    target[(size_t)size - tail] = '\0';
    return access(target, F_OK) == 0 ? strdup(target) : NULL;
}

/* Both folders may have a link to it. */
static bool is_known(const struct cunei_recordings *recordings, const char *folder)
{
    for (size_t i = 0; i < recordings->count; i++) {
        if (strcmp(recordings->items[i].folder, folder) == 0)
            return true;
    }
    return false;
}

static void add_links(struct cunei_recordings *recordings, DIR *links)
{
    for (struct dirent *entry; (entry = readdir(links));) {
        uint32_t pid = pid_of(entry->d_name);
        char *folder = pid ? folder_of(dirfd(links), entry->d_name) : NULL;
        if (!folder)
            continue;
        if (is_known(recordings, folder) ||
            !CUNEI_VECTOR_RESERVE_ONE(recordings->items, recordings->count)) {
            free(folder);
            continue;
        }
        recordings->items[recordings->count++] = (struct cunei_recording){pid, folder};
    }
}

static int compare(const void *left, const void *right)
{
    const struct cunei_recording *a = left, *b = right;

    return a->pid != b->pid ? (a->pid > b->pid) - (a->pid < b->pid)
                            : strcmp(a->folder, b->folder);
}

void cunei_recordings_find(struct cunei_recordings *recordings, char *const *folders,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        int fd = folders[i] ? cunei_safe_open_folder(AT_FDCWD, folders[i], &status)
                            : -ENOENT;
        if (fd < 0)
            continue;
        bool is_own = status.st_uid == geteuid() && (status.st_mode & 022) == 0;
        DIR *links = is_own ? cunei_safe_list_folder(fd, ".") : NULL;
        if (links) {
            add_links(recordings, links);
            (void)closedir(links);
        }
        close(fd);
    }
    if (recordings->count > 0)
        qsort(recordings->items, recordings->count, sizeof(recordings->items[0]),
              compare);
}

const struct cunei_recording *cunei_recordings_of(
    const struct cunei_recordings *recordings, uint32_t pid)
{
    const struct cunei_recording *found = NULL;

    for (size_t i = 0; i < recordings->count; i++) {
        if (recordings->items[i].pid == pid)
            found = &recordings->items[i];
    }
    return found;
}

void cunei_recordings_fini(struct cunei_recordings *recordings)
{
    for (size_t i = 0; i < recordings->count; i++)
        free(recordings->items[i].folder);
    free(recordings->items);
    *recordings = (struct cunei_recordings){0};
}
