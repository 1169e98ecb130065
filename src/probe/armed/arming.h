// SPDX-License-Identifier: MIT
/* The functions of cunei._probe that arm and disarm the process. */
#ifndef CUNEI_PROBE_ARMED_ARMING_H
#define CUNEI_PROBE_ARMED_ARMING_H

#include <Python.h>

/* arm(by): take requests of controllers, who are shown what armed the process. */
PyObject *cunei_arming_arm(PyObject *module, PyObject *by);
PyObject *cunei_arming_disarm(PyObject *module, PyObject *unused);
PyObject *cunei_arming_is_armed(PyObject *module, PyObject *unused);

/* Called around a fork, by posix. */
PyObject *cunei_arming_before_fork(PyObject *module, PyObject *unused);
PyObject *cunei_arming_after_fork(PyObject *module, PyObject *unused);

/*
 * Arm the process if CUNEI_RECORD or CUNEI_PORT asks for it, and wait for the
 * controller at the port if that is wanted.  -1 with an exception set.
 */
int cunei_arming_boot(PyObject *module);

#endif
