// SPDX-License-Identifier: MIT
/*
 * C functions: what Python calls a builtin, by the names that people know it by.
 *
 * Which callables are C functions is decided as cProfile does: builtin functions and
 * methods, and method descriptors that are called with an object.  Classes, slots such
 * as `__init__` and callables of other types are not.
 */
#ifndef CUNEI_PROBE_EVENTS_C_FUNCTION_H
#define CUNEI_PROBE_EVENTS_C_FUNCTION_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

struct cunei_c_function {
    PyObject *callable; /* borrowed, as the others */
    const PyMethodDef *method;
    /* Whose name may be a part of its own: the type of the object it is called on. */
    PyTypeObject *owner;
};

/*
 * How long `method` and `owner` stand for the same names.  Methods that were made at
 * run time may be freed, and others take their place; so may types.
 */
enum cunei_c_function_life {
    CUNEI_C_FUNCTION_ONCE,
    CUNEI_C_FUNCTION_BY_TEXT,    /* as VERSION, and as long as it has the same text */
    CUNEI_C_FUNCTION_BY_VERSION, /* as long as the owner has the same version */
    CUNEI_C_FUNCTION_FOREVER,
};

/*
 * Its id, with the definition written.  0: it is not selected (`*is_off`), or there is
 * no id to be had.  Leaves no exception.
 */
uint32_t cunei_c_function_define(const struct cunei_c_function *function, bool *is_off,
                                 enum cunei_c_function_life *life);

/* What it says of itself, owned; NULL: no memory.  And whether it still says so. */
char *cunei_c_function_text(const struct cunei_c_function *function);
bool cunei_c_function_has_text(const struct cunei_c_function *function,
                               const char *text);

#endif
