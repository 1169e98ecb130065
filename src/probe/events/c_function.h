// SPDX-License-Identifier: MIT
/*
 * C functions: builtins, with the names that people know.
 *
 * The same callables count as C functions as in cProfile: builtin functions and
 * methods, and method descriptors that are called with an object.  Classes, slots such
 * as `__init__` and callables of other types do not.
 */
#ifndef CUNEI_PROBE_EVENTS_C_FUNCTION_H
#define CUNEI_PROBE_EVENTS_C_FUNCTION_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

struct cunei_c_function {
    PyObject *callable; /* borrowed, as the others */
    const PyMethodDef *method;
    /* the type of the object it is called on, which may be part of the name */
    PyTypeObject *owner;
};

/*
 * How long `method` and `owner` stand for the same function.  Methods that were created
 * at run time may be freed and their addresses used again; so may types.
 */
enum cunei_c_function_life {
    CUNEI_C_FUNCTION_ONCE,
    CUNEI_C_FUNCTION_BY_TEXT,    /* as BY_VERSION, and while it has the same text */
    CUNEI_C_FUNCTION_BY_VERSION, /* while the owner has the same version */
    CUNEI_C_FUNCTION_FOREVER,
};

/*
 * Its id, with the definition written.  0: it is not selected (`*is_off`), or no id is
 * left.  Leaves no exception.
 */
uint32_t cunei_c_function_define(const struct cunei_c_function *function, bool *is_off,
                                 enum cunei_c_function_life *life);

/*
 * The text that identifies it, owned; NULL: no memory.  And whether it is still the
 * same.
 */
char *cunei_c_function_text(const struct cunei_c_function *function);
bool cunei_c_function_has_text(const struct cunei_c_function *function,
                               const char *text);

#endif
