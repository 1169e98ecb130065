// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/newthread.h"

#include <stdbool.h>
#include <stddef.h>

#include "probe/compat.h"
#include "probe/hookframe.h"

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
    PyMethodDef *method; /* NULL: not found, or not watched */
    PyCFunction before;
} ways[WAYS] = {
    [PLAIN] = {.name = "start_new_thread", .flags = METH_VARARGS, .ours = start_plain},
    [OLD] = {.name = "start_new", .flags = METH_VARARGS, .ours = start_old},
    [JOINABLE] = {.name = "start_joinable_thread",
                  .flags = METH_VARARGS | METH_KEYWORDS,
                  .ours = (PyCFunction)(void (*)(void))start_joinable},
};

static PyTypeObject *type;               /* borrowed: the module keeps it */
static void (*_Atomic when_begun)(void); /* NULL: nobody wants to know */
static void (*_Atomic when_ended)(void);

/* What a thread calls in place of its function. */
struct beginning {
    PyObject_HEAD PyObject *function; /* owned */
};

/* What ends a thread's function is told as CPython does, of the function itself. */
static PyObject *tell_unraisable(PyObject *function)
{
    if (PyErr_ExceptionMatches(PyExc_SystemExit))
        return NULL; /* which is no error here */
    cunei_hookframe_tell_unraisable(function);
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
    return result ? result : tell_unraisable(function);
}

static PyObject *beginning_repr(PyObject *self)
{
    return PyObject_Repr(((struct beginning *)self)->function);
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
    {Py_tp_dealloc, beginning_dealloc},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "cunei._probe.Beginning",
    .basicsize = sizeof(struct beginning),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

PyTypeObject *cunei_newthread_type(PyObject *module)
{
    type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return type;
}

/*
 * The arguments with the function in its wrapper, a new reference.  What is no function
 * is left to who complains about it, and other interpreters are not recorded.
 */
static PyObject *wrap(PyObject *args)
{
    if (!when_begun || PyTuple_GET_SIZE(args) == 0 ||
        !PyCallable_Check(PyTuple_GET_ITEM(args, 0)) ||
        PyInterpreterState_Get() != PyInterpreterState_Main())
        return Py_NewRef(args);
    struct beginning *beginning = PyObject_New(struct beginning, type);
    if (!beginning)
        return NULL;
    beginning->function = Py_NewRef(PyTuple_GET_ITEM(args, 0));
    PyObject *wrapped = PyTuple_New(PyTuple_GET_SIZE(args));
    for (Py_ssize_t i = 1; wrapped && i < PyTuple_GET_SIZE(args); i++)
        PyTuple_SET_ITEM(wrapped, i, Py_NewRef(PyTuple_GET_ITEM(args, i)));
    if (wrapped)
        PyTuple_SET_ITEM(wrapped, 0, (PyObject *)beginning);
    else
        Py_DECREF(beginning);
    return wrapped;
}

static PyObject *start(const struct way *way, PyObject *self, PyObject *args,
                       PyObject *names)
{
    PyObject *result = NULL, *wrapped = wrap(args);

    if (wrapped && way->flags & METH_KEYWORDS)
        result = ((PyCFunctionWithKeywords)(void (*)(void))way->before)(self, wrapped,
                                                                        names);
    else if (wrapped)
        result = way->before(self, wrapped);
    Py_XDECREF(wrapped);
    return result;
}

static PyObject *start_plain(PyObject *self, PyObject *args)
{
    return start(&ways[PLAIN], self, args, NULL);
}

static PyObject *start_old(PyObject *self, PyObject *args)
{
    return start(&ways[OLD], self, args, NULL);
}

static PyObject *start_joinable(PyObject *self, PyObject *args, PyObject *names)
{
    return start(&ways[JOINABLE], self, args, names);
}

static void watch(struct way *way, PyObject *module)
{
    PyObject *found = PyObject_GetAttrString(module, way->name);
    PyMethodDef *method =
        found && PyCFunction_Check(found) ? ((PyCFunctionObject *)found)->m_ml : NULL;

    Py_XDECREF(found); /* what it points to is part of the interpreter */
    PyErr_Clear();
    if (way->method || !method || method->ml_flags != way->flags)
        return;
    way->method = method;
    if (method->ml_meth != way->ours) {
        way->before = method->ml_meth;
        method->ml_meth = way->ours;
    }
}

int cunei_newthread_watch(void (*begins)(void), void (*ends)(void))
{
    PyObject *module = PyImport_ImportModule("_thread");

    if (!module)
        return -1;
    when_ended = ends;
    when_begun = begins;
    for (int i = 0; i < WAYS; i++)
        watch(&ways[i], module);
    Py_DECREF(module);
    return 0;
}

/* Who has found a way to do the same meanwhile goes on calling us. */
void cunei_newthread_unwatch(void)
{
    when_begun = when_ended = NULL;
    for (int i = 0; i < WAYS; i++) {
        struct way *way = &ways[i];
        if (way->method && way->method->ml_meth == way->ours)
            way->method->ml_meth = way->before;
        way->method = NULL;
    }
}
