// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/core/frame_312.h"

#include "probe/core/frame.h"

bool cunei_frame_312_is_on;
_Thread_local struct cunei_frame_312_state cunei_frame_312_own;

/* The frame below, by its object, must be found by going back. */
static bool is_behind(const struct cunei_frame_312_frame *frame, PyFrameObject *object)
{
    PyFrameObject *back = PyFrame_GetBack(object);
    const void *wanted = back ? cunei_frame_of(back) : NULL;
    const int max = 4; /* the interpreter has some of its own in between */

    for (int i = 0; frame && frame != wanted && i < max; i++)
        frame = frame->previous;
    Py_XDECREF(back);
    return frame == wanted;
}

bool cunei_frame_312_is_readable(void)
{
    PyThreadState *thread = PyThreadState_Get();
    PyFrameObject *object = PyThreadState_GetFrame(thread);

    if (!object)
        return false;
    struct cunei_frame_312_frame *frame = cunei_frame_312_top(thread);
    PyObject *code =
        PyUnstable_InterpreterFrame_GetCode((struct _PyInterpreterFrame *)frame);
    bool yes =
        cunei_frame_of(object) == frame &&
        code == (PyObject *)cunei_frame_312_code(frame) &&
        PyUnstable_InterpreterFrame_GetLasti((struct _PyInterpreterFrame *)frame) ==
            cunei_frame_312_offset(frame) &&
        is_behind(frame, object);
    Py_XDECREF(code);
    Py_DECREF(object);
    return yes;
}

bool cunei_frame_312_is_suspended(const struct cunei_frame_312_frame *frame)
{
    int offset = cunei_frame_312_offset(frame);

#if PY_VERSION_HEX >= 0x030d0000
    offset -= CUNEI_LATER_UNIT; /* it is to go on at a RESUME */
#endif
    return cunei_frame_yields(cunei_frame_312_code(frame), offset);
}

struct cunei_frame_312_pushed cunei_frame_312_push(PyThreadState *thread,
                                                   struct cunei_frame_312_frame *frame)
{
    struct cunei_frame_312_pushed pushed = {frame, cunei_frame_312_top(thread),
                                            frame->previous, frame->instruction};
    PyCodeObject *code = cunei_frame_312_code(frame);

    cunei_frame_312_own.pushed++;
    frame->previous = pushed.below;
    cunei_frame_312_set_top(thread, frame);
    /* One that has not come so far is not shown. */
    if (cunei_frame_312_offset(frame) < CUNEI_LATER_UNIT * code->_co_firsttraceable)
        frame->instruction = code->co_code_adaptive +
                             (ptrdiff_t)CUNEI_LATER_UNIT * code->_co_firsttraceable;
    return pushed;
}

void cunei_frame_312_pop(PyThreadState *thread,
                         const struct cunei_frame_312_pushed *pushed)
{
    pushed->frame->previous = pushed->previous;
    pushed->frame->instruction = pushed->instruction;
    cunei_frame_312_set_top(thread, pushed->below);
    cunei_frame_312_own.pushed--;
}
