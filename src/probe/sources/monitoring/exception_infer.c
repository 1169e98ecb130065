// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/monitoring/exception_infer.h"

#include <frameobject.h>

#include "probe/code/code_resolve.h"
#include "probe/core/compat.h"
#include "probe/core/exception_table.h"
#include "probe/core/frame.h"
#include "probe/events/exception.h"
#include "probe/events/exception_record.h"
#include "probe/events/exception_track.h"

/* Of an instruction, or of a part of one. */
#define INSTRUCTION_BYTES 2

static void (*when_reached)(PyCodeObject *code);

void cunei_exception_infer_notify(void (*reached)(PyCodeObject *code))
{
    when_reached = reached;
}

bool cunei_exception_infer_is_outermost(const PyCodeObject *code)
{
    return PyUnicode_CompareWithASCIIString(code->co_name, "<module>") == 0 ||
           PyUnicode_CompareWithASCIIString(code->co_name, "_bootstrap_inner") == 0;
}

/*
 * Where it was raised, by the entry of a frame in its traceback.  One that is thrown
 * into a generator comes to where that was suspended, and from 3.13 on its frame stands
 * one instruction further.
 */
static int place_of(PyCodeObject *code, const PyTracebackObject *traceback)
{
    int before = traceback->tb_lasti - INSTRUCTION_BYTES;
    bool is_thrown = PY_VERSION_HEX >= 0x030d0000 && code->co_flags & CUNEI_GENERATES &&
                     cunei_frame_yields(code, before);

    return is_thrown ? before : traceback->tb_lasti;
}

/*
 * Where it was raised; -1: it was reraised.  Then the frame has not added itself to the
 * traceback, which may still hold the place where it was raised before.
 */
static int find_raise(PyCodeObject *code, int handler, PyFrameObject *frame,
                      PyObject *traceback)
{
    const PyTracebackObject *top = (const PyTracebackObject *)traceback;

    if (!top || top->tb_frame != frame)
        return -1;
    int place = place_of(code, top);
    return cunei_exception_table_find(code, place) == handler ? place : -1;
}

void cunei_exception_infer_raised(PyCodeObject *code, int handler, PyObject *offset,
                                  PyObject *exception)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    PyObject *traceback = PyException_GetTraceback(exception);
    int at = find_raise(code, handler, frame, traceback);
    cunei_exception_event *record =
        at < 0 ? cunei_exception_raised_again : cunei_exception_raised;

    if (at < 0 && handler >= 0 && frame)
        at = PyFrame_GetLasti(frame); /* there, or where it was raised before */
    PyObject *place = at < 0 ? Py_NewRef(offset) : PyLong_FromLong(at);
    if (place)
        record(code, place, exception);
    PyErr_Clear();
    Py_XDECREF(place);
    Py_XDECREF(traceback);
    Py_XDECREF(frame);
}

/* Where events are global, a frame of any code is enough for them to be needed. */
static void reach(PyCodeObject *code)
{
    if (when_reached && (!CUNEI_EXCEPTION_INFER_IS_LOCAL || cunei_code_follow(code)))
        when_reached(code);
}

/* Where only decorated functions are found, others have no word before this. */
static void reach_unseen(PyFrameObject *frame, PyCodeObject *code)
{
    PyObject *globals = PyFrame_GetGlobals(frame);

    (void)cunei_code_resolve(code, globals);
    Py_XDECREF(globals);
    reach(code);
}

/* An exception comes, or may come, to the frame below the one on top. */
static void reach_below(PyObject *exception)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    PyFrameObject *below = frame ? PyFrame_GetBack(frame) : NULL;
    PyCodeObject *code = below ? PyFrame_GetCode(below) : NULL;

    if (code && exception && !CUNEI_EXCEPTION_INFER_IS_LOCAL &&
        PyObject_TypeCheck(exception, (PyTypeObject *)PyExc_StopIteration) &&
        cunei_exception_record_iterates(code, PyFrame_GetLasti(below)))
        cunei_exception_consumed(code, PyFrame_GetLasti(below), exception);
    else if (code && CUNEI_EXCEPTION_INFER_IS_LOCAL && cunei_code_tag(code) == 0)
        reach_unseen(below, code);
    else if (code)
        reach(code);
    PyErr_Clear();
    Py_XDECREF(code);
    Py_XDECREF(below);
    Py_XDECREF(frame);
}

void cunei_exception_infer_unwound(PyObject *exception)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();

    if (tracks && cunei_exception_tracks_find(tracks, exception))
        reach_below(exception);
}

void cunei_exception_infer_handled(void)
{
    if (when_reached)
        reach_below(NULL);
}

void cunei_exception_infer_thrown(PyCodeObject *code, PyObject *exception)
{
    if (CUNEI_EXCEPTION_INFER_IS_LOCAL && cunei_exception_track_may_be_known(exception))
        reach(code);
}
