// SPDX-License-Identifier: MIT
/*
 * Names of Python objects as text, found without running any of the program's code:
 * what is no str has no name.
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
 * The file of a code object.  Before 3.9 the main one has the name that was typed,
 * which means another file once the program changes its directory: it is told in whole.
 */
void cunei_names_init(void);
void cunei_names_of_file(PyObject *text, char out[CUNEI_NAMES_MAX]);

/*
 * What the object itself holds under a name, a new reference; NULL without an
 * exception.  A property or a __getattr__ of the program's does not run.
 */
PyObject *cunei_names_attribute(PyObject *object, const char *name);

/* Where a type comes from, and its qualified name. */
void cunei_names_of_type(PyTypeObject *type, char module[CUNEI_NAMES_MAX],
                         char qualname[CUNEI_NAMES_MAX]);

#endif
