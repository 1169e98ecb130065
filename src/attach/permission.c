// SPDX-License-Identifier: MIT
#include "attach/permission.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/memory_map.h"

/* Of /proc/sys/kernel/yama/ptrace_scope; 0 where there is no such file. */
static int ptrace_scope(void)
{
    char text[8] = "";

    int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (read(fd, text, sizeof(text) - 1) < 0)
        text[0] = '\0';
    close(fd);
    return (int)strtol(text, NULL, 10);
}

static bool is_of_other_user(const struct cunei_process_facts *process)
{
    uid_t uid = getuid();
    gid_t gid = getgid();

    return process->uid != uid || process->effective_uid != uid ||
           process->saved_uid != uid || process->gid != gid ||
           process->effective_gid != gid || process->saved_gid != gid;
}

/* The kernel gives the files of a process that is not dumpable to root. */
static bool is_not_dumpable(const struct cunei_process_facts *process)
{
    struct stat status;
    char path[32];

    (void)snprintf(path, sizeof(path), "/proc/%d", (int)process->pid);
    return stat(path, &status) == 0 && status.st_uid != process->effective_uid;
}

static int fail_for_user(const struct cunei_process_facts *process, int rc,
                         struct cunei_attach_error *error)
{
    if (getuid() == 0)
        return cunei_attach_fail(
            error, rc,
            "process %d cannot be examined: this root has no CAP_SYS_PTRACE over it; "
            "run cunei outside of the container, or with the capability SYS_PTRACE",
            (int)process->pid);
    return cunei_attach_fail(
        error, rc,
        "process %d belongs to user %u, and you are user %u; run cunei as that user or "
        "as root",
        (int)process->pid, (unsigned)process->uid, (unsigned)getuid());
}

static int fail_for_scope(const struct cunei_process_facts *process, int scope, int rc,
                          struct cunei_attach_error *error)
{
    if (scope == 3)
        return cunei_attach_fail(
            error, rc,
            "process %d cannot be attached: this machine forbids it to everyone "
            "(kernel.yama.ptrace_scope is 3, until it restarts); start the program "
            "with 'cunei arm' or 'cunei record'",
            (int)process->pid);
    return cunei_attach_fail(
        error, rc,
        "process %d cannot be attached: this machine allows it only to root "
        "(kernel.yama.ptrace_scope is %d); run cunei as root, or start the program "
        "with 'cunei arm'",
        (int)process->pid, scope);
}

int cunei_permission_fail(const struct cunei_process_facts *process, int rc,
                          struct cunei_attach_error *error)
{
    int scope = ptrace_scope();

    if (!cunei_process_facts_is_alive(process))
        return cunei_attach_fail(error, -ESRCH, "process %d has ended meanwhile",
                                 (int)process->pid);
    if (rc != -EPERM && rc != -EACCES)
        return cunei_attach_fail(error, rc, "process %d cannot be examined: %s",
                                 (int)process->pid, strerror(-rc));
    if (is_of_other_user(process))
        return fail_for_user(process, rc, error);
    if (scope > 0)
        return fail_for_scope(process, scope, rc, error);
    if (is_not_dumpable(process))
        return cunei_attach_fail(
            error, rc,
            "process %d cannot be attached: it is protected (not dumpable, because it "
            "changed its user or asked for it); run cunei as root",
            (int)process->pid);
    return cunei_attach_fail(
        error, rc,
        "process %d cannot be attached: a security module or the sandbox of this "
        "container forbids ptrace; allow the capability SYS_PTRACE, or start the "
        "program with 'cunei arm'",
        (int)process->pid);
}

int cunei_permission_check(const struct cunei_process_facts *process, uint64_t address,
                           struct cunei_attach_error *error)
{
    char byte;

    int rc = cunei_memory_read(process->pid, address, &byte, sizeof(byte));
    return rc < 0 ? cunei_permission_fail(process, rc, error) : 0;
}
