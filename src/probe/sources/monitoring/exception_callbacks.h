// SPDX-License-Identifier: MIT
/*
 * What is recorded for the events of exceptions of sys.monitoring, besides
 * probe/events/exception.h:
 *
 *     raise, unwind   where the events of all code come
 *     local_…   where they come from what is recorded only, and from what they come to
 *     infer_…   where only these two come, from all code
 * (probe/sources/monitoring/exception_infer.h)
 */
#ifndef CUNEI_PROBE_SOURCES_MONITORING_EXCEPTION_CALLBACKS_H
#define CUNEI_PROBE_SOURCES_MONITORING_EXCEPTION_CALLBACKS_H

#include "probe/events/exception.h"

cunei_exception_event cunei_exception_callbacks_raise;
cunei_exception_event cunei_exception_callbacks_unwind;
cunei_exception_event cunei_exception_callbacks_local_handled;
cunei_exception_event cunei_exception_callbacks_local_unwind;
cunei_exception_event cunei_exception_callbacks_infer_handled;
cunei_exception_event cunei_exception_callbacks_infer_unwind;

/* The exception has been thrown into the running frame, a generator's. */
void cunei_exception_callbacks_throw(PyObject *exception);

#endif
