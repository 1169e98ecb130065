// SPDX-License-Identifier: MIT
#include "cmd/common/viewer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/common/message.h"
#include "cmd/common/search_path.h"
#include "export/formats.h"

/* A viewer that fails does so at once; another one keeps running, or hands the file to
 * a program that runs already. */
#define GIVES_UP_MS 1000

extern char **environ;

/* Whether a shell takes it literally, with and without quotes. */
static bool is_plain(const char *name)
{
    return name[0] != '-' && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
                                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                "0123456789_+,-./:=@%")];
}

void cunei_viewer_format_how(const struct cunei_export_format *format, const char *file,
                             struct cunei_buffer *text)
{
    const char *how = format->how;
    const char *word = format->is_folder ? "FOLDER" : "FILE";

    for (const char *at; is_plain(file) && (at = strstr(how, word));
         how = at + strlen(word)) {
        cunei_buffer_append(text, how, (size_t)(at - how));
        cunei_buffer_append_text(text, file);
    }
    cunei_buffer_append_text(text, how);
}

/* In a session of its own, and without output, which would mix with ours. */
static int start(const char *program, char *const *argv, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;

    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    int error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    for (int fd = 1; error == 0 && fd <= 2; fd++)
        error =
            posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
    if (error == 0)
        error = posix_spawn(pid, program, &actions, &attributes, argv, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return -error;
}

/* Whether it failed within GIVES_UP_MS. */
static bool gives_up(pid_t pid)
{
    struct pollfd child = {.fd = -1, .events = POLLIN};
    int status = 0;

#ifdef SYS_pidfd_open
    child.fd = (int)syscall(SYS_pidfd_open, pid, 0);
#endif
    if (child.fd < 0)
        return false;
    (void)poll(&child, 1, GIVES_UP_MS);
    close(child.fd);
    return waitpid(pid, &status, WNOHANG) == pid &&
           !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int cunei_viewer_start(const char *program, char *const *argv)
{
    pid_t pid = 0;
    int rc = start(program, argv, &pid);

    return rc == 0 && gives_up(pid) ? -ECHILD : rc;
}

/* Of a folder, the viewer gets the file `entry` in it. */
static int start_on(const struct cunei_export_format *format, const char *program,
                    const char *file)
{
    struct cunei_buffer path = {0};

    /* So that it does not look like an option. */
    cunei_buffer_format(&path, "%s%s", file[0] == '-' ? "./" : "", file);
    if (format->entry)
        cunei_buffer_format(&path, "/%s", format->entry);
    char *argv[] = {(char *)(uintptr_t)format->opener, path.data, NULL};
    int rc = path.failed ? -ENOMEM : cunei_viewer_start(program, argv);
    cunei_buffer_fini(&path);
    return rc;
}

void cunei_viewer_open(const struct cunei_export_format *format, const char *file)
{
    char *program = format->opener ? cunei_search_path_find(format->opener) : NULL;
    struct cunei_buffer how = {0};

    cunei_viewer_format_how(format, file, &how);
    int rc = program ? start_on(format, program, file) : 0;
    if (!format->opener)
        cunei_cmd_note("--open knows no program for %s; %s", format->name, how.data);
    else if (!program)
        cunei_cmd_note("cannot open '%s': %s is not installed; %s", file,
                       format->opener, how.data);
    else if (rc == -ECHILD)
        cunei_cmd_note("cannot open '%s': %s failed; %s", file, format->opener,
                       how.data);
    else if (rc < 0)
        (void)cunei_cmd_fail(rc, "cannot open '%s'", file);
    cunei_buffer_fini(&how);
    free(program);
}
