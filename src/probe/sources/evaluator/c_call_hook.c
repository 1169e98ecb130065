// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/evaluator/c_call_hook.h"

#include "probe/core/compat.h"
#include "probe/events/c_call.h"
#include "probe/sources/evaluator/open_frames.h"

static bool is_on;

/* The calling thread's own hook, which ours has replaced; NULL: none. */
static _Thread_local Py_tracefunc replaced __attribute__((tls_model("initial-exec")));

/* It is just being called: it may be a tool's that hands on to us in its turn. */
static _Thread_local bool is_inside __attribute__((tls_model("initial-exec")));

/* Hand on to the program's own; its exceptions are the program's. */
static int hand_on(PyObject *object, PyFrameObject *frame, int what, PyObject *argument)
{
    Py_tracefunc function = replaced;

    if (!function || is_inside)
        return 0;
    is_inside = true;
    int rc = function(object, frame, what, argument);
    is_inside = false;
    return rc;
}

static void take_away(PyThreadState *thread)
{
    thread->c_profilefunc = replaced;
    replaced = NULL;
    cunei_compat_311_update_tracing(thread);
}

static void record(PyFrameObject *frame, int what, PyObject *argument)
{
    if (what == PyTrace_C_CALL)
        cunei_c_call_enter(cunei_compat_311_code(frame), argument);
    else if (what == PyTrace_C_RETURN || what == PyTrace_C_EXCEPTION)
        cunei_c_call_leave(cunei_compat_311_code(frame), argument,
                           what == PyTrace_C_EXCEPTION);
    else if (what == PyTrace_RETURN)
        cunei_open_frames_left(frame, argument);
}

int cunei_c_call_hook_alone(PyObject *object, PyFrameObject *frame, int what,
                            PyObject *argument)
{
    (void)object;
    if (is_on)
        record(frame, what, argument);
    return 0;
}

int cunei_c_call_hook_chained(PyObject *object, PyFrameObject *frame, int what,
                              PyObject *argument)
{
    PyThreadState *thread = PyThreadState_Get();

    if (is_on)
        record(frame, what, argument);
    int rc = hand_on(object, frame, what, argument);
    /* A call that is refused is not made, and will not return. */
    if (is_on && rc != 0 && what == PyTrace_C_CALL)
        record(frame, PyTrace_C_EXCEPTION, argument);
    if (!is_on && thread->c_profilefunc == cunei_c_call_hook_chained)
        take_away(thread);
    return rc;
}

void cunei_c_call_hook_put(PyThreadState *thread)
{
    replaced = thread->c_profilefunc;
    thread->c_profilefunc =
        replaced ? cunei_c_call_hook_chained : cunei_c_call_hook_alone;
    cunei_compat_311_update_tracing(thread);
    (void)cunei_open_frames_catch_up(thread);
}

/* A hook of another thread is replaced by that thread, which stores the old hook in a
 * thread-local variable. */
void cunei_c_call_hook_begin(void)
{
    PyThreadState *own = PyThreadState_Get();
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Main());

    is_on = true;
    cunei_c_call_hook_ensure(own);
    for (; thread; thread = PyThreadState_Next(thread)) {
        if (thread->c_profilefunc)
            continue;
        thread->c_profilefunc = cunei_c_call_hook_alone;
        cunei_compat_311_update_tracing(thread);
    }
}

void cunei_c_call_hook_end(void)
{
    PyThreadState *own = PyThreadState_Get();
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Main());

    is_on = false;
    if (own->c_profilefunc == cunei_c_call_hook_chained)
        take_away(own);
    for (; thread; thread = PyThreadState_Next(thread)) {
        if (thread->c_profilefunc != cunei_c_call_hook_alone)
            continue;
        thread->c_profilefunc = NULL;
        cunei_compat_311_update_tracing(thread);
    }
}
