// SPDX-License-Identifier: MIT
/*
 * The state of sys.monitoring as a source of events: its tool ids, which events they
 * have, and sets of them as sys.monitoring wants them, one bit for each event.
 */
#ifndef CUNEI_PROBE_SOURCES_MONITORING_MONITORING_STATE_H
#define CUNEI_PROBE_SOURCES_MONITORING_MONITORING_STATE_H

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
    /* Only where they are asked for; the two others need the first. */
    CUNEI_MONITOR_CALL,
    CUNEI_MONITOR_C_RETURN,
    CUNEI_MONITOR_C_RAISE,
    CUNEI_MONITOR_LINE,
    CUNEI_MONITOR_INSTRUCTION, /* in place of LINE, where that is slow */
    CUNEI_MONITOR_EVENTS,
};

#define CUNEI_MONITOR_LOCAL_LAST  CUNEI_MONITOR_YIELD
#define CUNEI_MONITOR_ALWAYS_LAST CUNEI_MONITOR_HANDLED

struct cunei_monitoring {
    struct cunei_source source;
    PyObject *module; /* sys.monitoring */
    PyTypeObject *callback_type;
    PyObject *disable;
    PyObject *missing;
    PyObject *callbacks[CUNEI_CALLBACK_KINDS];
    long events[CUNEI_MONITOR_EVENTS]; /* their bits in this Python */
    int tool;                          /* -1: none */
    int discovery;                     /* -1: none */
    bool selects;                      /* not all functions are recorded */
    bool unwinds, handles;             /* PY_UNWIND, EXCEPTION_HANDLED are on */
    bool is_exiting; /* the process is: nothing else will use a tool id */
};

static inline struct cunei_monitoring *cunei_monitoring_of(struct cunei_source *source)
{
    return (struct cunei_monitoring *)source;
}

/* Look the bits of the events up; -1 with an exception set. */
int cunei_monitoring_find_events(struct cunei_monitoring *monitor);

/* The events from `first` to `last`. */
long cunei_monitoring_events(const struct cunei_monitoring *monitor, int first,
                             int last);

/* Those of C functions, if they are recorded. */
long cunei_monitoring_c_events(const struct cunei_monitoring *monitor);

/* Those of exceptions, where they can be set for single code objects. */
long cunei_monitoring_local_exceptions(const struct cunei_monitoring *monitor);

/* The global events of the tool id where all functions are recorded, … */
long cunei_monitoring_all_events(const struct cunei_monitoring *monitor);

/* … and where some are selected. */
long cunei_monitoring_global_events(const struct cunei_monitoring *monitor);

#endif
