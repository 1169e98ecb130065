// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/user/with_block.h"

#include <stddef.h>

#include "probe/core/compat.h"
#include "probe/core/sealed_type.h"

#if PY_VERSION_HEX < 0x030e0000
/* Attribute of an object: the object itself. */
static PyObject *own_get(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    return Py_NewRef(object ? object : self);
}

/* Attribute of the type: contextlib calls it with the object. */
static PyObject *own_call(PyObject *self, PyObject *args, PyObject *names)
{
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    (void)self;

    if (count == 0) {
        PyErr_SetString(PyExc_TypeError,
                        "must be called with the object whose method it is");
        return NULL;
    }
    PyObject *rest = PyTuple_GetSlice(args, 1, count);
    PyObject *result =
        rest ? PyObject_Call(PyTuple_GET_ITEM(args, 0), rest, names) : NULL;
    Py_XDECREF(rest);
    return result;
}

static PyType_Slot slots[] = {
    {Py_tp_dealloc, cunei_sealed_type_dealloc},
    {Py_tp_descr_get, own_get},
    {Py_tp_call, own_call},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "cunei._probe.OwnMethod",
    .basicsize = sizeof(PyObject),
    .flags = CUNEI_SEALED_TYPE_FLAGS,
    .slots = slots,
};

/* The type is not visible yet. */
static int put_methods(PyTypeObject *type)
{
    PyTypeObject *own_type = (PyTypeObject *)PyType_FromSpec(&spec);
    PyObject *own = own_type ? own_type->tp_alloc(own_type, 0) : NULL;
    int rc = own && PyDict_SetItemString(type->tp_dict, "__enter__", own) == 0 &&
                     PyDict_SetItemString(type->tp_dict, "__exit__", own) == 0
                 ? 0
                 : -1;

    PyType_Modified(type);
    Py_XDECREF(own);
    Py_XDECREF(own_type);
    return rc;
}
#else
static int put_methods(PyTypeObject *type)
{
    (void)type;
    return 0;
}
#endif

int cunei_with_block_adopt(PyTypeObject *type)
{
    type->tp_vectorcall_offset = offsetof(struct cunei_with_block, call);
    type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    return put_methods(type);
}
