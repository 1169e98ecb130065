// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/code/qualname.h"

#include <stdint.h>

#include "probe/core/code_extra.h"

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

/*
 * Modules that were searched, by the versions of their dicts.  No two dicts have the
 * same version: neither one that has got more names since, nor another at the same
 * address.  A module that is overwritten here is searched again.
 */
#define SEARCHED_COUNT 1024u

static Py_ssize_t extra_index = -1;
static uint64_t searched[SEARCHED_COUNT];

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
    PyErr_SetString(PyExc_RuntimeError, "no co_extra index is left");
    return -1;
}

/* Borrowed; NULL: unknown. */
static PyObject *known(PyCodeObject *code)
{
    return (PyObject *)(uintptr_t)cunei_code_extra_call(code, extra_index);
}

static void learn(PyCodeObject *code, PyObject *name)
{
    if (known(code))
        return;
    /* If the code object has no co_extra yet, allocate both of our slots. */
    if (!code->co_extra)
        (void)cunei_code_extra_lay_out(code, extra_index + 1 - CUNEI_EXTRA_COUNT, 0);
    Py_INCREF(name);
    if (PyUnstable_Code_SetExtra((PyObject *)code, extra_index, name) < 0) {
        Py_DECREF(name);
        PyErr_Clear();
    }
}

/* The prefix of the qualified names of functions that this code defines. */
static PyObject *prefix_of(PyCodeObject *code, PyObject *name)
{
    if (code->co_flags & CO_NEWLOCALS)
        return PyUnicode_FromFormat("%U.<locals>.", name);
    if (PyUnicode_CompareWithASCIIString(code->co_name, "<module>") == 0)
        return PyUnicode_FromString("");
    return PyUnicode_FromFormat("%U.", name);
}

/* How deep nested functions and classes are searched. */
#define DEPTH_MAX      16

static void learn_inner(PyCodeObject *code, PyObject *name, int depth)
{
    PyObject *prefix = NULL, *constants = code->co_consts;

    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constants); i++) {
        PyCodeObject *inner = (PyCodeObject *)PyTuple_GET_ITEM(constants, i);
        if (!PyCode_Check(inner) || known(inner))
            continue;
        if (!prefix)
            prefix = prefix_of(code, name);
        PyObject *whole = prefix ? PyUnicode_Concat(prefix, inner->co_name) : NULL;
        if (whole)
            learn(inner, whole);
        if (whole && depth > 0)
            learn_inner(inner, whole, depth - 1);
        Py_XDECREF(whole);
    }
    PyErr_Clear();
    Py_XDECREF(prefix);
}

/* Whether this is the function's own name: functools.wraps copies that of another. */
static bool is_own_name(PyObject *name, PyCodeObject *code)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(name);
    Py_ssize_t dot = PyUnicode_FindChar(name, '.', 0, length, -1);
    PyObject *last = PyUnicode_Substring(name, dot + 1, length);
    bool yes = last && PyUnicode_Compare(last, code->co_name) == 0;

    Py_XDECREF(last);
    PyErr_Clear();
    return yes;
}

static void learn_function(PyObject *object)
{
    if (!object || !PyFunction_Check(object))
        return;
    PyFunctionObject *function = (PyFunctionObject *)object;
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    if (known(code) || !is_own_name(function->func_qualname, code))
        return;
    learn(code, function->func_qualname);
    learn_inner(code, function->func_qualname, DEPTH_MAX);
}

/* The function that a decorator has wrapped. */
static void learn_wrapped(PyObject *object)
{
    PyObject *closure =
        PyFunction_Check(object) ? PyFunction_GET_CLOSURE(object) : NULL;

    for (Py_ssize_t i = 0; closure && i < PyTuple_GET_SIZE(closure); i++)
        learn_function(PyCell_GET(PyTuple_GET_ITEM(closure, i)));
}

/* An attribute of a C descriptor. */
static void learn_held(PyObject *holder, const char *name)
{
    PyObject *held = PyObject_GetAttrString(holder, name);

    if (!held)
        PyErr_Clear();
    else {
        learn_function(held);
        learn_wrapped(held);
    }
    Py_XDECREF(held);
}

/* Objects with more attributes do not stand for a function. */
#define ATTRIBUTES_MAX 16

/* Attributes of functools.lru_cache, cached_property and similar classes. */
static void learn_kept(PyObject *object)
{
    PyObject **dict = _PyObject_GetDictPtr(object);
    PyObject *name, *value;
    Py_ssize_t at = 0;

    if (!dict || !*dict || PyDict_GET_SIZE(*dict) > ATTRIBUTES_MAX)
        return;
    while (PyDict_Next(*dict, &at, &name, &value))
        learn_function(value);
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
    } else if (!PyType_Check(value) && !PyModule_Check(value)) {
        learn_function(value);
        learn_wrapped(value);
        learn_kept(value);
    }
}

static bool is_class(PyObject *value)
{
    return PyType_Check(value) &&
           PyType_HasFeature((PyTypeObject *)value, Py_TPFLAGS_HEAPTYPE);
}

/* A class may have any other class as an attribute, also itself. */
static bool is_inside(PyTypeObject *inner, PyTypeObject *outer)
{
    PyObject *name = ((PyHeapTypeObject *)inner)->ht_qualname;
    PyObject *prefix = ((PyHeapTypeObject *)outer)->ht_qualname;

    return PyUnicode_GET_LENGTH(name) > PyUnicode_GET_LENGTH(prefix) &&
           PyUnicode_Tailmatch(name, prefix, 0, PY_SSIZE_T_MAX, -1) == 1;
}

static void search_class(PyTypeObject *type, int depth)
{
    PyObject *name, *value;
    Py_ssize_t place = 0;

    while (type->tp_dict && PyDict_Next(type->tp_dict, &place, &name, &value)) {
        learn_attribute(value);
        if (depth > 0 && is_class(value) && is_inside((PyTypeObject *)value, type))
            search_class((PyTypeObject *)value, depth - 1);
    }
}

/* None of the program's code runs: only dicts and C types are read. */
static void search_module(PyObject *globals)
{
    uint64_t *place = &searched[(uintptr_t)globals / 64 % SEARCHED_COUNT];
    PyObject *name, *value;
    Py_ssize_t at = 0;

    if (!PyDict_Check(globals))
        return;
    uint64_t version = ((PyDictObject *)globals)->ma_version_tag;
    if (*place == version)
        return;
    *place = version;
    while (PyDict_Next(globals, &at, &name, &value)) {
        if (is_class(value))
            search_class((PyTypeObject *)value, DEPTH_MAX);
        else
            learn_attribute(value);
    }
}

PyObject *cunei_qualname_find(PyCodeObject *code, PyObject *globals)
{
    if (!known(code) && globals && code->co_flags & CO_NEWLOCALS)
        search_module(globals);
    PyObject *name = Py_NewRef(known(code) ? known(code) : code->co_name);
    learn_inner(code, name, 0);
    return name;
}

bool cunei_qualname_is(PyCodeObject *code, const char *wanted)
{
    PyObject *name = known(code) ? known(code) : code->co_name;
    return PyUnicode_CompareWithASCIIString(name, wanted) == 0;
}

#endif
