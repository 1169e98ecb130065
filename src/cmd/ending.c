// SPDX-License-Identifier: MIT
#include "cmd/ending.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "wire/process.h"

/* The n of a folder `<host>-<pid>-<n>` of this process; -1: it is another's. */
static long number_of(const char *name, pid_t pid)
{
    char middle[24];
    char *end = NULL;

    const char *last = strrchr(name, '-');
    if (!last)
        return -1;
    int size = snprintf(middle, sizeof(middle), "-%d", (int)pid);
    if (last - name < size || strncmp(last - size, middle, (size_t)size) != 0)
        return -1;
    long number = strtol(last + 1, &end, 10);
    return end != last + 1 && *end == '\0' ? number : -1;
}

/* The last thing that the process was: its folder with the highest n, or "". */
static void find_folder(DIR *folders, pid_t pid, char name[NAME_MAX + 1])
{
    long best = -1;

    name[0] = '\0';
    for (struct dirent *entry; (entry = readdir(folders));) {
        long number = number_of(entry->d_name, pid);
        if (number > best) {
            best = number;
            (void)snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
        }
    }
}

static int load(int fd, struct cunei_process *process)
{
    struct cunei_buffer text = {0};
    char part[4096];
    ssize_t size;

    while ((size = read(fd, part, sizeof(part))) > 0 && text.size < CUNEI_PROCESS_MAX)
        cunei_buffer_append(&text, part, (size_t)size);
    int rc = size < 0 ? -errno
             : text.failed
                 ? -ENOMEM
                 : cunei_process_parse(process, text.data ? text.data : "", text.size);
    cunei_buffer_fini(&text);
    return rc;
}

static void tell(int fd, int wait_status)
{
    struct cunei_process process = {0};
    char lines[64] = "";

    if (load(fd, &process) < 0)
        return;
    if (WIFSIGNALED(wait_status))
        (void)snprintf(lines, sizeof(lines), "signal %d\n", WTERMSIG(wait_status));
    else if (WIFEXITED(wait_status) && !process.left && !process.exited)
        (void)snprintf(lines, sizeof(lines), "exit_status %d\nexited 1\n",
                       WEXITSTATUS(wait_status));
    (void)!write(fd, lines, strlen(lines));
    cunei_process_fini(&process);
}

void cunei_ending_tell(const char *directory, pid_t pid, int wait_status)
{
    char name[NAME_MAX + 1];
    char path[2 * NAME_MAX];

    DIR *folders = opendir(directory);
    if (!folders)
        return;
    find_folder(folders, pid, name);
    (void)snprintf(path, sizeof(path), "%s/%s", name, CUNEI_PROCESS_NAME);
    int fd =
        *name ? openat(dirfd(folders), path, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
              : -1;
    (void)closedir(folders);
    if (fd < 0)
        return;
    tell(fd, wait_status);
    close(fd);
}
