// SPDX-License-Identifier: MIT
/*
 * Running a program as if nobody stood between it and the shell: same input and
 * output, terminal, process group, signal mask and dispositions.
 *
 * While it runs, signals typed at the terminal reach it by themselves, once; a signal
 * that somebody sent to us is passed on to it, and when the terminal stops it we stop
 * too.
 */
#ifndef CUNEI_CMD_RECORD_LAUNCH_H
#define CUNEI_CMD_RECORD_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cunei_program;

/* How a program ended. */
struct cunei_launch_end {
    pid_t pid;       /* of its process */
    int wait_status; /* as waitpid tells it */
    uint64_t end_ns; /* wall clock */
    uint64_t cpu_ns; /* of the process itself, without its children; 0: unknown */
};

/*
 * Run the program with CUNEI_RECORD set to `session`, and wait for its end.  `only_it`:
 * no other process shall heed that.  Negative errno where it could not be executed.
 */
int cunei_launch(const struct cunei_program *program, const char *session, bool only_it,
                 struct cunei_launch_end *end);

/* Leave as the program did: its exit status to return, or death by the same signal. */
int cunei_launch_leave(int wait_status);

#endif
