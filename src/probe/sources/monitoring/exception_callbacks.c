// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/monitoring/exception_callbacks.h"

#include <stdbool.h>

#include "probe/code/code_tag.h"
#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/events/exception.h"
#include "probe/events/function_event.h"
#include "probe/sources/monitoring/exception_infer.h"

static bool is_whole(PyObject *const *args, Py_ssize_t count)
{
    return count >= 3 && PyExceptionInstance_Check(args[2]);
}

/* The last exception that was thrown into a generator, and its frame.  Only compared.
 */
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
static void write_missed_event(PyCodeObject *code, PyObject *const *args)
{
    enum cunei_phase phase;
    bool is_thrown = thrown.exception == args[2] &&
                     thrown.frame == cunei_frame_running(PyThreadState_Get());

    if (is_thrown || !PyLong_CheckExact(args[1]) ||
        !cunei_frame_is_before_event(code, cunei_compat_small(args[1]), &phase))
        return;
    uint64_t tag = cunei_function_event_tag(code);
    if (tag && !(tag & CUNEI_CODE_OFF))
        cunei_function_event_write(code, tag, phase, NULL);
}

void cunei_exception_callbacks_raise(PyCodeObject *code, PyObject *const *args,
                                     Py_ssize_t count)
{
    if (!is_whole(args, count))
        return;
    write_missed_event(code, args);
    cunei_exception_raised(code, args[1], args[2]);
}

void cunei_exception_callbacks_reraise(PyCodeObject *code, PyObject *const *args,
                                       Py_ssize_t count)
{
    if (is_whole(args, count))
        cunei_exception_raised_again(code, args[1], args[2]);
}

void cunei_exception_callbacks_handled(PyCodeObject *code, PyObject *const *args,
                                       Py_ssize_t count)
{
    if (is_whole(args, count))
        cunei_exception_handled(code, args[1], args[2]);
}

void cunei_exception_callbacks_unwind(PyCodeObject *code, PyObject *const *args,
                                      Py_ssize_t count)
{
    bool knows = is_whole(args, count);

    cunei_function_event_unwind(code, cunei_function_event_tag(code),
                                knows ? Py_TYPE(args[2]) : NULL, knows ? args[1] : NULL,
                                knows ? args[2] : NULL);
}

/* Who has called it may raise it again: `with`, where this is an __exit__. */
void cunei_exception_callbacks_local_handled(PyCodeObject *code, PyObject *const *args,
                                             Py_ssize_t count)
{
    cunei_exception_callbacks_handled(code, args, count);
    cunei_exception_infer_handled();
}

/* It may come to code next that is left out. */
void cunei_exception_callbacks_local_unwind(PyCodeObject *code, PyObject *const *args,
                                            Py_ssize_t count)
{
    cunei_exception_callbacks_unwind(code, args, count);
    if (is_whole(args, count))
        cunei_exception_infer_unwound(args[2]);
}

void cunei_exception_callbacks_infer_handled(PyCodeObject *code, PyObject *const *args,
                                             Py_ssize_t count)
{
    if (is_whole(args, count) && PyLong_CheckExact(args[1]))
        cunei_exception_infer_raised(code, cunei_compat_small(args[1]), args[1],
                                     args[2]);
    cunei_exception_callbacks_handled(code, args, count);
}

void cunei_exception_callbacks_infer_unwind(PyCodeObject *code, PyObject *const *args,
                                            Py_ssize_t count)
{
    if (is_whole(args, count)) {
        write_missed_event(code, args);
        cunei_exception_infer_raised(code, -1, args[1], args[2]);
    }
    cunei_exception_callbacks_local_unwind(code, args, count);
}
