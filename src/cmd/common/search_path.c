// SPDX-License-Identifier: MIT
#include "cmd/common/search_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cunei_search_path_is_executable(const char *path)
{
    struct stat stat_buffer;

    return stat(path, &stat_buffer) == 0 && S_ISREG(stat_buffer.st_mode) &&
           access(path, X_OK) == 0;
}

static char *join(const char *folder, size_t size, const char *name)
{
    char *path = NULL;

    if (asprintf(&path, "%.*s%s%s", (int)size, folder, size ? "/" : "", name) < 0)
        return NULL;
    return path;
}

char *cunei_search_path_find(const char *name)
{
    if (strchr(name, '/'))
        return cunei_search_path_is_executable(name) ? strdup(name) : NULL;

    const char *folders = getenv("PATH");
    if (!folders)
        folders = "/usr/local/bin:/usr/bin:/bin";
    for (const char *folder = folders;; folder++) {
        size_t size = strcspn(folder, ":");
        /* An empty part means the working directory. */
        char *path = size ? join(folder, size, name) : join(".", 1, name);
        if (path && cunei_search_path_is_executable(path))
            return path;
        free(path);
        folder += size;
        if (!*folder)
            return NULL;
    }
}
