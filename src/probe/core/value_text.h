// SPDX-License-Identifier: MIT
/*
 * Values as text, in a limited number of bytes.
 *
 * Values of builtin types, containers included, are written like their repr(), but only
 * as far as there is room: a big value costs as little as a small one.  None of the
 * program's code runs for that.  Values of other types are written as <module.Type at
 * 0x…>, or by their own repr() if that is asked for.
 */
#ifndef CUNEI_PROBE_CORE_VALUE_TEXT_H
#define CUNEI_PROBE_CORE_VALUE_TEXT_H

#include <Python.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * Write the value to `out`, without a NUL, and return its size, at most `max` bytes;
 * text that was cut ends in an ellipsis.  `max` is at least
 * CUNEI_RECORD_ENV_MAX_REPR_LEAST.  Leaves no exception; `full` runs the program's
 * code.
 */
size_t cunei_value_text_format(PyObject *value, bool full, char *out, size_t max);

#endif
