// SPDX-License-Identifier: MIT
/*
 * C functions: what Python calls a builtin, by the names that people know it by.
 *
 * Which callables are C functions is decided as cProfile does: builtin functions and
 * methods, and method descriptors that are called with an object.  Classes, slots such
 * as `__init__` and callables of other types are not.
 */
#ifndef CUNEI_PROBE_CFUNCTION_H
#define CUNEI_PROBE_CFUNCTION_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

struct cunei_cfunction {
    PyObject *callable; /* borrowed, as the others */
    const PyMethodDef *method;
    /* Whose type's name may be a part of its own: of the object it is called on. */
    PyTypeObject *owner;
};

/*
 * Whether its names can only change if the owner's version does, so that `method`,
 * `owner` and that version stand for them.  Methods that were made at run time may be
 * freed, and others take their place.
 */
bool cunei_cfunction_is_fixed(const struct cunei_cfunction *function);

/*
 * Its id, with the definition written.  0: it is not selected (`*is_off`), or there is
 * no id to be had.  Leaves no exception.
 */
uint32_t cunei_cfunction_define(const struct cunei_cfunction *function, bool *is_off);

#endif
