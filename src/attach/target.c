// SPDX-License-Identifier: MIT
#include "attach/target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/memory_map.h"
#include "attach/permission.h"
#include "attach/target_root.h"
#include "wire/control_message.h"
#include "wire/live.h"

#define ENVIRONMENT_MAX (4u << 20)
#define MEMORY_FOLDER   "/dev/shm/cunei-"

static int read_process(pid_t pid, struct cunei_target *target,
                        struct cunei_attach_error *error)
{
    struct cunei_process_facts *process = &target->process;

    int rc = cunei_process_facts_read(pid, process);
    if (rc == -ESRCH)
        return cunei_attach_fail(
            error, rc,
            "there is no process %d; 'cunei list' shows the Python "
            "processes",
            (int)pid);
    if (rc < 0)
        return cunei_attach_fail(error, rc, "process %d cannot be examined: %s",
                                 (int)pid, strerror(-rc));
    if (process->process != pid)
        return cunei_attach_fail(error, -ESRCH,
                                 "there is no process %d: that is a thread of process "
                                 "%d",
                                 (int)pid, (int)process->process);
    if (process->is_zombie)
        return cunei_attach_fail(
            error, -ESRCH,
            "process %d has ended; its parent has not taken notice "
            "of it yet",
            (int)pid);
    if (process->is_kernel_thread)
        return cunei_attach_fail(
            error, -ENOEXEC,
            "process %d is not a Python: it is a part of the kernel; "
            "'cunei list' shows the Python processes",
            (int)pid);
    return 0;
}

/* "…/cunei/_probe.cpython-313-x86_64-linux-gnu.so" */
static bool is_probe(const struct cunei_mapping *mapping)
{
    static const char name[] = "/cunei/_probe.";
    const char *end = mapping->path + mapping->path_length;

    for (const char *at = mapping->path; at + sizeof(name) - 1 <= end; at++) {
        if (*at == '/' && memcmp(at, name, sizeof(name) - 1) == 0)
            return true;
    }
    return false;
}

/* In its folder, or in memory. */
static bool is_live_file(const struct cunei_mapping *mapping)
{
    size_t length;
    const char *name = cunei_mapping_name(mapping, &length);
    size_t prefix = sizeof(MEMORY_FOLDER) - 1;

    if (length == sizeof(CUNEI_LIVE_NAME) - 1 &&
        memcmp(name, CUNEI_LIVE_NAME, length) == 0)
        return true;
    return mapping->path_length > prefix &&
           memcmp(mapping->path, MEMORY_FOLDER, prefix) == 0 && length > 5 &&
           memcmp(name, "live-", 5) == 0;
}

static void find_cunei(const struct cunei_memory_map *map, struct cunei_target *target)
{
    struct cunei_mapping mapping = {0};

    while (cunei_memory_map_next(map, &mapping)) {
        if (mapping.path_length == 0)
            continue;
        target->has_probe |= is_probe(&mapping);
        target->is_recording |= !mapping.is_deleted && is_live_file(&mapping);
    }
    target->is_recording &= target->has_probe;
}

/* -X disable-remote-debug, as one word or two, before the script. */
static bool has_disabling_option(const struct cunei_buffer *arguments)
{
    const char *text = cunei_buffer_text(arguments);
    bool is_x = false;

    for (size_t at = 0; at < arguments->size; at += strlen(text + at) + 1) {
        const char *argument = text + at;
        const char *value = is_x                              ? argument
                            : strncmp(argument, "-X", 2) == 0 ? argument + 2
                                                              : "";
        if (strcmp(value, "disable-remote-debug") == 0 ||
            strcmp(value, "disable_remote_debug") == 0)
            return true;
        is_x = strcmp(argument, "-X") == 0;
        if (at > 0 && !is_x && argument[0] != '-' && *value == '\0')
            break;
    }
    return false;
}

static enum cunei_remote_debugging remote_debugging_of(
    const struct cunei_target *target, const struct cunei_buffer *environment,
    const struct cunei_buffer *arguments)
{
    const char *variable =
        cunei_process_variable(environment, "PYTHON_DISABLE_REMOTE_DEBUG");

    if (target->python.minor < 14)
        return CUNEI_REMOTE_DEBUGGING_NONE;
    if (variable && *variable)
        return CUNEI_REMOTE_DEBUGGING_VARIABLE;
    if (has_disabling_option(arguments))
        return CUNEI_REMOTE_DEBUGGING_OPTION;
    return CUNEI_REMOTE_DEBUGGING_POSSIBLE;
}

/* A socket of the process's user. */
static bool is_control(int root, const struct cunei_target *target)
{
    struct stat status;

    return cunei_target_root_look_at(root, target->control, &status) == 0 &&
           S_ISSOCK(status.st_mode) &&
           (status.st_uid == target->process.uid ||
            status.st_uid == target->process.effective_uid);
}

static void find_control(struct cunei_target *target)
{
    const struct cunei_process_facts *process = &target->process;
    int root = cunei_target_root_open(process->pid);

    if (target->runtime_directory[0]) {
        (void)snprintf(target->control, sizeof(target->control),
                       "%.*s/cunei/" CUNEI_CONTROL_SOCKET, CUNEI_TARGET_PATH_MAX - 64,
                       target->runtime_directory, (int)process->inner_pid,
                       process->pid_namespace);
        target->is_armed = root >= 0 && is_control(root, target);
    }
    if (!target->is_armed) {
        char first[CUNEI_TARGET_PATH_MAX];
        memcpy(first, target->control, sizeof(first));
        (void)snprintf(target->control, sizeof(target->control),
                       MEMORY_FOLDER "%u/" CUNEI_CONTROL_SOCKET,
                       (unsigned)process->effective_uid, (int)process->inner_pid,
                       process->pid_namespace);
        target->is_armed = root >= 0 && is_control(root, target);
        if (!target->is_armed && first[0])
            memcpy(target->control, first, sizeof(first));
    }
    if (root >= 0)
        close(root);
}

static void read_environment(struct cunei_target *target)
{
    struct cunei_buffer environment = {0}, arguments = {0};
    pid_t pid = target->process.pid;

    (void)cunei_process_file_read(pid, "environ", ENVIRONMENT_MAX, &environment);
    (void)cunei_process_file_read(pid, "cmdline", ENVIRONMENT_MAX, &arguments);
    target->remote_debugging = remote_debugging_of(target, &environment, &arguments);
    const char *runtime = cunei_process_variable(&environment, "XDG_RUNTIME_DIR");
    if (runtime && runtime[0] == '/' && strlen(runtime) < CUNEI_TARGET_PATH_MAX)
        memcpy(target->runtime_directory, runtime, strlen(runtime) + 1);
    cunei_buffer_fini(&environment);
    cunei_buffer_fini(&arguments);
}

int cunei_target_open(pid_t pid, struct cunei_target *target,
                      struct cunei_attach_error *error)
{
    struct cunei_target found = {0};
    struct cunei_memory_map map = {0};

    int rc = read_process(pid, &found, error);
    if (rc < 0)
        return rc;
    rc = cunei_memory_map_read(&map, pid);
    if (rc < 0)
        rc = cunei_permission_fail(&found.process, rc, error);
    else
        rc = cunei_python_image_find(&found.process, &map, &found.python, error);
    if (rc == 0) {
        find_cunei(&map, &found);
        read_environment(&found);
        find_control(&found);
        *target = found;
    }
    cunei_memory_map_fini(&map);
    return rc;
}

void cunei_target_close(struct cunei_target *target)
{
    cunei_python_image_fini(&target->python);
    *target = (struct cunei_target){0};
}

/* config.remote_debug of the first interpreter; the same for all of them. */
static bool is_remote_debugging_off(const struct cunei_target *target)
{
    const struct cunei_python_image *python = &target->python;
    uint64_t interpreter = 0;
    int32_t is_enabled = 1;

    return python->offsets_rc == 0 && python->offsets.has_remote_debugging &&
           cunei_memory_read(target->process.pid,
                             python->runtime + python->offsets.interpreters_head,
                             &interpreter, sizeof(interpreter)) == 0 &&
           cunei_memory_read(target->process.pid,
                             interpreter + python->offsets.remote_debugging_enabled,
                             &is_enabled, sizeof(is_enabled)) == 0 &&
           is_enabled != 1;
}

int cunei_target_check_permission(struct cunei_target *target,
                                  struct cunei_attach_error *error)
{
    int rc = cunei_permission_check(&target->process, target->python.runtime, error);
    if (rc == 0 && target->remote_debugging == CUNEI_REMOTE_DEBUGGING_POSSIBLE &&
        is_remote_debugging_off(target))
        target->remote_debugging = CUNEI_REMOTE_DEBUGGING_BUILD;
    return rc;
}
