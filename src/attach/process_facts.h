// SPDX-License-Identifier: MIT
/* What /proc says about a process, whatever program it runs. */
#ifndef CUNEI_ATTACH_PROCESS_FACTS_H
#define CUNEI_ATTACH_PROCESS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"

#define CUNEI_PROCESS_NAME_SIZE 64

struct cunei_process_facts {
    pid_t pid;
    pid_t inner_pid;        /* its number in its own pid namespace, the innermost one */
    uint64_t pid_namespace; /* the number of that; 0: we may not look */
    pid_t process;          /* of which it is a thread, if it is not `pid` itself */
    pid_t tracer;           /* the process that traces it with ptrace; 0: none does */
    uid_t uid, effective_uid, saved_uid, file_uid;
    gid_t gid, effective_gid, saved_gid, file_gid;
    uint64_t start; /* clock ticks since boot: with the pid, it identifies a process */
    size_t thread_count;
    bool is_zombie, is_kernel_thread;
    /* false where it is not known, too. */
    bool is_in_other_pid_namespace, is_in_other_mount_namespace;
    bool is_in_other_network_namespace, is_in_other_user_namespace;
    char name[CUNEI_PROCESS_NAME_SIZE]; /* its command name, 15 bytes at most */
};

/* -ESRCH: there is no such process; -ENODATA: /proc says something unexpected. */
int cunei_process_facts_read(pid_t pid, struct cunei_process_facts *facts);

/* Whether it is still the same process, and runs. */
bool cunei_process_facts_is_alive(const struct cunei_process_facts *facts);

/* Append the content of a file in /proc/PID; -EFBIG: it has more than `max` bytes. */
int cunei_process_file_read(pid_t pid, const char *name, size_t max,
                            struct cunei_buffer *out);

/*
 * A variable of the environment that the process was started with, in the text of
 * /proc/PID/environ; NULL: it is not set.
 */
const char *cunei_process_variable(const struct cunei_buffer *environment,
                                   const char *name);

#endif
