// SPDX-License-Identifier: MIT
/*
 * The qualified names of functions.  Before 3.11 a code object does not know its own.
 *
 * It is told by the code it stands in: when a module, a class or a function is seen for
 * the first time, what is defined in it gets its name as the compiler would make it.
 * Code that was there before the recording is looked for among the functions and
 * classes of its module.  What is not found goes by its plain name.
 */
#ifndef CUNEI_PROBE_CODE_QUALNAME_H
#define CUNEI_PROBE_CODE_QUALNAME_H

#include <Python.h>

#include <stdbool.h>

/* -1 with an exception set: there is no place for names on code objects. */
int cunei_qualname_init(void);

/* The name, a new reference; `globals` are its module's, or NULL. */
PyObject *cunei_qualname_find(PyCodeObject *code, PyObject *globals);

/* The same for code that has been seen already. */
bool cunei_qualname_is(PyCodeObject *code, const char *wanted);

#endif
