// SPDX-License-Identifier: MIT
/* The command line of a running process. */
#ifndef CUNEI_CMD_ATTACH_COMMAND_WORDS_H
#define CUNEI_CMD_ATTACH_COMMAND_WORDS_H

#include <sys/types.h>

struct cunei_process;

/* Its words become the arguments of `process`, which the caller ends; none: we may not
 * read them, or there is no memory. */
void cunei_command_words_read(pid_t pid, struct cunei_process *process);

#endif
