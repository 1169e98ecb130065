// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/process_exit_hooks.h"

#include <stdbool.h>

#include "probe/core/cold_event.h"
#include "probe/core/compat.h"
#include "probe/events/process.h"
#include "rt/recorder.h"

/* After os.chroot the folder of the recording is out of reach. */
static const char *const names[] = {"_exit", "execv", "execve", "chroot"};

enum {
    WAYS = sizeof(names) / sizeof(*names)
};

/* The slots as they were.  They stay: a thread may be inside `call`. */
static struct way {
    PyCFunctionObject *function; /* owned; NULL: not found yet */
    vectorcallfunc before;
    PyMethodDef *method;
    PyMethodDef unspecialized;
} ways[WAYS];

static struct way *find_way(PyObject *function)
{
    for (int i = 0; i < WAYS; i++) {
        if ((PyObject *)ways[i].function == function)
            return &ways[i];
    }
    return NULL;
}

/* Other interpreters may have the same functions, and are not recorded. */
static void report_call(PyObject *function, PyObject *argument)
{
    if (PyInterpreterState_Get() != PyInterpreterState_Main())
        return;
    struct cunei_cold_event event = cunei_cold_event_begin();
    cunei_process_leaves(PyCFunction_GET_FUNCTION(function), argument);
    cunei_cold_event_end(&event);
}

/*
 * Keywords follow the positional arguments: the first value is the first, whatever its
 * name.  With execve it may not be a path, and none is recorded.
 */
static PyObject *call(PyObject *function, PyObject *const *args, size_t count,
                      PyObject *keywords)
{
    vectorcallfunc before = find_way(function)->before;

    if (PyVectorcall_NARGS(count) + (keywords ? PyTuple_GET_SIZE(keywords) : 0) > 0)
        report_call(function, args[0]);
    return before(function, args, count, keywords);
}

/*
 * A specialized call uses the function in the method, not the slot.  It is not
 * specialized if the flags are of a kind without a specialized form.
 */
static void prevent_specialization(struct way *way)
{
    way->unspecialized = *way->method;
    way->unspecialized.ml_flags = METH_KEYWORDS;
    way->function->m_ml = &way->unspecialized;
}

static void watch(struct way *way, PyObject *function)
{
    PyCFunctionObject *builtin = (PyCFunctionObject *)function;

    if (!PyCFunction_Check(function) || !builtin->vectorcall ||
        builtin->vectorcall == call || (way->function && way->function != builtin))
        return;
    if (!way->function) {
        way->function = (PyCFunctionObject *)Py_NewRef(function);
        way->method = builtin->m_ml;
    }
    way->before = builtin->vectorcall;
    builtin->vectorcall = call;
    if (PY_VERSION_HEX >= 0x030b0000)
        prevent_specialization(way);
}

void cunei_process_exit_hooks_watch(void)
{
    PyObject *modules = cunei_compat_sys("modules");
    PyObject *posix = modules && PyDict_Check(modules)
                          ? cunei_compat_dict_get(modules, "posix")
                          : NULL;

    /* An import would run the program's __import__. */
    for (int i = 0; posix && PyModule_Check(posix) && i < WAYS; i++) {
        PyObject *function = cunei_compat_dict_get(PyModule_GetDict(posix), names[i]);
        if (function)
            watch(&ways[i], function);
        Py_XDECREF(function);
    }
    PyErr_Clear();
    Py_XDECREF(posix);
    Py_XDECREF(modules);
}

void cunei_process_exit_hooks_unwatch(void)
{
    for (int i = 0; i < WAYS; i++) {
        PyCFunctionObject *function = ways[i].function;
        if (!function || function->vectorcall != call)
            continue;
        function->vectorcall = ways[i].before;
        function->m_ml = ways[i].method;
    }
}
