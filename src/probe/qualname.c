// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/qualname.h"

#include <stdint.h>

#include "probe/extra.h"

#if PY_VERSION_HEX >= 0x030b0000

int cunei_qualname_init(void)
{
    return 0;
}

PyObject *cunei_qualname_find(PyCodeObject *code, PyObject *globals)
{
    (void)globals;
    return Py_NewRef(code->co_qualname);
}

bool cunei_qualname_is(PyCodeObject *code, const char *wanted)
{
    return PyUnicode_CompareWithASCIIString(code->co_qualname, wanted) == 0;
}

#else

/* Modules that have been searched; one that is forgotten is searched again. */
#define SEARCHED_COUNT 1024u

static Py_ssize_t extra_index = -1;
static const void *searched[SEARCHED_COUNT];

static void let_go(void *name)
{
    Py_XDECREF((PyObject *)name);
}

int cunei_qualname_init(void)
{
    if (extra_index < 0)
        extra_index = PyUnstable_Eval_RequestCodeExtraIndex(let_go);
    if (extra_index >= 0)
        return 0;
    PyErr_SetString(PyExc_RuntimeError, "no place left on code objects");
    return -1;
}

/* Borrowed; NULL: it has none. */
static PyObject *known(PyCodeObject *code)
{
    return (PyObject *)(uintptr_t)cunei_extra_call(code, extra_index);
}

static void learn(PyCodeObject *code, PyObject *name)
{
    if (known(code))
        return;
    Py_INCREF(name);
    if (PyUnstable_Code_SetExtra((PyObject *)code, extra_index, name) < 0) {
        Py_DECREF(name);
        PyErr_Clear();
    }
}

/* What the names of functions begin with that are defined in this code. */
static PyObject *prefix_of(PyCodeObject *code, PyObject *name)
{
    if (code->co_flags & CO_NEWLOCALS)
        return PyUnicode_FromFormat("%U.<locals>.", name);
    if (PyUnicode_CompareWithASCIIString(code->co_name, "<module>") == 0)
        return PyUnicode_FromString("");
    return PyUnicode_FromFormat("%U.", name);
}

static void learn_inner(PyCodeObject *code, PyObject *name)
{
    PyObject *prefix = NULL, *constants = code->co_consts;

    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constants); i++) {
        PyObject *inner = PyTuple_GET_ITEM(constants, i);
        if (!PyCode_Check(inner) || known((PyCodeObject *)inner))
            continue;
        if (!prefix)
            prefix = prefix_of(code, name);
        PyObject *whole =
            prefix ? PyUnicode_Concat(prefix, ((PyCodeObject *)inner)->co_name) : NULL;
        if (whole)
            learn((PyCodeObject *)inner, whole);
        Py_XDECREF(whole);
    }
    PyErr_Clear();
    Py_XDECREF(prefix);
}

static void learn_function(PyObject *object)
{
    if (!object || !PyFunction_Check(object))
        return;
    PyFunctionObject *function = (PyFunctionObject *)object;
    learn((PyCodeObject *)function->func_code, function->func_qualname);
    /* What a decorator has wrapped. */
    for (Py_ssize_t i = 0;
         function->func_closure && i < PyTuple_GET_SIZE(function->func_closure); i++) {
        PyObject *inner = PyCell_GET(PyTuple_GET_ITEM(function->func_closure, i));
        if (inner && PyFunction_Check(inner))
            learn((PyCodeObject *)((PyFunctionObject *)inner)->func_code,
                  ((PyFunctionObject *)inner)->func_qualname);
    }
}

/* What a descriptor of C's own has under this name. */
static void learn_held(PyObject *holder, const char *name)
{
    PyObject *held = PyObject_GetAttrString(holder, name);

    if (!held)
        PyErr_Clear();
    learn_function(held);
    Py_XDECREF(held);
}

static void learn_attribute(PyObject *value)
{
    if (Py_IS_TYPE(value, &PyStaticMethod_Type) ||
        Py_IS_TYPE(value, &PyClassMethod_Type))
        learn_held(value, "__func__");
    else if (Py_IS_TYPE(value, &PyProperty_Type)) {
        learn_held(value, "fget");
        learn_held(value, "fset");
        learn_held(value, "fdel");
    } else
        learn_function(value);
}

static void search_class(PyTypeObject *type)
{
    PyObject *name, *value;
    Py_ssize_t place = 0;

    while (type->tp_dict && PyDict_Next(type->tp_dict, &place, &name, &value)) {
        learn_attribute(value);
        if (PyType_Check(value) && value != (PyObject *)type &&
            PyType_HasFeature((PyTypeObject *)value, Py_TPFLAGS_HEAPTYPE)) {
            PyObject *key, *inner;
            Py_ssize_t at = 0;
            while (PyDict_Next(((PyTypeObject *)value)->tp_dict, &at, &key, &inner))
                learn_attribute(inner);
        }
    }
}

/* No code of the program's runs: only dicts and types of C are looked into. */
static void search_module(PyObject *globals)
{
    const void **place = &searched[(uintptr_t)globals / 64 % SEARCHED_COUNT];
    PyObject *name, *value;
    Py_ssize_t at = 0;

    if (*place == globals || !PyDict_Check(globals))
        return;
    *place = globals;
    while (PyDict_Next(globals, &at, &name, &value)) {
        if (PyType_Check(value) &&
            PyType_HasFeature((PyTypeObject *)value, Py_TPFLAGS_HEAPTYPE))
            search_class((PyTypeObject *)value);
        else
            learn_function(value);
    }
}

PyObject *cunei_qualname_find(PyCodeObject *code, PyObject *globals)
{
    if (!known(code) && globals && code->co_flags & CO_NEWLOCALS)
        search_module(globals);
    PyObject *name = Py_NewRef(known(code) ? known(code) : code->co_name);
    learn_inner(code, name);
    return name;
}

bool cunei_qualname_is(PyCodeObject *code, const char *wanted)
{
    PyObject *name = known(code) ? known(code) : code->co_name;
    return PyUnicode_CompareWithASCIIString(name, wanted) == 0;
}

#endif
