// SPDX-License-Identifier: MIT
/*
 * Tool ids of sys.monitoring, and its functions that take one.  A function that fails
 * returns -1 with an exception set, unless its comment says otherwise.
 */
#ifndef CUNEI_PROBE_SOURCES_MONITORING_TOOL_ID_H
#define CUNEI_PROBE_SOURCES_MONITORING_TOOL_ID_H

#include <Python.h>

#define CUNEI_TOOL_COUNT 6

/* Whether no tool uses the id. */
int cunei_tool_id_is_free(PyObject *monitoring, int tool);

/* A free id, taken; -1 without an exception: there is none, -2 with one. */
int cunei_tool_id_take(PyObject *monitoring);
int cunei_tool_id_free(PyObject *monitoring, int tool);

int cunei_tool_id_set_callback(PyObject *monitoring, int tool, long event,
                               PyObject *callback);
int cunei_tool_id_set_events(PyObject *monitoring, int tool, long events);

/* The events of a single code object; errors are ignored, as some code has none. */
void cunei_tool_id_set_local_events(PyObject *monitoring, int tool, PyCodeObject *code,
                                    long events);
long cunei_tool_id_local_events(PyObject *monitoring, int tool, PyCodeObject *code);

/* Undo every DISABLE of every tool. */
int cunei_tool_id_restart_events(PyObject *monitoring);

#endif
