// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/thrown.h"

#include "probe/compat.h"
#include "probe/hookframe.h"
#include "probe/pyframe.h"

#if PY_VERSION_HEX >= 0x030c0000
#include "probe/exception.h"
#include "probe/handler.h"

/* Taken at once, where the frame has a handler: that is where it goes on. */
void cunei_thrown_raised(PyFrameObject *frame, uint64_t word, PyObject *told)
{
    PyCodeObject *code = cunei_hookframe_code(frame);
    PyObject *exception = PyTuple_GET_ITEM(told, 1);
    int at = PyFrame_GetLasti(frame), handler = cunei_handler_find(code, at);
    PyObject *offset = PyLong_FromLong(at);
    PyObject *goes_on = handler < 0 ? NULL : PyLong_FromLong(handler);

    (void)word;
    if (offset && PyExceptionInstance_Check(exception)) {
        cunei_exception_raised(code, offset, exception);
        if (goes_on)
            cunei_exception_handled(code, goes_on, exception);
    }
    PyErr_Clear();
    Py_XDECREF(goes_on);
    Py_XDECREF(offset);
}

void cunei_thrown_unwound(PyCodeObject *code)
{
    cunei_exception_ended(code);
}

void cunei_thrown_left(void)
{
}

void cunei_thrown_landed(void)
{
}
#else
#include "probe/passing.h"

/* What a loop consumes has no entry of this frame in its traceback. */
static bool is_raised_in(const cunei_older_frame *frame,
                         const struct cunei_compat_error *error)
{
    const PyTracebackObject *traceback = (const PyTracebackObject *)error->traceback;

    return PyTraceBack_Check(error->traceback) &&
           cunei_pyframe_of(traceback->tb_frame) == frame;
}

void cunei_thrown_raised(PyFrameObject *frame, uint64_t word, PyObject *told)
{
    cunei_older_frame *own = cunei_older_frame_of(frame);
    const struct cunei_compat_error error = {PyTuple_GET_ITEM(told, 0),
                                             PyTuple_GET_ITEM(told, 1),
                                             PyTuple_GET_ITEM(told, 2)};

    if (!is_raised_in(own, &error))
        return;
    int handler = cunei_older_handler(own);
    if (handler < 0)
        cunei_passing_unwound(own, cunei_older_below(own), word, &error);
    else
        cunei_passing_taken(own, word, &error, handler);
}

void cunei_thrown_unwound(PyCodeObject *code)
{
    (void)code;
}

void cunei_thrown_left(void)
{
    cunei_passing_wait();
}

void cunei_thrown_landed(void)
{
    cunei_passing_landed();
}
#endif
