// SPDX-License-Identifier: MIT
#include "cmd/top/errand.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* posix_spawn: a fork of a process with threads may do next to nothing. */
static int spawn(pid_t *pid, const char *const *words, int out)
{
    posix_spawn_file_actions_t actions;

    int rc = -posix_spawn_file_actions_init(&actions);
    if (rc < 0)
        return rc;
    (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                           O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
    rc = -posix_spawn(pid, "/proc/self/exe", &actions, NULL,
                      (char *const *)(const void *)words, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return rc;
}

int cunei_top_errand_start(struct cunei_top_errand *errand, const char *const *words)
{
    int ends[2];

    if (errand->pid)
        return -EBUSY;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    int rc = spawn(&errand->pid, words, ends[1]);
    close(ends[1]);
    if (rc < 0) {
        errand->pid = 0;
        close(ends[0]);
        return rc;
    }
    errand->output = ends[0];
    return 0;
}

/* The last line that is not empty. */
static void take_last_line(const struct cunei_buffer *all, char *text, size_t size)
{
    const char *end = cunei_buffer_text(all) + all->size;
    const char *begin = cunei_buffer_text(all);

    while (end > begin && end[-1] == '\n')
        end--;
    const char *line = end;
    while (line > begin && line[-1] != '\n')
        line--;
    (void)snprintf(text, size, "%.*s", (int)(end - line), line);
}

/* Returns whether it has failed. */
static bool clear(struct cunei_top_errand *errand)
{
    int status = 0;

    (void)waitpid(errand->pid, &status, 0);
    close(errand->output);
    cunei_buffer_fini(&errand->text);
    *errand = (struct cunei_top_errand){.output = -1};
    return status != 0;
}

bool cunei_top_errand_look(struct cunei_top_errand *errand, char *text, size_t size,
                           bool *has_failed)
{
    char bytes[4096];
    ssize_t count;

    while ((count = read(errand->output, bytes, sizeof(bytes))) > 0)
        cunei_buffer_append(&errand->text, bytes, (size_t)count);
    if (count < 0 && errno == EAGAIN)
        return false;
    take_last_line(&errand->text, text, size);
    *has_failed = clear(errand);
    return true;
}

void cunei_top_errand_finish(struct cunei_top_errand *errand)
{
    if (errand->pid)
        (void)clear(errand);
}
