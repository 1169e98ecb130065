// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/evaluator/line_hook.h"

#include "probe/code/code_tag.h"
#include "probe/core/code_extra.h"
#include "probe/events/line_event.h"
#include "probe/sources/evaluator/open_frames.h"
#include "probe/sources/evaluator/replaced_hook.h"

static Py_ssize_t extra_index = -1;
static bool extra_inline;
static bool is_recording;

/* The calling thread's own. */
static _Thread_local struct cunei_replaced_hook replaced
    __attribute__((tls_model("initial-exec")));

void cunei_line_hook_init(Py_ssize_t index, bool is_inline)
{
    extra_index = index;
    extra_inline = is_inline;
    cunei_line_event_init(index, is_inline, NULL); /* nothing is switched off here */
}

static uint64_t tag_of(PyCodeObject *code)
{
    return extra_inline ? cunei_code_extra_inline(code, extra_index)
                        : cunei_code_extra_call(code, extra_index);
}

void cunei_line_hook_set(PyThreadState *thread, bool is_on, bool was_traced)
{
    if (is_on && !cunei_line_hook_is_on(thread)) {
        replaced.function = thread->c_tracefunc;
        cunei_compat_311_set_trace(thread, replaced.function ? cunei_line_hook_chained
                                                             : cunei_line_hook_alone);
    } else if (!is_on && cunei_line_hook_is_on(thread)) {
        cunei_compat_311_set_trace(thread, replaced.function);
        replaced.function = NULL;
    }
    if (!thread->tracing)
        cunei_compat_311_set_tracing(
            thread,
            thread->c_tracefunc ||
                (thread->c_profilefunc &&
                 (was_traced || thread->c_profilefunc != cunei_open_frames_hook)));
}

static inline void record(PyFrameObject *frame, int what)
{
    if (what == PyTrace_LINE && is_recording)
        cunei_line_event_record(cunei_compat_311_code(frame),
                                cunei_compat_311_line(frame));
}

int cunei_line_hook_alone(PyObject *object, PyFrameObject *frame, int what,
                          PyObject *argument)
{
    (void)object;
    (void)argument;
    record(frame, what);
    return 0;
}

int cunei_line_hook_chained(PyObject *object, PyFrameObject *frame, int what,
                            PyObject *argument)
{
    PyThreadState *thread = PyThreadState_Get();

    if (replaced.is_called)
        return 0;
    record(frame, what);
    int rc = cunei_replaced_hook_call(&replaced, object, frame, what, argument);
    /* It may have set another, or none. */
    if (is_recording != cunei_line_hook_is_on(thread))
        cunei_line_hook_set(thread, is_recording, true);
    return rc;
}

/* What has just begun is switched by the evaluator. */
void cunei_line_hook_add_code(PyCodeObject *code)
{
    PyThreadState *own = PyThreadState_Get();
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Main());

    for (; thread; thread = PyThreadState_Next(thread)) {
        const cunei_compat_311_frame *top = cunei_compat_311_top(thread);
        if (!top || top->f_code != code || cunei_compat_311_is_opening(top))
            continue;
        /* What another thread has can be replaced by that one only. */
        if (thread == own)
            cunei_line_hook_set(thread, true, true);
        else if (!thread->c_tracefunc) {
            cunei_compat_311_set_trace(thread, cunei_line_hook_alone);
            cunei_compat_311_update_tracing(thread);
        }
    }
}

void cunei_line_hook_resume(PyThreadState *thread, cunei_compat_311_frame *frame)
{
    bool is_lined = is_recording && tag_of(frame->f_code) & CUNEI_CODE_LINED;

    if (is_lined != cunei_line_hook_is_on(thread))
        cunei_line_hook_set(thread, is_lined, true);
}

void cunei_line_hook_begin(void)
{
    is_recording = true;
}

void cunei_line_hook_end(void)
{
    PyThreadState *own = PyThreadState_Get();

    is_recording = false;
    if (cunei_line_hook_is_on(own))
        cunei_line_hook_set(own, false, true);
    cunei_compat_311_replace_trace(cunei_line_hook_alone, NULL);
}
