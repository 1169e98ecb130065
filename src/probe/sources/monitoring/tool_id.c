// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/monitoring/tool_id.h"

/* Debugger, coverage and profiler expect to find 0, 1 and 2 free. */
static const int ids[] = {4, 3, 5};

/* Call a function of sys.monitoring for its effect. */
static int call(PyObject *monitoring, const char *name, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    PyObject *args = Py_VaBuildValue(format, values);
    va_end(values);
    PyObject *function = PyObject_GetAttrString(monitoring, name);
    PyObject *result = args && function ? PyObject_CallObject(function, args) : NULL;
    Py_XDECREF(args);
    Py_XDECREF(function);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

int cunei_tool_id_is_free(PyObject *monitoring, int tool)
{
    PyObject *owner = PyObject_CallMethod(monitoring, "get_tool", "i", tool);
    if (!owner)
        return -1;
    int free = Py_IsNone(owner);
    Py_DECREF(owner);
    return free;
}

int cunei_tool_id_take(PyObject *monitoring)
{
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        int free = cunei_tool_id_is_free(monitoring, ids[i]);
        if (free < 0)
            return -2;
        if (free)
            return call(monitoring, "use_tool_id", "(is)", ids[i], "cunei") < 0
                       ? -2
                       : ids[i];
    }
    return -1;
}

int cunei_tool_id_free(PyObject *monitoring, int tool)
{
    return call(monitoring, "free_tool_id", "(i)", tool);
}

int cunei_tool_id_set_callback(PyObject *monitoring, int tool, long event,
                               PyObject *callback)
{
    return call(monitoring, "register_callback", "(ilO)", tool, event, callback);
}

int cunei_tool_id_set_events(PyObject *monitoring, int tool, long events)
{
    return call(monitoring, "set_events", "(il)", tool, events);
}

/* Some code cannot be instrumented, such as Cython's stand-ins. */
void cunei_tool_id_set_local_events(PyObject *monitoring, int tool, PyCodeObject *code,
                                    long events)
{
    if (call(monitoring, "set_local_events", "(iOl)", tool, code, events) < 0)
        PyErr_Clear();
}

long cunei_tool_id_local_events(PyObject *monitoring, int tool, PyCodeObject *code)
{
    PyObject *events =
        PyObject_CallMethod(monitoring, "get_local_events", "iO", tool, code);
    long known = events ? PyLong_AsLong(events) : 0;

    PyErr_Clear();
    Py_XDECREF(events);
    return known > 0 ? known : 0;
}

int cunei_tool_id_restart_events(PyObject *monitoring)
{
    return call(monitoring, "restart_events", "()");
}
