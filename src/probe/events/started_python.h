// SPDX-License-Identifier: MIT
/*
 * Pythons that this process starts, or becomes by os.execv, and that do not record:
 * they have no site-packages, no CUNEI_RECORD, or no cunei.
 *
 * A program counts as a Python by its name, or by the first line of a script.  Whether
 * it has cunei is known only afterwards: when it has ended, without a folder in the
 * trace.  Then it may have sent a reason of its own, which readers prefer
 * (python/refusals.h).
 */
#ifndef CUNEI_PROBE_EVENTS_STARTED_PYTHON_H
#define CUNEI_PROBE_EVENTS_STARTED_PYTHON_H

#include <Python.h>

#include <sys/types.h>

/* How a program is started; borrowed. */
struct cunei_start {
    PyObject *paths;       /* of the program: the first that can be executed counts */
    PyObject *arguments;   /* a sequence */
    PyObject *environment; /* texts NAME=value, a mapping, or None */
};

void cunei_started_python_init(void (*unrecorded)(pid_t pid, int reason));

/* The process `pid` runs this program. */
void cunei_started_python_started(pid_t pid, const struct cunei_start *start);

/* This process is about to run it instead of the current program. */
void cunei_started_python_executes(const struct cunei_start *start);

/* The process has ended. */
void cunei_started_python_ended(pid_t pid);

#endif
