// SPDX-License-Identifier: MIT
#include "cmd/attach/attached.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/namespace_pid.h"
#include "base/units.h"
#include "base/vector.h"
#include "rt/clock.h"

/* A process ends its recording when its controller is away for 2 s. */
#define PATIENCE_NS (3 * CUNEI_NS_PER_S)

static uint64_t now_ns(void)
{
    return cunei_clock_ns(CLOCK_MONOTONIC);
}

int cunei_attached_add(struct cunei_attached_processes *attached,
                       struct cunei_connection *connection,
                       const struct cunei_process_facts *facts)
{
    if (!CUNEI_VECTOR_RESERVE(attached->items, attached->capacity, attached->count + 1))
        return -ENOMEM;
    attached->items[attached->count++] = (struct cunei_attached_process){
        .connection = *connection,
        .facts = *facts,
        .missing_since = connection->fd < 0 ? now_ns() : 0,
    };
    *connection = (struct cunei_connection){.fd = -1};
    return 0;
}

/* Whether it records for this session; it is connected then. */
static bool resume(const struct cunei_attached_processes *attached,
                   struct cunei_attached_process *process)
{
    const struct cunei_control_request request = {.action = CUNEI_CONTROL_RESUME,
                                                  .session = attached->session};
    struct cunei_control_answer answer;
    struct cunei_attach_error error;

    int rc = cunei_connection_ask(&process->connection, &request, attached->timeout_ns,
                                  &answer, &error);
    if (rc == 0) {
        cunei_control_answer_fini(&answer);
        return true;
    }
    process->has_left |= rc == -EREMOTEIO;
    cunei_connection_close(&process->connection);
    return false;
}

static void connect_again(const struct cunei_attached_processes *attached,
                          struct cunei_attached_process *process)
{
    struct cunei_attach_error error;

    if (cunei_connection_open(&process->connection, &process->facts, &error) == 0 &&
        resume(attached, process))
        process->missing_since = 0;
    else if (!cunei_process_facts_is_alive(&process->facts) ||
             now_ns() - process->missing_since > PATIENCE_NS)
        process->has_left = true;
}

static void update(const struct cunei_attached_processes *attached,
                   struct cunei_attached_process *process)
{
    if (process->has_left)
        return;
    if (process->connection.fd >= 0 && cunei_connection_is_gone(&process->connection))
        cunei_connection_close(&process->connection);
    if (process->connection.fd < 0 && !process->missing_since)
        process->missing_since = now_ns();
    if (process->connection.fd < 0)
        connect_again(attached, process);
}

/* The pid in the name of a process folder, "HOST-PID-N"; 0: it is none. */
static pid_t pid_of_folder(const char *name)
{
    const char *last = strrchr(name, '-');
    const char *dash = last;

    while (dash && dash > name && dash[-1] >= '0' && dash[-1] <= '9')
        dash--;
    if (!dash || dash == last || dash == name || dash[-1] != '-' || last - dash > 9)
        return 0;
    return (pid_t)strtol(dash, NULL, 10);
}

static bool is_known(const struct cunei_attached_processes *attached, pid_t inner_pid)
{
    for (size_t i = 0; i < attached->count; i++) {
        if (attached->items[i].facts.inner_pid == inner_pid)
            return true;
    }
    return false;
}

/* A folder may be that of a process that has ended, or of another container. */
static void add_forked(struct cunei_attached_processes *attached, pid_t inner_pid)
{
    struct cunei_connection none = {.fd = -1};
    struct cunei_process_facts facts = {0};

    if (cunei_namespace_pid_find(&attached->items[0].facts, inner_pid, &facts) < 0) {
        facts.inner_pid = inner_pid;
        if (cunei_attached_add(attached, &none, &facts) == 0)
            attached->items[attached->count - 1].has_left = true;
        return;
    }
    (void)cunei_attached_add(attached, &none, &facts);
}

static void find_forked(struct cunei_attached_processes *attached,
                        const char *directory)
{
    DIR *folders = opendir(directory);

    for (struct dirent *entry; folders && (entry = readdir(folders));) {
        pid_t pid = pid_of_folder(entry->d_name);
        if (pid > 0 && !is_known(attached, pid))
            add_forked(attached, pid);
    }
    if (folders)
        (void)closedir(folders);
}

size_t cunei_attached_update(struct cunei_attached_processes *attached,
                             const char *directory)
{
    size_t recording = 0;

    find_forked(attached, directory);
    for (size_t i = 0; i < attached->count; i++) {
        update(attached, &attached->items[i]);
        recording += !attached->items[i].has_left;
    }
    return recording;
}

int cunei_attached_ask(struct cunei_attached_processes *attached,
                       const struct cunei_control_request *request,
                       struct cunei_attach_error *error)
{
    int failed = 0;

    for (size_t i = 0; i < attached->count; i++) {
        struct cunei_attached_process *process = &attached->items[i];
        struct cunei_control_answer answer;
        if (process->has_left || process->connection.fd < 0)
            continue;
        int rc = cunei_connection_ask(&process->connection, request,
                                      attached->timeout_ns, &answer, error);
        if (rc == 0)
            cunei_control_answer_fini(&answer);
        else if (failed == 0)
            failed = rc;
    }
    return failed;
}

/* What we have armed is as it was again. */
static void disarm(const struct cunei_attached_processes *attached,
                   struct cunei_attached_process *process,
                   const struct cunei_control_answer *stopped)
{
    const struct cunei_control_request request = {.action = CUNEI_CONTROL_DISARM};
    struct cunei_control_answer answer;
    struct cunei_attach_error error;

    if (stopped->armed_by && strcmp(stopped->armed_by, CUNEI_ATTACHED_ARMED_BY) == 0 &&
        cunei_connection_ask(&process->connection, &request, attached->timeout_ns,
                             &answer, &error) == 0)
        cunei_control_answer_fini(&answer);
}

static int stop(const struct cunei_attached_processes *attached,
                struct cunei_attached_process *process,
                struct cunei_attach_error *error)
{
    const struct cunei_control_request request = {.action = CUNEI_CONTROL_STOP,
                                                  .session = attached->session};
    struct cunei_control_answer answer;
    int rc = -EPIPE;

    /* It may fork at this moment. */
    for (uint64_t until = now_ns() + attached->timeout_ns;
         rc == -EPIPE && now_ns() < until && !process->has_left;) {
        update(attached, process);
        if (process->connection.fd >= 0)
            rc = cunei_connection_ask(&process->connection, &request,
                                      attached->timeout_ns, &answer, error);
    }
    if (rc == 0) {
        disarm(attached, process, &answer);
        cunei_control_answer_fini(&answer);
    }
    return rc == -EREMOTEIO || process->has_left ? 0 : rc;
}

int cunei_attached_stop(struct cunei_attached_processes *attached,
                        struct cunei_attach_error *error)
{
    int failed = 0;

    for (size_t i = 0; i < attached->count; i++) {
        struct cunei_attached_process *process = &attached->items[i];
        int rc = process->has_left ? 0 : stop(attached, process, error);
        if (rc < 0)
            failed = -EIO;
    }
    return failed;
}

void cunei_attached_fini(struct cunei_attached_processes *attached)
{
    for (size_t i = 0; i < attached->count; i++)
        cunei_connection_close(&attached->items[i].connection);
    free(attached->items);
    *attached = (struct cunei_attached_processes){0};
}
