// SPDX-License-Identifier: MIT
/*
 * Callbacks for the events of exceptions of sys.monitoring.  Each gets what a callback
 * gets: the code of the frame on top, an offset and the exception.
 *
 *     raise, reraise, handled, unwind   where all of these events come
 *     local_…   where they come from what is recorded only, and from what they come to
 *     infer_…   where only these two come, from all code
 * (probe/sources/monitoring/exception_infer.h)
 */
#ifndef CUNEI_PROBE_SOURCES_MONITORING_EXCEPTION_CALLBACKS_H
#define CUNEI_PROBE_SOURCES_MONITORING_EXCEPTION_CALLBACKS_H

#include <Python.h>

typedef void cunei_exception_callbacks_event(PyCodeObject *code, PyObject *const *args,
                                             Py_ssize_t count);

cunei_exception_callbacks_event cunei_exception_callbacks_raise,
    cunei_exception_callbacks_reraise, cunei_exception_callbacks_handled,
    cunei_exception_callbacks_unwind;
cunei_exception_callbacks_event cunei_exception_callbacks_local_handled,
    cunei_exception_callbacks_local_unwind;
cunei_exception_callbacks_event cunei_exception_callbacks_infer_handled,
    cunei_exception_callbacks_infer_unwind;

/* The exception has been thrown into the running frame, a generator's. */
void cunei_exception_callbacks_throw(PyObject *exception);

#endif
