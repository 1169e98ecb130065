// SPDX-License-Identifier: MIT
/*
 * Running a command beside the program, which does not notice it: no SIGCHLD, no child
 * that wait(2) returns, no descriptor that stays open.
 */
#ifndef CUNEI_PROBE_RECORDING_HIDDEN_COMMAND_H
#define CUNEI_PROBE_RECORDING_HIDDEN_COMMAND_H

#include <Python.h>

/*
 * A function of the module cunei._probe.  run_hidden(words, wait): run a command, a
 * list of bytes whose first is its path.  With `wait` until it ends; returns what it
 * printed to its standard error, at most 4 KiB, as bytes.  OSError: it cannot be run.
 */
PyObject *cunei_hidden_command_run(PyObject *module, PyObject *args);

#endif
