// SPDX-License-Identifier: MIT
/*
 * Reads one Python frame without running code; code/frames.h walks over those of a
 * thread.  The frame behind a frame object is read past the public interface, and
 * checked by cunei_frame_is_readable; if that fails, C functions that call back are
 * missing from the stack that a packet begins with.
 */
#ifndef CUNEI_PROBE_CORE_FRAME_H
#define CUNEI_PROBE_CORE_FRAME_H

#include <Python.h>

#include <opcode.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/core/compat.h"
#include "probe/core/hot.h"

/*
 * The running frame of the interpreter: the same at its start and end, and for a
 * generator as long as it lives.  Only compared, never dereferenced.
 */
static inline const void *cunei_frame_running(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030d0000
    return thread->current_frame;
#elif PY_VERSION_HEX >= 0x030b0000
    return thread->cframe->current_frame;
#else
    return thread->frame;
#endif
}

/* The same for a frame object; read past the public interface. */
static inline const void *cunei_frame_of(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    const struct {
        PyObject_HEAD void *back;
        const void *frame;
    } *object = (const void *)frame;
    return object->frame;
#else
    return frame;
#endif
}

/* The code of the running frame, a new reference; NULL: none runs. */
static inline PyCodeObject *cunei_frame_code(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030c0000
    struct _PyInterpreterFrame *frame = (void *)(uintptr_t)cunei_frame_running(thread);
    PyObject *code = frame ? PyUnstable_InterpreterFrame_GetCode(frame) : NULL;

    if (code && !PyCode_Check(code))
        Py_CLEAR(code); /* None, for an internal frame of the interpreter */
    return (PyCodeObject *)code;
#else
    const cunei_compat_311_frame *frame = cunei_compat_311_top(thread);

    return frame ? (PyCodeObject *)Py_NewRef(frame->f_code) : NULL;
#endif
}

/*
 * Whether cunei_frame_of is right for the running frame.  Before 3.12 there may be no
 * frame, and the layout is known.
 */
static inline bool cunei_frame_is_readable(void)
{
#if PY_VERSION_HEX < 0x030c0000
    return true;
#else
    PyThreadState *thread = PyThreadState_Get();
    PyFrameObject *frame = PyThreadState_GetFrame(thread);
    bool reads = frame && cunei_frame_of(frame) == cunei_frame_running(thread);

    Py_XDECREF(frame);
    return reads;
#endif
}

/*
 * Whether a frame is at its first instruction.  From 3.13 on pending work, such as a
 * garbage collection or a signal handler, runs there before the start event.
 */
static inline bool cunei_frame_is_at_start(PyFrameObject *frame,
                                           const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030d0000
    /* Instructions have two bytes. */
    return PyFrame_GetLasti(frame) == 2 * code->_co_firsttraceable;
#elif PY_VERSION_HEX >= 0x030c0000
    (void)frame;
    (void)code;
    return false;
#else
    (void)code;
    return cunei_compat_311_is_opening(cunei_compat_311_frame_of(frame));
#endif
}

/* The start of the frame on top has just been recorded. */
static inline void cunei_frame_opened(void)
{
#if PY_VERSION_HEX < 0x030c0000
    cunei_compat_311_opened();
#endif
}

/*
 * Note the frame whose end or yield is recorded, which may be suspended by now; returns
 * the one noted before, to be noted again.
 */
static inline const void *cunei_frame_note_ending(PyFrameObject *frame)
{
#if PY_VERSION_HEX < 0x030c0000
    return cunei_compat_311_set_ending(cunei_compat_311_frame_of(frame));
#else
    (void)frame;
    return NULL;
#endif
}

static inline void cunei_frame_note_ended(const void *before)
{
#if PY_VERSION_HEX < 0x030c0000
    (void)cunei_compat_311_set_ending(before);
#else
    (void)before;
#endif
}

/* Whether the frame whose end is being recorded, of this code, is the running one. */
static inline bool cunei_frame_is_ending(const PyCodeObject *code)
{
    PyCodeObject *top = cunei_frame_code(PyThreadState_Get());
    bool yes = top == code;

    Py_XDECREF(top);
    return yes;
}

/* Whether this is the instruction at an offset in bytes. */
static inline bool cunei_frame_is_at(PyCodeObject *code, int offset, int instruction)
{
    PyObject *bytes = PyCode_GetCode(code); /* cached by the code object */
    bool yes = bytes && PyBytes_Check(bytes) && offset >= 0 &&
               offset < PyBytes_GET_SIZE(bytes) &&
               (unsigned char)PyBytes_AS_STRING(bytes)[offset] == instruction;

    PyErr_Clear();
    Py_XDECREF(bytes);
    return yes;
}

/* Whether that instruction suspends a generator. */
static inline bool cunei_frame_yields(PyCodeObject *code, int offset)
{
    return cunei_frame_is_at(code, offset, YIELD_VALUE);
}

/*
 * Whether an exception at this offset in bytes comes before the event of the frame's
 * start or, for a generator, of its resume.  From 3.13 on, signal handlers and
 * PyThreadState_SetAsyncExc raise at a RESUME, before its event.  An exception that is
 * thrown into a generator has the same offset, but comes after its event.
 */
static inline bool cunei_frame_is_before_event(PyCodeObject *code, int offset,
                                               enum cunei_phase *phase)
{
#if PY_VERSION_HEX >= 0x030d0000
    /* From 3.15 on, a RESUME has a cache behind it, to which the offset may point. */
    int cache = PY_VERSION_HEX >= 0x030f0000 ? 2 : 0,
        start = 2 * code->_co_firsttraceable;
    bool is_start = offset == start || offset == start + cache;

    *phase = is_start ? CUNEI_PHASE_ENTER : CUNEI_PHASE_RESUME;
    return is_start || (code->co_flags & CUNEI_GENERATES &&
                        (cunei_frame_yields(code, offset - 2) ||
                         cunei_frame_yields(code, offset - 2 - cache)));
#else
    (void)code;
    (void)offset;
    (void)phase;
    return false;
#endif
}

/*
 * Whether a generator's frame, not the one on top, is suspended.  An exception that is
 * thrown into it goes first to the generator it delegates to, and meanwhile its frame
 * is on the stack below that one.
 */
static inline bool cunei_frame_is_suspended(PyFrameObject *frame, PyCodeObject *code)
{
    if (!(code->co_flags & CUNEI_GENERATES))
        return false;
#if PY_VERSION_HEX >= 0x030d0000
    return cunei_frame_yields(code, PyFrame_GetLasti(frame) - 2); /* a RESUME follows */
#elif PY_VERSION_HEX >= 0x030c0000
    return cunei_frame_yields(code, PyFrame_GetLasti(frame));
#elif PY_VERSION_HEX >= 0x030b0000
    /* A frame that has just yielded, in its yield event, is at the same place. */
    return cunei_frame_yields(code, PyFrame_GetLasti(frame)) &&
           !cunei_compat_311_is_suspended(cunei_compat_311_frame_of(frame));
#else
    /* It is before a `yield from`, where no signal handler runs. */
    return cunei_frame_is_at(code, PyFrame_GetLasti(frame) + 2, YIELD_FROM);
#endif
}

/*
 * The same for the frame on top: before 3.12 an event may come while it is suspended.
 */
static inline bool cunei_frame_top_is_suspended(PyFrameObject *frame,
                                                PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030c0000
    (void)frame;
    (void)code;
    return false;
#else
    return cunei_frame_is_suspended(frame, code) &&
           !cunei_compat_311_is_ending(cunei_compat_311_frame_of(frame));
#endif
}

/*
 * How many Python frames the thread has, by the recursion counter.  It also counts a
 * few internal frames, for calls of `__init__`.
 */
static inline size_t cunei_frame_depth(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030c0000
    int depth = thread->py_recursion_limit - thread->py_recursion_remaining;
    return depth > 0 ? (size_t)depth : 0;
#else
    return cunei_compat_311_count(thread); /* the counter also counts recursion in C */
#endif
}

#endif
