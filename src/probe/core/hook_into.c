// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/core/hook_into.h"

int cunei_hook_into(const char *module, const char *function, const char *keyword,
                    PyObject *ours, const char *name)
{
    PyObject *callable = PyObject_GetAttrString(ours, name);
    PyObject *imported = callable ? PyImport_ImportModule(module) : NULL;
    PyObject *target = imported ? PyObject_GetAttrString(imported, function) : NULL;
    PyObject *args = NULL, *names = NULL, *result = NULL;

    if (target) {
        args = keyword ? PyTuple_New(0) : PyTuple_Pack(1, callable);
        names = keyword ? Py_BuildValue("{sO}", keyword, callable) : NULL;
    }
    if (args && (names || !keyword))
        result = PyObject_Call(target, args, names);
    Py_XDECREF(callable);
    Py_XDECREF(imported);
    Py_XDECREF(target);
    Py_XDECREF(args);
    Py_XDECREF(names);
    Py_XDECREF(result);
    return result ? 0 : -1;
}
