// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/evaluator/stack_segment_312.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "probe/core/frame.h"
#include "probe/core/hot.h"
#include "probe/core/stack_segment.h"
#include "probe/events/greenlet.h"

/* Frames below this are known to be far from the end of a C stack. */
#define DEEP 500

/* The calling thread's stack is known to be none of the smallest. */
static __attribute__((tls_model("initial-exec"))) _Thread_local bool has_room;

struct call {
    PyThreadState *thread;
    struct cunei_frame_312_frame *frame;
    int throws;
    _PyFrameEvalFunction evaluator;
    PyObject *result;
};

#if PY_VERSION_HEX >= 0x030e0000
/* The interpreter goes by the address to find out how much of a stack is left. */
typedef int set_protection(PyThreadState *thread, void *start, size_t size);
typedef void reset_protection(PyThreadState *thread);

static struct {
    bool is_known;
    set_protection *set;
    reset_protection *reset;
} protection;

/* Whether it can be told of another stack, which 3.14.0 cannot. */
static bool can_move(void)
{
    if (!protection.is_known) {
        protection.set = (set_protection *)(uintptr_t)dlsym(
            RTLD_DEFAULT, "PyUnstable_ThreadState_SetStackProtection");
        protection.reset = (reset_protection *)(uintptr_t)dlsym(
            RTLD_DEFAULT, "PyUnstable_ThreadState_ResetStackProtection");
        protection.is_known = true;
    }
    return protection.set && protection.reset;
}

static void protect(PyThreadState *thread)
{
    size_t size;
    void *segment = cunei_stack_segment_segment(&size);

    if (!segment)
        protection.reset(thread);
    else if (protection.set(thread, segment, size) < 0)
        PyErr_Clear();
}

static PyObject *evaluate(PyThreadState *thread, struct cunei_frame_312_frame *frame,
                          int throws, _PyFrameEvalFunction evaluator)
{
    return evaluator(thread, (struct _PyInterpreterFrame *)frame, throws);
}
#else
/* As much as a run of the interpreter takes of it. */
#define UNITS 2

static bool can_move(void)
{
    return true;
}

static void protect(PyThreadState *thread)
{
    (void)thread;
}

static PyObject *evaluate(PyThreadState *thread, struct cunei_frame_312_frame *frame,
                          int throws, _PyFrameEvalFunction evaluator)
{
    thread->c_recursion_remaining += UNITS;
    PyObject *result = evaluator(thread, (struct _PyInterpreterFrame *)frame, throws);
    thread->c_recursion_remaining -= UNITS;
    return result;
}
#endif

static void run_moved(void *context)
{
    struct call *call = context;

    protect(call->thread);
    call->result = evaluate(call->thread, call->frame, call->throws, call->evaluator);
}

static __attribute__((noinline)) PyObject *run_deep(PyThreadState *thread,
                                                    struct cunei_frame_312_frame *frame,
                                                    int throws,
                                                    _PyFrameEvalFunction evaluator)
{
    struct call call = {thread, frame, throws, evaluator, NULL};

    has_room = !cunei_stack_segment_is_small();
    if (has_room && cunei_frame_depth(thread) < DEEP)
        return evaluate(thread, frame, throws, evaluator);
    /* greenlet copies stacks: what is on it must be in its place. */
    if (cunei_greenlet_is_loaded() || !can_move())
        return evaluator(thread, (struct _PyInterpreterFrame *)frame, throws);
    if (!cunei_stack_segment_is_at_end())
        return evaluate(thread, frame, throws, evaluator);
    if (!cunei_stack_segment_run(run_moved, &call))
        return evaluator(thread, (struct _PyInterpreterFrame *)frame, throws);
    protect(thread);
    return call.result;
}

PyObject *cunei_laterdeep_run(PyThreadState *thread,
                              struct cunei_frame_312_frame *frame, int throws,
                              _PyFrameEvalFunction evaluator)
{
    if (CUNEI_LIKELY(has_room && cunei_frame_depth(thread) < DEEP))
        return evaluate(thread, frame, throws, evaluator);
    return run_deep(thread, frame, throws, evaluator);
}
