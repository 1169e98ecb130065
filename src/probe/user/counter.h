// SPDX-License-Identifier: MIT
/*
 * Counters as Python objects.  The value is kept whether there is a recording or not,
 * so that it is right when one begins.
 */
#ifndef CUNEI_PROBE_USER_COUNTER_H
#define CUNEI_PROBE_USER_COUNTER_H

#include <Python.h>

/* Add the function `counter` to the module; the type, or NULL with an exception. */
PyTypeObject *cunei_counter_add(PyObject *module);

#endif
