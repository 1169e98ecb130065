// SPDX-License-Identifier: MIT
/*
 * Whether this process takes requests of controllers: it is armed then.
 *
 * The thread that takes them ends before a fork and begins again after it, in parent
 * and child, so that CPython sees no thread that it does not know.  All functions are
 * called with the GIL, and release it while they wait.
 */
#ifndef CUNEI_PROBE_ARMED_ARMED_H
#define CUNEI_PROBE_ARMED_ARMED_H

#include <Python.h>

#include <stdbool.h>

struct cunei_probe;

/*
 * Arm the process.  `by` is what controllers show; `port` the path of a socket on which
 * a controller waits, or NULL.  Does nothing if it is armed.  -1 with an exception set.
 */
int cunei_armed_begin(struct cunei_probe *state, const char *by, const char *port);

/* Disarm it, and end the recording that a controller has started. */
void cunei_armed_end(struct cunei_probe *state);
bool cunei_armed_is_on(void);

/*
 * Wait for the controller at the port: it starts a recording, or goes away.  -1: the
 * handler of a signal has raised an exception, as Ctrl-C does.
 */
int cunei_armed_await_controller(void);

/* Around a fork; the last two in the parent and in the child. */
void cunei_armed_before_fork(void);
void cunei_armed_after_fork(void);
void cunei_armed_forked(void);

#endif
