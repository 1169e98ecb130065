// SPDX-License-Identifier: MIT
/* Types of the module that only our own functions instantiate. */
#ifndef CUNEI_PROBE_CORE_SEALED_TYPE_H
#define CUNEI_PROBE_CORE_SEALED_TYPE_H

#include <Python.h>

#include "probe/core/compat.h"

/* Before 3.10 some of them are 0. */
#define CUNEI_SEALED_TYPE_FLAGS \
    (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE)

/* The type, with `functions` added to the module; NULL with an exception. */
static inline PyTypeObject *cunei_sealed_type_add(PyObject *module, PyType_Spec *spec,
                                                  PyMethodDef *functions)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);

#if PY_VERSION_HEX < 0x030a0000
    if (type)
        type->tp_new = NULL; /* there is no flag for it */
#endif
    if (type && PyModule_AddFunctions(module, functions) < 0)
        Py_CLEAR(type);
    return type;
}

/* The tp_dealloc of objects that own nothing. */
static inline void cunei_sealed_type_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    type->tp_free(self);
    Py_DECREF(type);
}

#endif
