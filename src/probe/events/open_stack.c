// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/open_stack.h"

#include "probe/code/code.h"
#include "probe/code/frames.h"
#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/events/c_call.h"
#include "probe/user/region_walk.h"

/*
 * Recursion is counted up to this depth: at 33 ns a frame, unwinding a deep recursion
 * must not become quadratic.
 */
#define RUN_MAX 64

/* Add the regions above a frame; NULL: the rest. */
static size_t put_regions(struct cunei_region_walk *regions, const void *frame,
                          uint32_t *functions, size_t count, size_t max)
{
    uint32_t id;

    while (count < max && (id = cunei_region_next(regions, frame)))
        functions[count++] = id;
    return count;
}

/* Consumes the frame; `skip`: it is not open.  `depth`: the number of frames, or 0. */
static size_t walk(PyFrameObject *frame, bool skip, size_t depth,
                   struct cunei_region_walk *regions, uint32_t *functions, size_t max,
                   size_t *omitted)
{
    struct cunei_c_call_walk calls = {0};
    size_t count = 0, steps = 0;
    uint32_t id;

    if (frame && skip) {
        frame = cunei_frames_back(frame);
        steps++;
    }
    /*
     * Stop when `functions` is full: reading a frame creates an object that lives as
     * long as the frame, and a million of them take 200 MB.
     */
    for (; frame && count < max; frame = cunei_frames_back(frame), steps++) {
        while (count < max && (id = cunei_c_call_next(&calls, frame)))
            functions[count++] = id;
        count = put_regions(regions, cunei_frame_of(frame), functions, count, max);
        id = cunei_code_id(cunei_frames_tag(frame, steps == 0));
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

size_t cunei_open_stack(bool top_is_open, uint32_t *functions, size_t max,
                        size_t *omitted)
{
    PyThreadState *thread = PyThreadState_Get();
    size_t depth = cunei_frame_depth(thread);
    struct cunei_region_walk regions = {0};
    bool collects = cunei_compat_hold_collections();
    size_t count = walk(PyThreadState_GetFrame(thread), !top_is_open, depth, &regions,
                        functions, max, omitted);

    cunei_compat_release_collections(collects);
    return count;
}

size_t cunei_open_stack_of(PyFrameObject *frame, uint32_t *functions, size_t max,
                           size_t *omitted)
{
    struct cunei_region_walk regions = {0};

    return walk(frame, false, 0, &regions, functions, max, omitted);
}

uint64_t cunei_open_stack_run(uint32_t function)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    struct cunei_c_call_walk calls = {0};
    uint64_t run = 0;
    unsigned steps = 0;

    for (; frame && steps < RUN_MAX; frame = cunei_frames_back(frame), steps++) {
        uint64_t tag = cunei_frames_tag(frame, steps == 0);
        if (cunei_c_call_next(&calls, frame))
            break;
        if (tag == 0 || tag & CUNEI_CODE_OFF)
            continue;
        if (cunei_code_id(tag) != function)
            break;
        run++;
    }
    Py_XDECREF(frame);
    return steps < RUN_MAX ? run : 0;
}
