// SPDX-License-Identifier: MIT
/*
 * What is done with the events of exceptions that sys.monitoring tells of.  Each gets
 * what a callback got: the code of the frame on top, an offset and the exception.
 *
 *     raise, reraise, handled, unwind   where all of these events come
 *     local_…   where they come from what is recorded only, and from what they come to
 *     infer_…   where only these two come, from all code (probe/infer.h)
 */
#ifndef CUNEI_PROBE_RAISING_H
#define CUNEI_PROBE_RAISING_H

#include <Python.h>

typedef void cunei_raising_event(PyCodeObject *code, PyObject *const *args,
                                 Py_ssize_t count);

cunei_raising_event cunei_raising_raise, cunei_raising_reraise, cunei_raising_handled,
    cunei_raising_unwind;
cunei_raising_event cunei_raising_local_handled, cunei_raising_local_unwind;
cunei_raising_event cunei_raising_infer_handled, cunei_raising_infer_unwind;

#endif
