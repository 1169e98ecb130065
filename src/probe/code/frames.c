// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/code/frames.h"

#include "probe/code/code_resolve.h"
#include "probe/core/compat.h"
#include "probe/core/frame.h"

PyFrameObject *cunei_frames_back(PyFrameObject *frame)
{
    PyFrameObject *back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    return back;
}

uint64_t cunei_frames_tag(PyFrameObject *frame, bool is_top)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    bool rests = is_top ? cunei_frame_top_is_suspended(frame, code)
                        : cunei_frame_is_at_start(frame, code) ||
                              cunei_frame_is_suspended(frame, code);
    uint64_t tag = rests ? 0 : cunei_code_tag(code);

    if (tag == 0 && !rests) {
        PyObject *globals = PyFrame_GetGlobals(frame);
        tag = cunei_code_resolve(code, globals);
        Py_XDECREF(globals);
    }
    Py_DECREF(code);
    return tag;
}

bool cunei_frames_top_is_open(void)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    PyCodeObject *code = frame ? PyFrame_GetCode(frame) : NULL;
    bool is_open = !frame || !cunei_frame_is_at_start(frame, code);

    Py_XDECREF(code);
    Py_XDECREF(frame);
    return is_open;
}

PyObject *cunei_frames_globals(void)
{
    return PyEval_GetGlobals();
}

static bool is_around_block(PyFrameObject *frame)
{
    PyFrameObject *back = PyFrame_GetBack(frame);
    PyObject *globals = back ? PyFrame_GetGlobals(back) : NULL;
    PyObject *module = globals && PyDict_Check(globals)
                           ? cunei_compat_dict_get(globals, "__name__")
                           : NULL;
    bool yes = module && PyUnicode_Check(module) &&
               PyUnicode_CompareWithASCIIString(module, "contextlib") == 0;

    Py_XDECREF(module);
    Py_XDECREF(globals);
    Py_XDECREF(back);
    return yes;
}

bool cunei_frames_is_around_block(void)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    bool yes = frame && is_around_block(frame);

    Py_XDECREF(frame);
    return yes;
}

/* Whether its code is recorded, and may be the frame of a region from now on. */
static bool is_region_frame(PyFrameObject *frame, bool generating)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *globals = PyFrame_GetGlobals(frame);
    bool is_passed = generating
                         ? code->co_flags & (CO_GENERATOR | CO_ASYNC_GENERATOR) &&
                               is_around_block(frame)
                         : code->co_flags & CUNEI_GENERATES;
    bool is_recorded = !is_passed && cunei_code_enable_regions(code, globals);

    Py_XDECREF(globals);
    Py_DECREF(code);
    return is_recorded;
}

const void *cunei_frames_find_recorded(bool callers, bool generating)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    unsigned steps = 0;

    if (callers && frame)
        frame = cunei_frames_back(frame);
    while (frame && steps < CUNEI_FRAMES_NEAR && !is_region_frame(frame, generating)) {
        frame = cunei_frames_back(frame);
        steps++;
    }
    const void *found =
        frame && steps < CUNEI_FRAMES_NEAR ? cunei_frame_of(frame) : NULL;
    Py_XDECREF(frame);
    return found;
}

size_t cunei_frames_list_near(const void *frames[CUNEI_FRAMES_NEAR])
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    size_t count = 0;

    for (; frame && count < CUNEI_FRAMES_NEAR; frame = cunei_frames_back(frame))
        frames[count++] = cunei_frame_of(frame);
    Py_XDECREF(frame);
    return count;
}

void cunei_frames_visit_all(void (*visit)(void *context, PyCodeObject *code,
                                          PyObject *globals),
                            void *context)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());

    for (; thread; thread = PyThreadState_Next(thread)) {
        PyFrameObject *frame = PyThreadState_GetFrame(thread);
        for (; frame; frame = cunei_frames_back(frame)) {
            PyCodeObject *code = PyFrame_GetCode(frame);
            PyObject *globals = PyFrame_GetGlobals(frame);
            visit(context, code, globals);
            Py_XDECREF(globals);
            Py_DECREF(code);
        }
    }
}
