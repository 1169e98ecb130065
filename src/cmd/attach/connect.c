// SPDX-License-Identifier: MIT
#include "cmd/attach/connect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/injection.h"
#include "base/units.h"
#include "cmd/attach/arm_running.h"
#include "cmd/common/follow_wait.h"
#include "cmd/common/message.h"
#include "rt/clock.h"

#define POLL_NS   (5 * CUNEI_NS_PER_MS)
#define ACCEPT_NS (20 * CUNEI_NS_PER_MS)  /* between two looks at the port */
#define FORK_NS   (200 * CUNEI_NS_PER_MS) /* longer than a process that forks is away */

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

/* A process that forks has no socket for a moment; one that ends has none any more. */
static int connect_again(struct cunei_connection *connection,
                         const struct cunei_process_facts *process, uint64_t timeout_ns,
                         struct cunei_attach_error *error)
{
    const struct timespec pause = {.tv_nsec = (long)POLL_NS};
    uint64_t begin = cunei_clock_ns(CLOCK_MONOTONIC);

    for (;;) {
        int rc = cunei_connection_open(connection, process, error);
        if (rc >= 0)
            return rc;
        if (!cunei_process_facts_is_alive(process))
            return cunei_attach_fail(error, -ESRCH, "process %d has ended meanwhile",
                                     (int)process->pid);
        if ((rc != -ENOENT && rc != -ECONNREFUSED) ||
            cunei_clock_ns(CLOCK_MONOTONIC) - begin >= timeout_ns)
            return rc;
        (void)nanosleep(&pause, NULL);
    }
}

/* Whether the process has begun this session, and only its answer was lost. */
static bool has_started(struct cunei_connection *connection, uint64_t session,
                        uint64_t timeout_ns, struct cunei_control_answer *answer)
{
    const struct cunei_control_request resume = {.action = CUNEI_CONTROL_RESUME,
                                                 .session = session};
    struct cunei_attach_error ignored;

    return cunei_connection_ask(connection, &resume, timeout_ns, answer, &ignored) == 0;
}

int cunei_attach_ask(struct cunei_connection *connection,
                     const struct cunei_process_facts *process,
                     const struct cunei_control_request *request, uint64_t timeout_ns,
                     struct cunei_control_answer *answer,
                     struct cunei_attach_error *error)
{
    uint64_t begin = cunei_clock_ns(CLOCK_MONOTONIC);

    for (;;) {
        int rc = cunei_connection_ask(connection, request, timeout_ns, answer, error);
        uint64_t passed = cunei_clock_ns(CLOCK_MONOTONIC) - begin;
        if (rc != -EPIPE || passed >= timeout_ns)
            return rc;
        rc = connect_again(connection, process, timeout_ns - passed, error);
        if (rc < 0)
            return rc;
        if (request->action == CUNEI_CONTROL_START &&
            has_started(connection, request->session, timeout_ns, answer))
            return 0;
    }
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
    /* It may be armed, and fork at this moment.  Arming it again would be as good. */
    if (rc == -ENOENT && target->has_probe &&
        (!arm || cunei_injection_check(target, &error) < 0))
        rc = connect_again(connection, &target->process, FORK_NS, &error);
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
        rc = connect_again(connection, &target->process, timeout_ns, &error);
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

    cunei_follow_wait_begin();
    int port = cunei_connection_listen(path, &error);
    if (port < 0)
        return cunei_cmd_fail(0, "%s", error.text);
    cunei_cmd_note(
        "waiting for a program that was started with " CUNEI_PORT_VARIABLE "=%s", path);
    while (rc == -EPERM || rc == -EINTR || rc == -EAGAIN) {
        rc = cunei_connection_accept(connection, port);
        if (rc == -EAGAIN && cunei_follow_wait(ACCEPT_NS, -1) != CUNEI_FOLLOW_ON)
            rc = -ECANCELED;
    }
    (void)unlink(path);
    close(port);
    if (rc == 0 && connection->pid == 0)
        rc = cunei_attach_fail(
            &error, -ESRCH,
            "the program that has connected cannot be seen from here: "
            "it is in another pid namespace; use one for both "
            "(Kubernetes: shareProcessNamespace, Docker: --pid "
            "container:NAME)");
    else if (rc == 0)
        rc = cunei_target_open(connection->pid, target, &error);
    else if (rc == -ECANCELED)
        (void)cunei_attach_fail(&error, rc, "no program has connected to '%s'", path);
    else
        (void)cunei_attach_fail(&error, rc, "cannot wait at '%s': %s", path,
                                strerror(-rc));
    return rc < 0 ? cunei_cmd_fail(0, "%s", error.text) : EXIT_SUCCESS;
}
