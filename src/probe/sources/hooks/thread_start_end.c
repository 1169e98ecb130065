// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/hooks/thread_start_end.h"

#include <stdbool.h>
#include <stddef.h>

#include "probe/core/arg_parse.h"
#include "probe/core/compat.h"
#include "probe/core/sealed_type.h"
#include "probe/sources/hooks/hook_frame.h"

static PyObject *start_plain(PyObject *self, PyObject *args);
static PyObject *start_old(PyObject *self, PyObject *args);
static PyObject *start_joinable(PyObject *self, PyObject *args, PyObject *names);

enum {
    PLAIN,
    OLD,      /* its other name */
    JOINABLE, /* from 3.13 on */
    WAYS
};

/* `before` stays: a thread may just be in `ours`. */
static struct way {
    const char *name;
    int flags;
    PyCFunction ours;
    PyMethodDef *method; /* NULL: not found */
    PyCFunction before;
} ways[WAYS] = {
    [PLAIN] = {.name = "start_new_thread", .flags = METH_VARARGS, .ours = start_plain},
    [OLD] = {.name = "start_new", .flags = METH_VARARGS, .ours = start_old},
    [JOINABLE] = {.name = "start_joinable_thread",
                  .flags = METH_VARARGS | METH_KEYWORDS,
                  .ours = CUNEI_METHOD(start_joinable)},
};

static PyTypeObject *type;               /* borrowed: the module keeps it */
static void (*_Atomic when_begun)(void); /* NULL: not watched */
static void (*_Atomic when_ended)(void);

/* What a thread calls in place of its function. */
struct beginning {
    PyObject_HEAD PyObject *function; /* owned */
};

/* Report an exception that ends a thread's function as CPython does. */
static PyObject *report_unraisable(PyObject *function)
{
    if (PyErr_ExceptionMatches(PyExc_SystemExit))
        return NULL; /* which is no error here */
    cunei_hook_frame_print_unraisable(function);
    Py_RETURN_NONE;
}

static PyObject *beginning_call(PyObject *self, PyObject *args, PyObject *names)
{
    PyObject *function = ((struct beginning *)self)->function;
    void (*begins)(void) = when_begun, (*ends)(void) = when_ended;

    if (begins)
        begins();
    PyObject *result = PyObject_Call(function, args, names);
    if (ends) {
        struct cunei_compat_error error = cunei_compat_put_aside();
        ends();
        cunei_compat_put_back(&error);
    }
    return result ? result : report_unraisable(function);
}

static PyObject *beginning_repr(PyObject *self)
{
    return PyObject_Repr(((struct beginning *)self)->function);
}

/* Audit hooks see this object; it has the attributes of the function. */
static PyObject *beginning_getattro(PyObject *self, PyObject *name)
{
    return PyObject_GetAttr(((struct beginning *)self)->function, name);
}

static void beginning_dealloc(PyObject *self)
{
    PyTypeObject *own = Py_TYPE(self);

    Py_XDECREF(((struct beginning *)self)->function);
    PyObject_Free(self);
    Py_DECREF(own);
}

static PyType_Slot slots[] = {
    {Py_tp_call, beginning_call},
    {Py_tp_repr, beginning_repr},
    {Py_tp_getattro, beginning_getattro},
    {Py_tp_dealloc, beginning_dealloc},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "cunei._probe.Beginning",
    .basicsize = sizeof(struct beginning),
    .flags = CUNEI_SEALED_TYPE_FLAGS,
    .slots = slots,
};

/*
 * Whether it is to be wrapped.  Objects that are not callable are passed on unchanged:
 * CPython raises the TypeError, and other interpreters are not recorded.
 */
static bool is_function(PyObject *object)
{
    return when_begun && object && PyCallable_Check(object) &&
           PyInterpreterState_Get() == PyInterpreterState_Main();
}

/* The function in its wrapper, a new reference. */
static PyObject *wrap(PyObject *function)
{
    struct beginning *beginning = PyObject_New(struct beginning, type);

    if (beginning)
        beginning->function = Py_NewRef(function);
    return (PyObject *)beginning;
}

/* The arguments with a wrapper in place of the first, a new reference. */
static PyObject *wrap_first(PyObject *args)
{
    PyObject *first = PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, 0) : NULL;

    if (!is_function(first))
        return Py_NewRef(args);
    PyObject *wrapper = wrap(first);
    PyObject *wrapped = wrapper ? PyTuple_New(PyTuple_GET_SIZE(args)) : NULL;
    if (!wrapped) {
        Py_XDECREF(wrapper);
        return NULL;
    }
    PyTuple_SET_ITEM(wrapped, 0, wrapper);
    for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(args); i++)
        PyTuple_SET_ITEM(wrapped, i, Py_NewRef(PyTuple_GET_ITEM(args, i)));
    return wrapped;
}

/* The same for those that have names. */
static PyObject *wrap_named(PyObject *names)
{
    PyObject *function = cunei_compat_dict_get(names, "function");
    PyObject *wrapped = NULL;

    if (is_function(function)) {
        PyObject *wrapper = wrap(function);
        wrapped = wrapper ? PyDict_Copy(names) : NULL;
        if (wrapped && PyDict_SetItemString(wrapped, "function", wrapper) < 0)
            Py_CLEAR(wrapped);
        Py_XDECREF(wrapper);
    } else
        wrapped = Py_NewRef(names);
    Py_XDECREF(function);
    return wrapped;
}

static PyObject *start(const struct way *way, PyObject *self, PyObject *args)
{
    PyObject *wrapped = wrap_first(args);
    PyObject *result = wrapped ? way->before(self, wrapped) : NULL;

    Py_XDECREF(wrapped);
    return result;
}

static PyObject *start_plain(PyObject *self, PyObject *args)
{
    return start(&ways[PLAIN], self, args);
}

static PyObject *start_old(PyObject *self, PyObject *args)
{
    return start(&ways[OLD], self, args);
}

static PyObject *start_joinable(PyObject *self, PyObject *args, PyObject *names)
{
    PyCFunctionWithKeywords before =
        (PyCFunctionWithKeywords)(void (*)(void))ways[JOINABLE].before;
    PyObject *wrapped = wrap_first(args), *result = NULL;
    PyObject *wrapped_names = wrapped && names ? wrap_named(names) : NULL;

    if (wrapped && (wrapped_names || !names))
        result = before(self, wrapped, wrapped_names);
    Py_XDECREF(wrapped);
    Py_XDECREF(wrapped_names);
    return result;
}

/* What it points to is part of the interpreter, and stays. */
static PyMethodDef *find(const struct way *way, PyObject *module)
{
    PyObject *found = cunei_compat_dict_get(PyModule_GetDict(module), way->name);
    PyMethodDef *method =
        found && PyCFunction_Check(found) ? ((PyCFunctionObject *)found)->m_ml : NULL;

    Py_XDECREF(found);
    return method && method->ml_flags == way->flags ? method : NULL;
}

/* An import would run an __import__ of the program's. */
static void find_all(void)
{
    PyObject *modules = cunei_compat_sys("modules");
    PyObject *module = modules && PyDict_Check(modules)
                           ? cunei_compat_dict_get(modules, "_thread")
                           : NULL;

    for (int i = 0; module && PyModule_Check(module) && i < WAYS; i++) {
        if (!ways[i].method)
            ways[i].method = find(&ways[i], module);
    }
    PyErr_Clear();
    Py_XDECREF(module);
    Py_XDECREF(modules);
}

PyTypeObject *cunei_thread_start_type(PyObject *module)
{
    find_all(); /* before another tool changes them */
    type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return type;
}

void cunei_thread_start_watch(void (*begins)(void), void (*ends)(void))
{
    find_all();
    when_ended = ends;
    when_begun = begins;
    for (int i = 0; i < WAYS; i++) {
        struct way *way = &ways[i];
        if (way->method && way->method->ml_meth != way->ours) {
            way->before = way->method->ml_meth;
            way->method->ml_meth = way->ours;
        }
    }
}

/* A tool that has replaced the same entries meanwhile still calls us. */
void cunei_thread_start_unwatch(void)
{
    when_begun = when_ended = NULL;
    for (int i = 0; i < WAYS; i++) {
        struct way *way = &ways[i];
        if (way->method && way->method->ml_meth == way->ours)
            way->method->ml_meth = way->before;
    }
}
