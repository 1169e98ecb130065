// SPDX-License-Identifier: MIT
/*
 * disable() and enable() as Python sees them.  Each returns an object that switches
 * back at the end of a `with` block; where nothing was switched, always the same one.
 */
#ifndef CUNEI_PROBE_RECORDING_SWITCH_TYPE_H
#define CUNEI_PROBE_RECORDING_SWITCH_TYPE_H

#include <Python.h>

/* Add both to the module; -1 with an exception. */
int cunei_switch_type_init(PyObject *module);

#endif
