// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/hooks/exception_trace_hook.h"

#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/sources/hooks/hook_frame.h"

/* What an exception has ended last in the calling thread, only to be compared. */
static _Thread_local struct {
    const void *code;
    uint64_t content_bits; /* of the stream then: nothing was written since */
} ended;

static uint64_t content_bits(void)
{
    return cunei_stream_own ? cunei_stream_own->content_bits : 0;
}

static void note_end(void)
{
    ended.content_bits = content_bits();
}

/*
 * The code of the frame that an exception has just ended, borrowed, and so has come to
 * the one on top; NULL: it was raised there, or is one that was kept.
 */
static PyCodeObject *find_ended(PyObject *info)
{
    PyObject *top = PyTuple_GET_ITEM(info, 2);
    const PyTracebackObject *traceback = (const PyTracebackObject *)top;

    if (!PyTraceBack_Check(top) || !traceback->tb_next ||
        traceback->tb_next->tb_frame == traceback->tb_frame)
        return NULL;
    PyCodeObject *code = cunei_hook_frame_code(traceback->tb_next->tb_frame);
    return code == ended.code && content_bits() == ended.content_bits ? code : NULL;
}

#if PY_VERSION_HEX >= 0x030c0000
#include "probe/core/exception_table.h"
#include "probe/events/exception.h"

/* A frame that has a handler catches the exception at once, and resumes there. */
void cunei_exception_trace_hook_raised(PyFrameObject *frame, uint64_t tag,
                                       PyObject *info)
{
    PyCodeObject *code = cunei_hook_frame_code(frame);
    PyObject *exception = PyTuple_GET_ITEM(info, 1);
    int at = PyFrame_GetLasti(frame), handler = cunei_exception_table_find(code, at);
    PyObject *offset = PyLong_FromLong(at);
    PyObject *handler_offset = handler < 0 ? NULL : PyLong_FromLong(handler);

    (void)tag;
    if (offset && PyExceptionInstance_Check(exception)) {
        PyCodeObject *before = find_ended(info);
        if (before)
            cunei_exception_reraised(before, exception);
        cunei_exception_raised(code, offset, exception);
        if (handler_offset)
            cunei_exception_handled(code, handler_offset, exception);
    }
    PyErr_Clear();
    Py_XDECREF(handler_offset);
    Py_XDECREF(offset);
}

void cunei_exception_trace_hook_unwound(PyCodeObject *code)
{
    ended.code = code;
    cunei_exception_ended(code);
}

void cunei_exception_trace_hook_left(void)
{
    note_end();
}

void cunei_exception_trace_hook_caught(void)
{
}
#else
#include "probe/events/exception_legacy.h"

/* What a loop consumes has no entry of this frame in its traceback. */
static bool is_raised_in(const cunei_compat_311_frame *frame,
                         const struct cunei_compat_error *error)
{
    const PyTracebackObject *traceback = (const PyTracebackObject *)error->traceback;

    return PyTraceBack_Check(error->traceback) &&
           cunei_frame_of(traceback->tb_frame) == frame;
}

void cunei_exception_trace_hook_raised(PyFrameObject *frame, uint64_t tag,
                                       PyObject *info)
{
    cunei_compat_311_frame *own = cunei_compat_311_frame_of(frame);
    const struct cunei_compat_error error = {PyTuple_GET_ITEM(info, 0),
                                             PyTuple_GET_ITEM(info, 1),
                                             PyTuple_GET_ITEM(info, 2)};

    if (!is_raised_in(own, &error))
        return;
    int handler = cunei_compat_311_handler(own);
    cunei_exception_legacy_reraised(find_ended(info), own, &error);
    if (handler < 0)
        cunei_exception_legacy_unwound(own, cunei_compat_311_below(own), tag, &error);
    else
        cunei_exception_legacy_handled(own, tag, &error, handler);
}

void cunei_exception_trace_hook_unwound(PyCodeObject *code)
{
    ended.code = code;
}

void cunei_exception_trace_hook_left(void)
{
    note_end();
    cunei_exception_legacy_wait();
}

void cunei_exception_trace_hook_caught(void)
{
    cunei_exception_legacy_caught();
}
#endif
