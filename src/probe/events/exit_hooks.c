// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/exit_hooks.h"

#include <stdbool.h>

#include "probe/core/cold_event.h"
#include "probe/core/compat.h"
#include "probe/events/process.h"
#include "rt/recorder.h"

/* With os.chroot the folder that is recorded into is out of reach. */
static const char *const names[] = {"_exit", "execv", "execve", "chroot"};

enum {
    WAYS = sizeof(names) / sizeof(*names)
};

/* What was in their slots before.  It is kept: a thread may just be in `call`. */
static struct way {
    PyCFunctionObject *function; /* owned; NULL: none was found so far */
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
static void tell(PyObject *function, PyObject *argument)
{
    if (PyInterpreterState_Get() != PyInterpreterState_Main())
        return;
    struct cunei_cold_event event = cunei_cold_event_begin();
    cunei_process_leaves(PyCFunction_GET_FUNCTION(function), argument);
    cunei_cold_event_end(&event);
}

/*
 * Keywords stand behind the others: the first is the first, whatever its name.  That
 * of execve may be no path then, and none is told.
 */
static PyObject *call(PyObject *function, PyObject *const *args, size_t count,
                      PyObject *keywords)
{
    vectorcallfunc before = find_way(function)->before;

    if (PyVectorcall_NARGS(count) + (keywords ? PyTuple_GET_SIZE(keywords) : 0) > 0)
        tell(function, args[0]);
    return before(function, args, count, keywords);
}

/*
 * A call that is specialized goes to the function in the method, not to the slot.  None
 * is where the flags are of no kind that has a special form; nor do others who look for
 * one find it.
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

void cunei_exit_hooks_watch(void)
{
    PyObject *modules = cunei_compat_sys("modules");
    PyObject *posix = modules && PyDict_Check(modules)
                          ? cunei_compat_dict_get(modules, "posix")
                          : NULL;

    /* An import would run an __import__ of the program's. */
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

void cunei_exit_hooks_unwatch(void)
{
    for (int i = 0; i < WAYS; i++) {
        PyCFunctionObject *function = ways[i].function;
        if (!function || function->vectorcall != call)
            continue;
        function->vectorcall = ways[i].before;
        function->m_ml = ways[i].method;
    }
}
