// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/monitoring/exception_callbacks.h"

#include <stdbool.h>

#include "probe/code/code_tag.h"
#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/events/function_event.h"
#include "probe/sources/monitoring/exception_infer.h"

/* The last exception that was thrown into a generator, and its frame; only compared. */
static _Thread_local struct {
    const void *frame;
    const void *exception;
} thrown;

void cunei_exception_callbacks_throw(PyObject *exception)
{
    thrown.frame = cunei_frame_running(PyThreadState_Get());
    thrown.exception = exception;
}

/* The frame is in the traceback, so its call counts, as it does before 3.13. */
static void write_missed_event(PyCodeObject *code, PyObject *offset,
                               PyObject *exception)
{
    enum cunei_phase phase;
    bool is_thrown = thrown.exception == exception &&
                     thrown.frame == cunei_frame_running(PyThreadState_Get());

    if (is_thrown || !PyLong_CheckExact(offset) ||
        !cunei_frame_is_before_event(code, cunei_compat_small(offset), &phase))
        return;
    uint64_t tag = cunei_function_event_tag(code);
    if (tag && !(tag & CUNEI_CODE_OFF))
        cunei_function_event_write(code, tag, phase, NULL);
}

void cunei_exception_callbacks_raise(PyCodeObject *code, PyObject *offset,
                                     PyObject *exception)
{
    write_missed_event(code, offset, exception);
    cunei_exception_raised(code, offset, exception);
}

void cunei_exception_callbacks_unwind(PyCodeObject *code, PyObject *offset,
                                      PyObject *exception)
{
    cunei_function_event_unwind(code, cunei_function_event_tag(code),
                                Py_TYPE(exception), offset, exception);
}

/* The caller may raise the exception again: `with`, where this is an __exit__. */
void cunei_exception_callbacks_local_handled(PyCodeObject *code, PyObject *offset,
                                             PyObject *exception)
{
    cunei_exception_handled(code, offset, exception);
    cunei_exception_infer_handled();
}

/* The exception may propagate to code that is left out. */
void cunei_exception_callbacks_local_unwind(PyCodeObject *code, PyObject *offset,
                                            PyObject *exception)
{
    cunei_exception_callbacks_unwind(code, offset, exception);
    cunei_exception_infer_unwound(exception);
}

void cunei_exception_callbacks_infer_handled(PyCodeObject *code, PyObject *offset,
                                             PyObject *exception)
{
    if (PyLong_CheckExact(offset))
        cunei_exception_infer_raised(code, cunei_compat_small(offset), offset,
                                     exception);
    cunei_exception_handled(code, offset, exception);
}

void cunei_exception_callbacks_infer_unwind(PyCodeObject *code, PyObject *offset,
                                            PyObject *exception)
{
    write_missed_event(code, offset, exception);
    cunei_exception_infer_raised(code, -1, offset, exception);
    cunei_exception_callbacks_local_unwind(code, offset, exception);
}
