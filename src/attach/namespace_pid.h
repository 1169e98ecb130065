// SPDX-License-Identifier: MIT
/* Processes by the number that they have in another process's pid namespace. */
#ifndef CUNEI_ATTACH_NAMESPACE_PID_H
#define CUNEI_ATTACH_NAMESPACE_PID_H

#include <sys/types.h>

struct cunei_process_facts;

/*
 * The process that has this number in the pid namespace of `neighbour`.  -ESRCH: there
 * is none.
 */
int cunei_namespace_pid_find(const struct cunei_process_facts *neighbour,
                             pid_t inner_pid, struct cunei_process_facts *found);

#endif
