// SPDX-License-Identifier: MIT
/* Types of the module that only our own functions instantiate. */
#ifndef CUNEI_PROBE_USER_SEALED_TYPE_H
#define CUNEI_PROBE_USER_SEALED_TYPE_H

#include <Python.h>

#include "probe/core/compat.h"

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

#endif
