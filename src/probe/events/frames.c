// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/frames.h"

#include "probe/code/code.h"
#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/events/c_call.h"
#include "probe/user/region.h"

/*
 * A chain of recursion is counted this far: at 33 ns a frame it must not make the
 * unwinding of a deep recursion quadratic.
 */
#define RUN_MAX 64

static PyFrameObject *step_back(PyFrameObject *frame)
{
    PyFrameObject *back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    return back;
}

/*
 * The frame's word, made at first sight; 0 where it could not be had, or where the
 * frame is not running: it rests, or a signal's handler runs before its start.
 */
static uint64_t word_of(PyFrameObject *frame, bool is_top)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    bool rests =
        is_top ? cunei_frame_top_rests(frame, code)
               : cunei_frame_begins(frame, code) || cunei_frame_rests(frame, code);
    uint64_t word = rests ? 0 : cunei_code_word(code);

    if (word == 0 && !rests) {
        PyObject *globals = PyFrame_GetGlobals(frame);
        word = cunei_code_resolve(code, globals);
        Py_XDECREF(globals);
    }
    Py_DECREF(code);
    return word;
}

/* The regions that stand above a frame; NULL: those that are left. */
static size_t put_regions(struct cunei_region_walk *regions, const void *frame,
                          uint32_t *functions, size_t count, size_t max)
{
    uint32_t id;

    while (count < max && (id = cunei_region_next(regions, frame)))
        functions[count++] = id;
    return count;
}

/* Consumes the frame; `skip`: it is not open.  `depth`: how many there are, or 0. */
static size_t walk(PyFrameObject *frame, bool skip, size_t depth,
                   struct cunei_region_walk *regions, uint32_t *functions, size_t max,
                   size_t *omitted)
{
    struct cunei_c_call_walk calls = {0};
    size_t count = 0, steps = 0;
    uint32_t id;

    if (frame && skip) {
        frame = step_back(frame);
        steps++;
    }
    /*
     * No further than what is written: a frame that is looked at gets an object that
     * lives as long as the frame, and a million of them take 200 MB.
     */
    for (; frame && count < max; frame = step_back(frame), steps++) {
        while (count < max && (id = cunei_c_call_next(&calls, frame)))
            functions[count++] = id;
        count = put_regions(regions, cunei_frame_of(frame), functions, count, max);
        id = cunei_code_id(word_of(frame, steps == 0));
        if (id && count < max)
            functions[count++] = id;
    }
    if (!frame)
        count = put_regions(regions, NULL, functions, count, max);
    else
        *omitted = (depth > steps ? depth - steps : 1) + cunei_c_call_left(&calls);
    Py_XDECREF(frame);
    return count;
}

size_t cunei_frames_stack(bool top_is_open, uint32_t *functions, size_t max,
                          size_t *omitted)
{
    PyThreadState *thread = PyThreadState_Get();
    size_t depth = cunei_frame_depth(thread);
    struct cunei_region_walk regions = {0};
    bool collects = cunei_compat_hold_collections();
    size_t count = walk(PyThreadState_GetFrame(thread), !top_is_open, depth, &regions,
                        functions, max, omitted);

    cunei_compat_let_collections(collects);
    return count;
}

size_t cunei_frames_stack_of(PyFrameObject *frame, uint32_t *functions, size_t max,
                             size_t *omitted)
{
    struct cunei_region_walk regions = {0};

    return walk(frame, false, 0, &regions, functions, max, omitted);
}

uint64_t cunei_frames_run(uint32_t function)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    struct cunei_c_call_walk calls = {0};
    uint64_t run = 0;
    unsigned steps = 0;

    for (; frame && steps < RUN_MAX; frame = step_back(frame), steps++) {
        uint64_t word = word_of(frame, steps == 0);
        if (cunei_c_call_next(&calls, frame))
            break;
        if (word == 0 || word & CUNEI_CODE_OFF)
            continue;
        if (cunei_code_id(word) != function)
            break;
        run++;
    }
    Py_XDECREF(frame);
    return steps < RUN_MAX ? run : 0;
}

bool cunei_frames_top_is_open(void)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    PyCodeObject *code = frame ? PyFrame_GetCode(frame) : NULL;
    bool is_open = !frame || !cunei_frame_begins(frame, code);

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

/* Whether it is one to be heard of; then it is, from now on. */
static bool hear(PyFrameObject *frame, bool generating)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *globals = PyFrame_GetGlobals(frame);
    bool is_passed = generating
                         ? code->co_flags & (CO_GENERATOR | CO_ASYNC_GENERATOR) &&
                               is_around_block(frame)
                         : code->co_flags & CUNEI_GENERATES;
    bool is_recorded = !is_passed && cunei_code_hear_regions(code, globals);

    Py_XDECREF(globals);
    Py_DECREF(code);
    return is_recorded;
}

const void *cunei_frames_hear(bool callers, bool generating)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    unsigned steps = 0;

    if (callers && frame)
        frame = step_back(frame);
    while (frame && steps < CUNEI_FRAMES_NEAR && !hear(frame, generating)) {
        frame = step_back(frame);
        steps++;
    }
    const void *found =
        frame && steps < CUNEI_FRAMES_NEAR ? cunei_frame_of(frame) : NULL;
    Py_XDECREF(frame);
    return found;
}

size_t cunei_frames_near(const void *frames[CUNEI_FRAMES_NEAR])
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    size_t count = 0;

    for (; frame && count < CUNEI_FRAMES_NEAR; frame = step_back(frame))
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
        for (; frame; frame = step_back(frame)) {
            PyCodeObject *code = PyFrame_GetCode(frame);
            PyObject *globals = PyFrame_GetGlobals(frame);
            visit(context, code, globals);
            Py_XDECREF(globals);
            Py_DECREF(code);
        }
    }
}
