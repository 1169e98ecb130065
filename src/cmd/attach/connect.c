// SPDX-License-Identifier: MIT
#include "cmd/attach/connect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/attach/arm_running.h"
#include "cmd/common/message.h"

pid_t cunei_attach_pid(const char *word)
{
    size_t size = strlen(word);

    if (size == 0 || size > 9 || word[strspn(word, "0123456789")] != '\0')
        return 0;
    return (pid_t)strtol(word, NULL, 10);
}

int cunei_attach_open_target(const char *word, struct cunei_target *target)
{
    struct cunei_attach_error error;
    pid_t pid = cunei_attach_pid(word);

    if (pid == 0)
        return cunei_cmd_usage("'%s' is not a pid; 'cunei list' shows the Python "
                               "processes",
                               word);
    if (pid == getpid())
        return cunei_cmd_usage("%d is this cunei itself; 'cunei list' shows the Python "
                               "processes",
                               (int)pid);
    if (cunei_target_open(pid, target, &error) < 0)
        return cunei_cmd_fail(0, "%s", error.text);
    return EXIT_SUCCESS;
}

int cunei_attach_connect(const char *word, bool arm, uint64_t timeout_ns,
                         struct cunei_target *target,
                         struct cunei_connection *connection)
{
    struct cunei_attach_error error;

    int status = cunei_attach_open_target(word, target);
    if (status != EXIT_SUCCESS)
        return status;
    int rc = cunei_connection_open(connection, &target->process, &error);
    /* Arming it would change the process for a request that it refuses. */
    if (rc == -ENOENT && arm && target->is_recording)
        return cunei_cmd_fail(0,
                              "process %d is being recorded already; there is one "
                              "recording at a time: 'cunei top %d' shows this one, "
                              "'cunei snapshot %d' copies it",
                              (int)target->process.pid, (int)target->process.pid,
                              (int)target->process.pid);
    if (rc == -ENOENT && arm) {
        status = cunei_attach_arm_running(target, timeout_ns);
        if (status != EXIT_SUCCESS)
            return status;
        rc = cunei_connection_open(connection, &target->process, &error);
        /* Armed at its very end, and disarmed by it. */
        if (rc == -ENOENT)
            return cunei_cmd_fail(0, "process %d has ended meanwhile, or is about to",
                                  (int)target->process.pid);
    }
    if (rc == -ENOENT && !arm)
        return cunei_cmd_fail(0, "process %d is not attached",
                              (int)target->process.pid);
    return rc < 0 ? cunei_cmd_fail(0, "%s", error.text) : EXIT_SUCCESS;
}

int cunei_attach_await(const char *path, struct cunei_target *target,
                       struct cunei_connection *connection)
{
    struct cunei_attach_error error;
    int rc = -EPERM;

    int port = cunei_connection_listen(path, &error);
    if (port < 0)
        return cunei_cmd_fail(0, "%s", error.text);
    cunei_cmd_note(
        "waiting for a program that was started with " CUNEI_PORT_VARIABLE "=%s", path);
    while (rc == -EPERM || rc == -EINTR)
        rc = cunei_connection_accept(connection, port);
    (void)unlink(path);
    close(port);
    if (rc == 0 && connection->pid == 0)
        rc = cunei_attach_fail(&error, -ESRCH,
                               "the program that has connected cannot be seen from here: "
                               "it is in another pid namespace; use one for both "
                               "(Kubernetes: shareProcessNamespace, Docker: --pid "
                               "container:NAME)");
    else if (rc == 0)
        rc = cunei_target_open(connection->pid, target, &error);
    else
        (void)cunei_attach_fail(&error, rc, "cannot wait at '%s': %s", path,
                                strerror(-rc));
    return rc < 0 ? cunei_cmd_fail(0, "%s", error.text) : EXIT_SUCCESS;
}
