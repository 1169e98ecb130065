// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/wayout.h"

#include <stdbool.h>

#include "probe/compat.h"
#include "probe/process.h"
#include "rt/recorder.h"

/* How C calls them, by the flags of their methods. */
typedef PyObject *fast_function(PyObject *self, PyObject *const *args,
                                Py_ssize_t count);
typedef PyObject *keyword_function(PyObject *self, PyObject *const *args,
                                   Py_ssize_t count, PyObject *names);

static keyword_function call_exit, call_execve, call_chroot;
static fast_function call_execv;

enum {
    EXIT,
    EXECV,
    EXECVE,
    CHROOT, /* out of reach of the folder that is recorded into */
    WAYS
};

static struct way {
    const char *name;
    int flags;
    PyCFunction ours;
    PyMethodDef *method; /* NULL: not found, or not watched */
    PyCFunction before;
} ways[WAYS] = {
    [EXIT] = {.name = "_exit",
              .flags = METH_FASTCALL | METH_KEYWORDS,
              .ours = (PyCFunction)(void (*)(void))call_exit},
    [EXECV] = {.name = "execv",
               .flags = METH_FASTCALL,
               .ours = (PyCFunction)(void (*)(void))call_execv},
    [EXECVE] = {.name = "execve",
                .flags = METH_FASTCALL | METH_KEYWORDS,
                .ours = (PyCFunction)(void (*)(void))call_execve},
    [CHROOT] = {.name = "chroot",
                .flags = METH_FASTCALL | METH_KEYWORDS,
                .ours = (PyCFunction)(void (*)(void))call_chroot},
};

/* Other interpreters have the same table, and are not recorded. */
static void tell(const struct way *way, PyObject *const *args)
{
    if (!way->method || PyInterpreterState_Get() != PyInterpreterState_Main())
        return;
    struct cunei_compat_error pending = cunei_compat_put_aside();
    uint32_t before = cunei_recorder_begin_event();
    cunei_process_leaves(way->before, args[0]);
    cunei_recorder_end_event(before);
    cunei_compat_put_back(&pending);
}

/* Keywords stand behind the others: the first is the first, whatever its name. */
static PyObject *go_on(const struct way *way, PyObject *self, PyObject *const *args,
                       Py_ssize_t count, PyObject *names)
{
    if (count + (names ? PyTuple_GET_SIZE(names) : 0) > 0)
        tell(way, args);
    if (way->flags & METH_KEYWORDS)
        return ((keyword_function *)(void (*)(void))way->before)(self, args, count,
                                                                 names);
    return ((fast_function *)(void (*)(void))way->before)(self, args, count);
}

static PyObject *call_exit(PyObject *self, PyObject *const *args, Py_ssize_t count,
                           PyObject *names)
{
    return go_on(&ways[EXIT], self, args, count, names);
}

static PyObject *call_execve(PyObject *self, PyObject *const *args, Py_ssize_t count,
                             PyObject *names)
{
    return go_on(&ways[EXECVE], self, args, count, names);
}

static PyObject *call_chroot(PyObject *self, PyObject *const *args, Py_ssize_t count,
                             PyObject *names)
{
    return go_on(&ways[CHROOT], self, args, count, names);
}

static PyObject *call_execv(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    return go_on(&ways[EXECV], self, args, count, NULL);
}

static void watch(struct way *way, PyObject *posix)
{
    PyObject *found = PyObject_GetAttrString(posix, way->name);
    PyMethodDef *method =
        found && PyCFunction_Check(found) ? ((PyCFunctionObject *)found)->m_ml : NULL;

    Py_XDECREF(found); /* what it points to is part of the interpreter */
    PyErr_Clear();
    if (way->method || !method || method->ml_flags != way->flags)
        return;
    way->method = method;
    way->before = method->ml_meth;
    method->ml_meth = way->ours;
}

void cunei_wayout_watch(void)
{
    PyObject *posix = PyImport_ImportModule("posix");

    for (int i = 0; posix && i < WAYS; i++)
        watch(&ways[i], posix);
    PyErr_Clear();
    Py_XDECREF(posix);
}

/* Who has found a way to do the same meanwhile goes on calling us. */
void cunei_wayout_unwatch(void)
{
    for (int i = 0; i < WAYS; i++) {
        struct way *way = &ways[i];
        if (way->method && way->method->ml_meth == way->ours)
            way->method->ml_meth = way->before;
        way->method = NULL;
    }
}
