// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/evaluator/c_call_hook.h"

#include "probe/core/compat.h"
#include "probe/events/c_call.h"
#include "probe/sources/evaluator/open_frames.h"
#include "probe/sources/evaluator/replaced_hook.h"

static bool is_on;

/* The calling thread's own. */
static _Thread_local struct cunei_replaced_hook replaced
    __attribute__((tls_model("initial-exec")));

static void take_away(PyThreadState *thread)
{
    cunei_compat_311_set_profile(thread, replaced.function);
    replaced.function = NULL;
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
    int rc = cunei_replaced_hook_call(&replaced, object, frame, what, argument);
    /* A call that is refused is not made, and will not return. */
    if (is_on && rc != 0 && what == PyTrace_C_CALL)
        record(frame, PyTrace_C_EXCEPTION, argument);
    if (!is_on && thread->c_profilefunc == cunei_c_call_hook_chained)
        take_away(thread);
    return rc;
}

void cunei_c_call_hook_put(PyThreadState *thread)
{
    replaced.function = thread->c_profilefunc;
    cunei_compat_311_set_profile(thread, replaced.function ? cunei_c_call_hook_chained
                                                           : cunei_c_call_hook_alone);
    (void)cunei_open_frames_catch_up(thread);
}

/* A hook of another thread is replaced by that thread, which stores the old hook in a
 * thread-local variable. */
void cunei_c_call_hook_begin(void)
{
    is_on = true;
    cunei_c_call_hook_ensure(PyThreadState_Get());
    cunei_compat_311_replace_profile(NULL, cunei_c_call_hook_alone);
}

void cunei_c_call_hook_end(void)
{
    PyThreadState *own = PyThreadState_Get();

    is_on = false;
    if (own->c_profilefunc == cunei_c_call_hook_chained)
        take_away(own);
    cunei_compat_311_replace_profile(cunei_c_call_hook_alone, NULL);
}
