// SPDX-License-Identifier: MIT
/*
 * sys.monitoring as a source of events: tool ids, events and callbacks.
 *
 * Without a selection, global events on one tool id.  With one: discovery (global
 * PY_START and PY_RESUME, each switched off where it has been seen) on one id, local
 * events on another for what is selected.  If only one id is free, PY_START and
 * PY_RESUME on it do the discovery, too.  A narrow one discovers nothing: it has local
 * events of what it is told to select, and those of exceptions.
 */
#ifndef CUNEI_PROBE_SOURCES_MONITORING_MONITORING_H
#define CUNEI_PROBE_SOURCES_MONITORING_MONITORING_H

#include <Python.h>

#include <stdbool.h>

#include "probe/core/source.h"
#include "probe/sources/monitoring/callback.h"

enum cunei_monitoring_event {
    /* Local ones: they can be set for a code object alone. */
    CUNEI_MONITOR_START,
    CUNEI_MONITOR_RESUME,
    CUNEI_MONITOR_RETURN,
    CUNEI_MONITOR_YIELD,
    /* Before 3.15 these are on for all code, or for none. */
    CUNEI_MONITOR_THROW,
    CUNEI_MONITOR_UNWIND,
    CUNEI_MONITOR_RAISE,
    CUNEI_MONITOR_RERAISE,
    CUNEI_MONITOR_HANDLED,
    /* Only where they are asked for; the others cannot be had without the first. */
    CUNEI_MONITOR_CALL,
    CUNEI_MONITOR_C_RETURN,
    CUNEI_MONITOR_C_RAISE,
    CUNEI_MONITOR_LINE,
    CUNEI_MONITOR_INSTRUCTION, /* in place of it, where it is slow */
    CUNEI_MONITOR_EVENTS,
};

#define CUNEI_MONITOR_LOCAL_LAST  CUNEI_MONITOR_YIELD
#define CUNEI_MONITOR_ALWAYS_LAST CUNEI_MONITOR_HANDLED

struct cunei_monitoring {
    struct cunei_source source;
    PyObject *module; /* sys.monitoring */
    PyObject *disable;
    PyObject *missing;
    PyObject *callbacks[CUNEI_CALLBACK_KINDS];
    long events[CUNEI_MONITOR_EVENTS]; /* their bits in this Python */
    int tool;                          /* -1: none */
    int discovery;                     /* -1: none */
    bool selects;                      /* not all functions are recorded */
    bool unwinds, handles;             /* PY_UNWIND, EXCEPTION_HANDLED are on */
};

/* Look up the numbers, make the callbacks; -1 with an exception set. */
int cunei_monitoring_init(struct cunei_monitoring *monitor, PyObject *module,
                          PyTypeObject *type,
                          const struct cunei_callback_shared *shared);

int cunei_monitoring_traverse(struct cunei_monitoring *monitor, visitproc visit,
                              void *arg);
void cunei_monitoring_clear(struct cunei_monitoring *monitor);

#endif
