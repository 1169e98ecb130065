// SPDX-License-Identifier: MIT
/* Names for processes that nothing else distinguishes, such as the workers of a server.
 */
#ifndef CUNEI_TRACE_PROCESS_FORK_NAMES_H
#define CUNEI_TRACE_PROCESS_FORK_NAMES_H

#include <stddef.h>

struct cunei_trace_process;

/*
 * Name the processes "fork 1", "fork 2" that were forked from the same one and have no
 * name, if there are several.  The processes are in order of their start.  -ENOMEM.
 */
int cunei_fork_names_set(struct cunei_trace_process *processes, size_t count);

#endif
