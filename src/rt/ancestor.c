// SPDX-License-Identifier: MIT
#include "rt/ancestor.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/live.h"

#define STEPS_MAX  16   /* a process waits for this: the tree may be deep */
#define IMAGES_MAX 1024 /* folders of one process: each execv makes one */

/* 0: there is none, or it cannot be read. */
static pid_t parent_of(pid_t pid)
{
    char text[512];

    (void)snprintf(text, sizeof(text), "/proc/%d/stat", (int)pid);
    int fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t size = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    /* The name of the program in front of it may hold anything. */
    const char *end = strrchr(text, ')');
    /* Behind it come " S " with its state, and the number. */
    return end && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : 0;
}

static bool is_there(const char *stem, pid_t pid, unsigned image, const char *file)
{
    char path[PATH_MAX];
    int size = snprintf(path, sizeof(path), "%s-%d-%u/%s", stem, (int)pid, image, file);

    return size > 0 && (size_t)size < sizeof(path) && access(path, F_OK) == 0;
}

/*
 * The last folder of a process, if a live file shows that it records, or went on as
 * another program; without one, its number may be another's now.
 */
static char *folder_of(const char *stem, pid_t pid)
{
    const char *host = strrchr(stem, '/');
    unsigned count = 0;
    char *name = NULL;

    while (count < IMAGES_MAX && is_there(stem, pid, count, ""))
        count++;
    if (count == 0 || !is_there(stem, pid, count - 1, CUNEI_LIVE_NAME) ||
        asprintf(&name, "%s-%d-%u", host ? host + 1 : stem, (int)pid, count - 1) < 0)
        return NULL;
    return name;
}

/* <directory>/<host> of <directory>/<host>-<pid>-<n>, to be freed; NULL: no memory. */
static char *stem_of(const char *path)
{
    size_t size = strlen(path);

    for (int i = 0; i < 2; i++) {
        const char *dash = memrchr(path, '-', size);
        if (!dash)
            return NULL;
        size = (size_t)(dash - path);
    }
    return strndup(path, size);
}

char *cunei_ancestor_folder(const char *path)
{
    char *stem = stem_of(path);
    char *name = NULL;

    pid_t pid = getppid();
    for (int i = 0; stem && !name && pid > 0 && i < STEPS_MAX; i++) {
        name = folder_of(stem, pid);
        pid = parent_of(pid);
    }
    free(stem);
    return name;
}

char *cunei_ancestor_unfinished(const char *path, pid_t pid)
{
    char *stem = stem_of(path);
    char *name = stem ? folder_of(stem, pid) : NULL;

    free(stem);
    return name;
}

bool cunei_ancestor_has_folder(const char *path, pid_t pid)
{
    char *stem = stem_of(path);
    bool has = !stem || is_there(stem, pid, 0, "");

    free(stem);
    return has;
}
