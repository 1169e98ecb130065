// SPDX-License-Identifier: MIT
/*
 * Tool ids of sys.monitoring, and its functions that take one.  What fails returns -1
 * with an exception set, unless something else is said.
 */
#ifndef CUNEI_PROBE_SOURCES_MONITORING_TOOL_ID_H
#define CUNEI_PROBE_SOURCES_MONITORING_TOOL_ID_H

#include <Python.h>

#define CUNEI_TOOL_COUNT 6

/* Whether nobody uses the id. */
int cunei_tool_id_is_free(PyObject *monitoring, int tool);

/* A free id, taken; -1 without an exception: there is none, -2 with one. */
int cunei_tool_id_take(PyObject *monitoring);
int cunei_tool_id_free(PyObject *monitoring, int tool);

int cunei_tool_id_set_callback(PyObject *monitoring, int tool, long event,
                               PyObject *callback);
int cunei_tool_id_set_events(PyObject *monitoring, int tool, long events);

/* The events of a code object alone; some cannot be had for some code, in silence. */
void cunei_tool_id_set_local_events(PyObject *monitoring, int tool, PyCodeObject *code,
                                    long events);
long cunei_tool_id_local_events(PyObject *monitoring, int tool, PyCodeObject *code);

/* What callbacks of any tool have switched off is on again. */
int cunei_tool_id_restart_events(PyObject *monitoring);

#endif
