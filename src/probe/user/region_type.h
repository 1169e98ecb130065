// SPDX-License-Identifier: MIT
/*
 * Regions as Python objects, and the functions that begin and end them.  An object has
 * a name and nothing else: it may be open in several threads, and more than once in
 * each.
 */
#ifndef CUNEI_PROBE_USER_REGION_TYPE_H
#define CUNEI_PROBE_USER_REGION_TYPE_H

#include <Python.h>

/* Add the functions to the module; the type, or NULL with an exception. */
PyTypeObject *cunei_region_type_add(PyObject *module);

#endif
