// SPDX-License-Identifier: MIT
#include "cmd/top/background_command.h"

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

int cunei_top_background_start(struct cunei_top_background *background,
                               const char *const *words)
{
    int ends[2];

    if (background->pid)
        return -EBUSY;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    int rc = spawn(&background->pid, words, ends[1]);
    close(ends[1]);
    if (rc < 0) {
        background->pid = 0;
        close(ends[0]);
        return rc;
    }
    background->output = ends[0];
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
static bool clear(struct cunei_top_background *background)
{
    int status = 0;

    (void)waitpid(background->pid, &status, 0);
    close(background->output);
    cunei_buffer_fini(&background->text);
    *background = (struct cunei_top_background){.output = -1};
    return status != 0;
}

bool cunei_top_background_look(struct cunei_top_background *background, char *text,
                               size_t size, bool *has_failed)
{
    char bytes[4096];
    ssize_t count;

    while ((count = read(background->output, bytes, sizeof(bytes))) > 0)
        cunei_buffer_append(&background->text, bytes, (size_t)count);
    if (count < 0 && errno == EAGAIN)
        return false;
    take_last_line(&background->text, text, size);
    *has_failed = clear(background);
    return true;
}

void cunei_top_background_finish(struct cunei_top_background *background)
{
    if (background->pid)
        (void)clear(background);
}
