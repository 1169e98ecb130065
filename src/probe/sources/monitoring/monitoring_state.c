// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/monitoring/monitoring_state.h"

#include "probe/sources/monitoring/exception_infer.h"

static const char *const names[CUNEI_MONITOR_EVENTS] = {
    [CUNEI_MONITOR_START] = "PY_START",
    [CUNEI_MONITOR_RESUME] = "PY_RESUME",
    [CUNEI_MONITOR_RETURN] = "PY_RETURN",
    [CUNEI_MONITOR_YIELD] = "PY_YIELD",
    [CUNEI_MONITOR_THROW] = "PY_THROW",
    [CUNEI_MONITOR_UNWIND] = "PY_UNWIND",
    [CUNEI_MONITOR_RAISE] = "RAISE",
    [CUNEI_MONITOR_RERAISE] = "RERAISE",
    [CUNEI_MONITOR_HANDLED] = "EXCEPTION_HANDLED",
    [CUNEI_MONITOR_CALL] = "CALL",
    [CUNEI_MONITOR_C_RETURN] = "C_RETURN",
    [CUNEI_MONITOR_C_RAISE] = "C_RAISE",
    [CUNEI_MONITOR_LINE] = "LINE",
    [CUNEI_MONITOR_INSTRUCTION] = "INSTRUCTION",
};

int cunei_monitoring_find_events(struct cunei_monitoring *monitor)
{
    PyObject *events = PyObject_GetAttrString(monitor->module, "events");
    if (!events)
        return -1;
    for (int i = 0; i < CUNEI_MONITOR_EVENTS; i++) {
        PyObject *number = PyObject_GetAttrString(events, names[i]);
        monitor->events[i] = number ? PyLong_AsLong(number) : -1;
        Py_XDECREF(number);
    }
    Py_DECREF(events);
    return PyErr_Occurred() ? -1 : 0;
}

long cunei_monitoring_events(const struct cunei_monitoring *monitor, int first,
                             int last)
{
    long events = 0;

    for (int i = first; i <= last; i++)
        events |= monitor->events[i];
    return events;
}

long cunei_monitoring_c_events(const struct cunei_monitoring *monitor)
{
    return monitor->source.config.c_calls
               ? cunei_monitoring_events(monitor, CUNEI_MONITOR_CALL,
                                         CUNEI_MONITOR_C_RAISE)
               : 0;
}

/* Whether one tool id both discovers code and records it. */
static bool discovers_itself(const struct cunei_monitoring *monitor)
{
    return monitor->discovery < 0 && !monitor->source.config.only_decorated;
}

/*
 * PY_THROW may be how a suspended generator is discovered.  The events of exceptions
 * are global before 3.15, and cost time in all code whenever an exception propagates:
 * they are off until they are needed, and RAISE and RERAISE always are
 * (probe/sources/monitoring/exception_infer.h).
 */
long cunei_monitoring_global_events(const struct cunei_monitoring *monitor)
{
    long events = monitor->events[CUNEI_MONITOR_THROW];

    if (monitor->unwinds)
        events |= monitor->events[CUNEI_MONITOR_UNWIND];
    if (monitor->handles)
        events |= monitor->events[CUNEI_MONITOR_HANDLED];
    if (discovers_itself(monitor))
        events |=
            cunei_monitoring_events(monitor, CUNEI_MONITOR_START, CUNEI_MONITOR_RESUME);
    return events;
}

long cunei_monitoring_all_events(const struct cunei_monitoring *monitor)
{
    long inferred = monitor->selects && !CUNEI_EXCEPTION_INFER_IS_LOCAL
                        ? cunei_monitoring_events(monitor, CUNEI_MONITOR_RAISE,
                                                  CUNEI_MONITOR_RERAISE)
                        : 0;

    return cunei_monitoring_events(monitor, CUNEI_MONITOR_START,
                                   CUNEI_MONITOR_ALWAYS_LAST) &
           ~inferred;
}

long cunei_monitoring_local_exceptions(const struct cunei_monitoring *monitor)
{
    return CUNEI_EXCEPTION_INFER_IS_LOCAL
               ? cunei_monitoring_events(monitor, CUNEI_MONITOR_UNWIND,
                                         CUNEI_MONITOR_HANDLED)
               : 0;
}
