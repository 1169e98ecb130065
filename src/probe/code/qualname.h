// SPDX-License-Identifier: MIT
/*
 * The qualified names of functions.  Before 3.11 a code object does not have its own.
 *
 * Its name follows from the code that contains it: when a module, class or function is
 * seen for the first time, the functions defined in it get the names that the compiler
 * would give.  Code that was there before the recording is searched among the functions
 * and classes of its module.  Otherwise the plain name is used.
 */
#ifndef CUNEI_PROBE_CODE_QUALNAME_H
#define CUNEI_PROBE_CODE_QUALNAME_H

#include <Python.h>

#include <stdbool.h>

/* -1 with an exception set: no co_extra index is left. */
int cunei_qualname_init(void);

/* The name, a new reference; `globals` are those of its module, or NULL. */
PyObject *cunei_qualname_find(PyCodeObject *code, PyObject *globals);

/* Whether code that has been seen has this name. */
bool cunei_qualname_is(PyCodeObject *code, const char *wanted);

#endif
