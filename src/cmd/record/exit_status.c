// SPDX-License-Identifier: MIT
#include "cmd/record/exit_status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/safe_open.h"
#include "cmd/record/launch.h"
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
static void find_folder(int directory, pid_t pid, char name[NAME_MAX + 1])
{
    long best = -1;

    name[0] = '\0';
    DIR *folders = cunei_safe_list_folder(directory, ".");
    for (struct dirent *entry; folders && (entry = readdir(folders));) {
        long number = number_of(entry->d_name, pid);
        if (number > best) {
            best = number;
            (void)snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
        }
    }
    if (folders)
        (void)closedir(folders);
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

static void format(struct cunei_buffer *lines, const struct cunei_process *process,
                   const struct cunei_launch_end *end)
{
    int status = end->wait_status;

    if (WIFSIGNALED(status))
        cunei_buffer_format(lines, "signal %d\n", WTERMSIG(status));
    else if (WIFEXITED(status) && !process->left && !process->exited)
        cunei_buffer_format(lines, "exit_status %d\nexited 1\n", WEXITSTATUS(status));
    /* What it became may have gone on for long. */
    if (process->ended || process->became)
        return;
    if (end->end_ns > process->start_ns)
        cunei_buffer_format(lines, "end_ns %" PRIu64 "\n", end->end_ns);
    if (end->cpu_ns > process->start_cpu_ns)
        cunei_buffer_format(lines, "cpu_ns %" PRIu64 "\n",
                            end->cpu_ns - process->start_cpu_ns);
}

static void append_end(int fd, const struct cunei_launch_end *end)
{
    struct cunei_process process = {0};
    struct cunei_buffer lines = {0};

    if (load(fd, &process) == 0)
        format(&lines, &process, end);
    if (lines.size > 0 && !lines.failed)
        (void)!write(fd, lines.data, lines.size);
    cunei_buffer_fini(&lines);
    cunei_process_fini(&process);
}

/*
 * The process may have recorded as another user.  That user may have put a second name
 * of a file there that we may write and they may not: it has another owner.
 */
static int open_description(int folder, uid_t owner)
{
    struct stat status;

    int fd =
        cunei_safe_open_file(folder, CUNEI_PROCESS_NAME, O_RDWR | O_APPEND, &status);
    if (fd >= 0 && (status.st_uid != owner || status.st_nlink != 1)) {
        close(fd);
        return -EPERM;
    }
    return fd;
}

void cunei_exit_status_add(const char *path, const struct cunei_file_id *id,
                           const struct cunei_launch_end *end)
{
    char name[NAME_MAX + 1];
    struct stat status;

    int directory = cunei_safe_open_directory(path, id);
    if (directory < 0)
        return;
    find_folder(directory, end->pid, name);
    int folder = *name ? cunei_safe_open_folder(directory, name, &status) : -ENOENT;
    close(directory);
    int fd = folder < 0 ? folder : open_description(folder, status.st_uid);
    if (folder >= 0)
        close(folder);
    if (fd < 0)
        return;
    append_end(fd, end);
    close(fd);
}
