// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/later.h"

#include "probe/pyframe.h"

bool cunei_later_is_on;
_Thread_local struct cunei_later_state cunei_later_own;

/* The frame below, by its object, must be found by going back. */
static bool is_behind(const struct cunei_later_frame *frame, PyFrameObject *object)
{
    PyFrameObject *back = PyFrame_GetBack(object);
    const void *wanted = back ? cunei_pyframe_of(back) : NULL;
    const int max = 4; /* the interpreter has some of its own in between */

    for (int i = 0; frame && frame != wanted && i < max; i++)
        frame = frame->previous;
    Py_XDECREF(back);
    return frame == wanted;
}

bool cunei_later_is_readable(void)
{
    PyThreadState *thread = PyThreadState_Get();
    PyFrameObject *object = PyThreadState_GetFrame(thread);

    if (!object)
        return false;
    struct cunei_later_frame *frame = cunei_later_top(thread);
    PyObject *code =
        PyUnstable_InterpreterFrame_GetCode((struct _PyInterpreterFrame *)frame);
    bool yes = cunei_pyframe_of(object) == frame &&
               code == (PyObject *)cunei_later_code(frame) &&
               PyUnstable_InterpreterFrame_GetLasti(
                   (struct _PyInterpreterFrame *)frame) == cunei_later_offset(frame) &&
               is_behind(frame, object);
    Py_XDECREF(code);
    Py_DECREF(object);
    return yes;
}

bool cunei_later_is_suspended(const struct cunei_later_frame *frame)
{
    int offset = cunei_later_offset(frame);

#if PY_VERSION_HEX >= 0x030d0000
    offset -= CUNEI_LATER_UNIT; /* it is to go on at a RESUME */
#endif
    return cunei_pyframe_yields(cunei_later_code(frame), offset);
}

struct cunei_later_pushed cunei_later_push(PyThreadState *thread,
                                           struct cunei_later_frame *frame)
{
    struct cunei_later_pushed pushed = {frame, cunei_later_top(thread), frame->previous,
                                        frame->instruction};
    PyCodeObject *code = cunei_later_code(frame);

    cunei_later_own.pushed++;
    frame->previous = pushed.below;
    cunei_later_set_top(thread, frame);
    /* One that has not come so far is not shown. */
    if (cunei_later_offset(frame) < CUNEI_LATER_UNIT * code->_co_firsttraceable)
        frame->instruction = code->co_code_adaptive +
                             (ptrdiff_t)CUNEI_LATER_UNIT * code->_co_firsttraceable;
    return pushed;
}

void cunei_later_pop(PyThreadState *thread, const struct cunei_later_pushed *pushed)
{
    pushed->frame->previous = pushed->previous;
    pushed->frame->instruction = pushed->instruction;
    cunei_later_set_top(thread, pushed->below);
    cunei_later_own.pushed--;
}
