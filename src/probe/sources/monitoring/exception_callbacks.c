// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/monitoring/exception_callbacks.h"

#include <stdbool.h>

#include "probe/code/code.h"
#include "probe/code/code_tag.h"
#include "probe/core/compat.h"
#include "probe/core/exception_table.h"
#include "probe/core/frame.h"
#include "probe/core/write.h"
#include "probe/events/exception_record.h"
#include "probe/events/function_event.h"
#include "probe/events/open_stack.h"
#include "probe/sources/monitoring/exception_infer.h"

/* The last exception that was thrown into a generator, and its frame; only compared. */
static __attribute__((tls_model("initial-exec"))) _Thread_local struct {
    const void *frame;
    const void *exception;
} thrown;

void cunei_exception_callbacks_throw(PyObject *exception)
{
    thrown.frame = cunei_frame_running(PyThreadState_Get());
    thrown.exception = exception;
}

/* Asked once: the next exception may have the same address. */
static bool was_thrown(PyObject *exception)
{
    bool yes = thrown.exception == exception &&
               thrown.frame == cunei_frame_running(PyThreadState_Get());

    thrown.exception = NULL;
    return yes;
}

/*
 * Whether the frame on top has its event: then another tool has raised the exception,
 * in its callback for the same event, after ours.  In a recursion this is known only if
 * all of it began with the last events.
 */
static bool has_event(uint32_t id, enum cunei_phase phase)
{
    uint64_t run = cunei_open_stack_run(id);

    return run > 0 && cunei_write_count_last(id, phase) >= run;
}

/* The frame is in the traceback, so its call counts, as it does before 3.13. */
static void write_missed_event(PyCodeObject *code, int offset, PyObject *exception)
{
    enum cunei_phase phase;

    if (!cunei_frame_is_before_event(code, offset, &phase) || was_thrown(exception))
        return;
    uint64_t tag = cunei_function_event_tag(code);
    if (tag && !(tag & CUNEI_CODE_OFF) && !has_event(cunei_code_id(tag), phase))
        cunei_function_event_write(code, tag, phase, NULL);
}

/*
 * The offset in the traceback at which the frame on top raised what this handler gets;
 * -1: none.  Another handler of the frame gets the same traceback.
 */
static int offset_before(PyCodeObject *code, int handler, PyObject *exception)
{
    PyObject *traceback = PyException_GetTraceback(exception);
    const PyTracebackObject *top = (const PyTracebackObject *)traceback;
    int offset = top && cunei_exception_record_is_of(top, code) ? top->tb_lasti : -1;

    Py_XDECREF(traceback);
    return cunei_exception_table_find(code, offset) == handler ? offset : -1;
}

static int offset_of(PyObject *number)
{
    return PyLong_CheckExact(number) ? cunei_compat_small(number) : -1;
}

void cunei_exception_callbacks_raise(PyCodeObject *code, PyObject *offset,
                                     PyObject *exception)
{
    write_missed_event(code, offset_of(offset), exception);
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
    /* Only a generator has a handler around its first instruction. */
    if (code->co_flags & CUNEI_GENERATES)
        write_missed_event(code, offset_before(code, offset_of(offset), exception),
                           exception);
    if (PyLong_CheckExact(offset))
        cunei_exception_infer_raised(code, cunei_compat_small(offset), offset,
                                     exception);
    cunei_exception_handled(code, offset, exception);
}

void cunei_exception_callbacks_infer_unwind(PyCodeObject *code, PyObject *offset,
                                            PyObject *exception)
{
    write_missed_event(code, offset_of(offset), exception);
    cunei_exception_infer_raised(code, -1, offset, exception);
    cunei_exception_callbacks_local_unwind(code, offset, exception);
}
