// SPDX-License-Identifier: MIT
/*
 * Running a program as the shell would: with the same input and output, terminal,
 * process group, signal mask and dispositions.
 *
 * While it runs, the terminal sends it signals directly, once.  A signal that a process
 * sent to us is passed on to it, and when the terminal stops it we stop as well.
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
    int wait_status; /* of waitpid */
    uint64_t end_ns; /* wall clock */
    uint64_t cpu_ns; /* of the process itself, without its children; 0: unknown */
};

/* What is called once the program runs, with all signals blocked; or NULL. */
struct cunei_launch_started {
    void (*call)(void *context);
    void *context;
};

/*
 * Run the program with CUNEI_RECORD set to `record_env`, and wait for its end.
 * `only_it`: child processes are not recorded.  Negative errno where it could not be
 * executed.
 */
int cunei_launch(const struct cunei_program *program, const char *record_env,
                 bool only_it, const struct cunei_launch_started *started,
                 struct cunei_launch_end *end);

/* Leave as the program did: its exit status to return, or death by the same signal. */
int cunei_launch_leave(int wait_status);

#endif
