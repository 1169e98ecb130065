// SPDX-License-Identifier: MIT
/*
 * What differs between Pythons where the hooks of sys.setprofile and sys.settrace are
 * set, and in the frames that they are called for.
 */
#ifndef CUNEI_PROBE_SOURCES_HOOKS_HOOK_FRAME_H
#define CUNEI_PROBE_SOURCES_HOOKS_HOOK_FRAME_H

#include <Python.h>

#include <frameobject.h>
#include <stdbool.h>

#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/core/hot.h"

/* Whether a thread's hook is a plain field of its state, which other threads may set.
 */
#define CUNEI_HOOK_FRAME_IS_FIELD (PY_VERSION_HEX < 0x030c0000)

/* The code of a frame, borrowed from it. */
static inline PyCodeObject *cunei_hook_frame_code(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030c0000
    PyCodeObject *code = PyFrame_GetCode(frame);

    Py_DECREF(code); /* the frame keeps it */
    return code;
#else
    return cunei_compat_311_code(frame);
#endif
}

/* The hook is called because a generator begins or resumes: whether it begins. */
static inline bool cunei_hook_frame_begins(PyFrameObject *frame,
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

/* The hook is called because a generator yields or returns: whether it yields. */
static inline bool cunei_hook_frame_yields(PyFrameObject *frame, PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030c0000
    int offset = PyFrame_GetLasti(frame);

    /* CPython 3.13 stands at the RESUME behind it already. */
    return cunei_frame_yields(code, offset) ||
           (PY_VERSION_HEX >= 0x030d0000 && PY_VERSION_HEX < 0x030e0000 &&
            cunei_frame_yields(code, offset - 2));
#else
    (void)code;
    return cunei_compat_311_is_suspended(cunei_compat_311_frame_of(frame));
#endif
}

/* CPython 3.12 calls the trace hook with None for a return and for an exception. */
#define CUNEI_HOOK_FRAME_UNWINDS_BY_NONE \
    (PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030d0000)

/* With None: whether an exception ends the frame, and not a return of None. */
static inline bool cunei_hook_frame_unwinds(PyFrameObject *frame, PyCodeObject *code)
{
#if CUNEI_HOOK_FRAME_UNWINDS_BY_NONE
    const char suspended = -1;
    const PyGenObject *generator = (const void *)((const char *)cunei_frame_of(frame) -
                                                  offsetof(PyGenObject, gi_iframe));
    int offset = PyFrame_GetLasti(frame);

    if (code->co_flags & CUNEI_GENERATES && generator->gi_frame_state == suspended)
        return false;
    return !cunei_frame_is_at(code, offset, RETURN_VALUE) &&
           !cunei_frame_is_at(code, offset, RETURN_CONST);
#else
    (void)frame;
    (void)code;
    return false;
#endif
}

/* The line of a frame, while a hook is called for its beginning. */
static inline int cunei_hook_frame_line(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030c0000
    return PyFrame_GetLineNumber(frame);
#else
    return cunei_compat_311_line(frame);
#endif
}

/* Print, as CPython does, that an exception has ended a thread's function. */
static inline void cunei_hook_frame_print_unraisable(PyObject *function)
{
#if PY_VERSION_HEX >= 0x030d0000
    PyErr_FormatUnraisable("Exception ignored in thread started by %R", function);
#else
    _PyErr_WriteUnraisableMsg("in thread started by", function);
#endif
}

#endif
