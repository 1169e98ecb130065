// SPDX-License-Identifier: MIT
/*
 * What differs between Pythons where the hooks of sys.setprofile and sys.settrace are
 * set, and where they are told of frames.
 */
#ifndef CUNEI_PROBE_HOOKFRAME_H
#define CUNEI_PROBE_HOOKFRAME_H

#include <Python.h>

#include <frameobject.h>
#include <stdbool.h>

#include "probe/compat.h"
#include "probe/hot.h"
#include "probe/pyframe.h"

/* Whether a thread's hook is a plain field of its state, which others may set, too. */
#define CUNEI_HOOKFRAME_IS_FIELD (PY_VERSION_HEX < 0x030c0000)

/* The code of a frame, borrowed from it. */
static inline PyCodeObject *cunei_hookframe_code(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030c0000
    PyCodeObject *code = PyFrame_GetCode(frame);

    Py_DECREF(code); /* the frame keeps it */
    return code;
#else
    return cunei_older_code(frame);
#endif
}

/* Of a generator's frame that is told to begin or go on: whether it begins. */
static inline bool cunei_hookframe_begins(PyFrameObject *frame,
                                          const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030b0000
    /* Instructions have two bytes. */
    return PyFrame_GetLasti(frame) == 2 * code->_co_firsttraceable;
#else
    (void)code;
    return frame->f_lasti < 0;
#endif
}

/* Of one that is told to be left, with a value: whether it is to go on later. */
static inline bool cunei_hookframe_yields(PyFrameObject *frame, PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030c0000
    int offset = PyFrame_GetLasti(frame);

    /* CPython 3.13 stands at the RESUME behind it already. */
    return cunei_pyframe_yields(code, offset) ||
           (PY_VERSION_HEX >= 0x030d0000 && PY_VERSION_HEX < 0x030e0000 &&
            cunei_pyframe_yields(code, offset - 2));
#else
    (void)code;
    return cunei_older_is_suspended(cunei_older_frame_of(frame));
#endif
}

/* CPython 3.12 tells the trace hook of both by the same word. */
#define CUNEI_HOOKFRAME_UNWINDS_BY_NONE \
    (PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030d0000)

/*
 * Of one that is told to be left with None: whether by an exception, and not by an
 * instruction that gives None.
 */
static inline bool cunei_hookframe_unwinds(PyFrameObject *frame, PyCodeObject *code)
{
#if CUNEI_HOOKFRAME_UNWINDS_BY_NONE
    const char suspended = -1;
    const PyGenObject *generator =
        (const void *)((const char *)cunei_pyframe_of(frame) -
                       offsetof(PyGenObject, gi_iframe));
    int offset = PyFrame_GetLasti(frame);

    if (code->co_flags & CUNEI_GENERATES && generator->gi_frame_state == suspended)
        return false;
    return !cunei_pyframe_is_at(code, offset, RETURN_VALUE) &&
           !cunei_pyframe_is_at(code, offset, RETURN_CONST);
#else
    (void)frame;
    (void)code;
    return false;
#endif
}

/* The line of a frame, while a hook is told that it begins. */
static inline int cunei_hookframe_line(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030c0000
    return PyFrame_GetLineNumber(frame);
#else
    return cunei_older_line(frame);
#endif
}

/* Say, as CPython does, that an exception has ended a thread's function. */
static inline void cunei_hookframe_tell_unraisable(PyObject *function)
{
#if PY_VERSION_HEX >= 0x030d0000
    PyErr_FormatUnraisable("Exception ignored in thread started by %R", function);
#else
    _PyErr_WriteUnraisableMsg("in thread started by", function);
#endif
}

#endif
