// SPDX-License-Identifier: MIT
/*
 * Values as people read them, in so many bytes at most.
 *
 * Builtin types are written as their repr() does it, containers of them included, and
 * no further than there is room: a big value costs as little as a small one.  None of
 * the program's code runs for that.  What is of another type is written as
 * <module.Type at 0x…>, or by its own repr() if that is asked for.
 */
#ifndef CUNEI_PROBE_CORE_VALUE_TEXT_H
#define CUNEI_PROBE_CORE_VALUE_TEXT_H

#include <Python.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * Write the value to `out`, without a NUL, and return how many bytes that took, of
 * `max` at most; an ellipsis stands at the end of what was cut.  `max` is at least
 * CUNEI_RECORD_ENV_MAX_REPR_LEAST.  Leaves no exception; `full` runs the program's
 * code.
 */
size_t cunei_value_text_format(PyObject *value, bool full, char *out, size_t max);

#endif
