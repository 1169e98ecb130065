// SPDX-License-Identifier: MIT
/*
 * A program that top runs and records, in the background of the terminal.
 *
 *     struct cunei_top_program program = {.run = &recording};
 *     rc = cunei_top_program_start(&program, has_screen, rows, columns);
 *     … read from program.output; cunei_top_program_look(&program) …
 *     cunei_top_program_end(&program, SIGTERM);
 *     return cunei_launch_leave(program.wait_status);
 *
 * With a screen, it prints to a terminal of its own, so that it prints as it would.  If
 * it reads from the real one, which shows the screen, the system stops it.
 */
#ifndef CUNEI_CMD_TOP_PROGRAM_H
#define CUNEI_CMD_TOP_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

struct cunei_recorded_run;

struct cunei_top_program {
    struct cunei_recorded_run *run; /* borrowed: prepared, with its directory */
    pid_t pid;                      /* of the process that launched it */
    int output;                     /* what it prints; -1: all of it was read */
    int wait_status;                /* when it has ended */
    bool has_ended;
    bool is_reading; /* it was stopped because it uses the terminal */
};

/* Without a screen it prints to our stderr, because stdout has samples.  Negative
 * errno. */
int cunei_top_program_start(struct cunei_top_program *program, bool has_screen,
                            int row_count, int column_count);

/* Whether something of it has changed: it ended, or was stopped. */
bool cunei_top_program_look(struct cunei_top_program *program);

/* Send it a signal, and wait for its end; after some seconds it is killed. */
void cunei_top_program_end(struct cunei_top_program *program, int signal_number);

#endif
