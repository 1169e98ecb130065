// SPDX-License-Identifier: MIT
/*
 * Names of Python objects as text, found without running the program's code: an object
 * that is not a str has no name.
 */
#ifndef CUNEI_PROBE_CORE_NAMES_H
#define CUNEI_PROBE_CORE_NAMES_H

#include <Python.h>

#include <stddef.h>

#define CUNEI_NAMES_MAX 4096

/*
 * The text of a str as UTF-8, cut to fit, with a NUL; empty for anything else, which
 * may be NULL.  Returns its length.
 */
size_t cunei_names_copy(PyObject *text, char *out, size_t size);

/*
 * The file of a code object.  Before 3.9 that of __main__ is as it was typed, and means
 * another file once the program changes its directory: the absolute path is returned.
 */
void cunei_names_init(void);
void cunei_names_of_file(PyObject *text, char out[CUNEI_NAMES_MAX]);

/*
 * An attribute in the object's own dict or slots, a new reference; NULL without an
 * exception.  No property or __getattr__ of the program runs.
 */
PyObject *cunei_names_attribute(PyObject *object, const char *name);

/* The module of a type, and its qualified name. */
void cunei_names_of_type(PyTypeObject *type, char module[CUNEI_NAMES_MAX],
                         char qualname[CUNEI_NAMES_MAX]);

#endif
