// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/hooks/hook_event.h"

#include "probe/code/code.h"
#include "probe/core/code_extra.h"
#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/core/hot.h"
#include "probe/events/function_event.h"
#include "probe/events/line_event.h"
#include "probe/events/process.h"
#include "probe/events/task.h"
#include "probe/sources/hooks/exception_trace_hook.h"
#include "probe/sources/hooks/hook_frame.h"
#include "probe/sources/hooks/missed_resume.h"
#include "rt/clock.h"
#include "rt/recorder.h"
#include "wire/event.h"

static Py_ssize_t extra_index;
static bool extra_inline;
static bool has_counter;

/* What was raised last in the calling thread, and where: both are only compared. */
static _Thread_local struct {
    const void *frame;
    const void *type;
} raised __attribute__((tls_model("initial-exec")));

void cunei_hook_event_init(Py_ssize_t index, bool is_inline)
{
    extra_index = index;
    extra_inline = is_inline;
    has_counter = cunei_clock_has_counter(NULL);
}

/* Everything but the hot path: `result` is what the frame returns or yields. */
static __attribute__((noinline, cold)) void record_cold(PyFrameObject *frame,
                                                        PyCodeObject *code,
                                                        enum cunei_phase phase,
                                                        PyObject *result)
{
    bool ends = phase == CUNEI_PHASE_LEAVE || phase == CUNEI_PHASE_YIELD;
    const void *outer = ends ? cunei_frame_note_ending(frame) : NULL;
    struct cunei_cold_event event = cunei_process_begin_event(code);
    cunei_exception_trace_hook_caught();
    uint64_t tag = cunei_function_event_tag(code);
    if (tag && !(tag & CUNEI_CODE_OFF))
        cunei_function_event_write(code, tag, phase, result);
    if (phase == CUNEI_PHASE_RESUME && cunei_code_flags(tag) & CUNEI_CODE_LINES)
        cunei_line_event_resume(code, tag, PyFrame_GetLasti(frame));
    cunei_cold_event_end(&event);
    if (ends)
        cunei_frame_note_ended(outer);
}

static __attribute__((noinline, cold)) void record_unwind(const struct cunei_hook *hook,
                                                          PyFrameObject *frame,
                                                          PyCodeObject *code)
{
    const void *outer = cunei_frame_note_ending(frame);
    struct cunei_cold_event event = cunei_process_begin_event(code);
    uint64_t tag = cunei_function_event_tag(code);
    if (hook->kind == CUNEI_HOOK_TRACE)
        cunei_exception_trace_hook_unwound(code);
    if (!(tag & CUNEI_CODE_OFF))
        cunei_function_event_unwind(
            code, tag,
            raised.frame == cunei_frame_running(PyThreadState_Get()) ? raised.type
                                                                     : NULL,
            NULL, NULL);
    if (hook->kind == CUNEI_HOOK_TRACE)
        cunei_exception_trace_hook_left();
    cunei_cold_event_end(&event);
    cunei_frame_note_ended(outer);
}

static inline uint64_t tag_of(PyCodeObject *code)
{
    return extra_inline ? cunei_code_extra_inline(code, extra_index)
                        : cunei_code_tag(code);
}

/* Coroutines are cold for their tasks only: most of their events go a shorter way. */
static bool is_put(uint64_t tag, enum cunei_phase phase)
{
    uint32_t flags = 0;

    uint32_t id = tag & CUNEI_CODE_COLD ? cunei_code_cold(tag, &flags) : 0;
    return flags == CUNEI_CODE_COROUTINE && cunei_task_put(id, phase);
}

static inline void record(PyFrameObject *frame, PyCodeObject *code,
                          enum cunei_phase phase, PyObject *result)
{
    uint64_t tag = tag_of(code);

    if (!CUNEI_LIKELY(cunei_hot_put(tag, phase, has_counter)) &&
        !(tag & CUNEI_CODE_OFF) && !is_put(tag, phase))
        record_cold(frame, code, phase, result);
}

#if CUNEI_MISSED_RESUME_EXISTS
_Thread_local struct cunei_missed_resume cunei_missed_resume_own;

static __attribute__((noinline, cold)) void record_missed_resume(
    cunei_compat_311_frame *frame)
{
    PyThreadState *thread = PyThreadState_Get();
    cunei_compat_311_frame *top = thread->cframe->current_frame;
    bool collects = cunei_compat_hold_collections();

    thread->cframe->current_frame = frame;
    PyFrameObject *object = PyThreadState_GetFrame(thread);
    if (object)
        record(object, frame->f_code, CUNEI_PHASE_RESUME, NULL);
    Py_XDECREF(object);
    thread->cframe->current_frame = top;
    cunei_compat_release_collections(collects);
}

static inline void check_resume(const struct cunei_hook *hook,
                                cunei_compat_311_frame *frame)
{
    if (!CUNEI_LIKELY(!cunei_missed_resume_is(frame, hook->recording)))
        record_missed_resume(frame);
}

void cunei_hook_event_check_resume(const struct cunei_hook *hook, PyFrameObject *frame)
{
    check_resume(hook, cunei_compat_311_frame_of(frame));
    cunei_missed_resume_expect(cunei_compat_311_frame_of(frame), hook->recording);
}

static inline void begin_frame(const struct cunei_hook *hook, PyFrameObject *frame)
{
    cunei_compat_311_frame *own = cunei_compat_311_frame_of(frame);

    check_resume(hook, cunei_missed_resume_caller(own));
    cunei_missed_resume_expect(own, hook->recording);
}

static inline void end_frame(const struct cunei_hook *hook, PyFrameObject *frame)
{
    cunei_compat_311_frame *own = cunei_compat_311_frame_of(frame);

    check_resume(hook, own);
    cunei_missed_resume_expect(cunei_missed_resume_caller(own), hook->recording);
}
#else
void cunei_hook_event_check_resume(const struct cunei_hook *hook, PyFrameObject *frame)
{
    (void)hook;
    (void)frame;
}

static inline void begin_frame(const struct cunei_hook *hook, PyFrameObject *frame)
{
    (void)hook;
    (void)frame;
}

static inline void end_frame(const struct cunei_hook *hook, PyFrameObject *frame)
{
    (void)hook;
    (void)frame;
}
#endif

void cunei_hook_event_enter(struct cunei_hook *hook, PyFrameObject *frame)
{
    PyCodeObject *code = cunei_hook_frame_code(frame);

    if (!CUNEI_LIKELY(hook->is_recording) && !cunei_hook_check_main(hook, code))
        return;
    begin_frame(hook, frame);
    record(frame, code,
           code->co_flags & CUNEI_GENERATES && !cunei_hook_frame_begins(frame, code)
               ? CUNEI_PHASE_RESUME
               : CUNEI_PHASE_ENTER,
           NULL);
}

/* Whether a frame ends by an exception. */
static inline bool is_unwound(PyFrameObject *frame, PyCodeObject *code,
                              const PyObject *result)
{
    return !result || (CUNEI_HOOK_FRAME_UNWINDS_BY_NONE && result == Py_None &&
                       cunei_hook_frame_unwinds(frame, code));
}

void cunei_hook_event_leave(struct cunei_hook *hook, PyFrameObject *frame,
                            PyObject *result)
{
    PyCodeObject *code = cunei_hook_frame_code(frame);

    end_frame(hook, frame);
    if (!CUNEI_LIKELY(!is_unwound(frame, code, result)))
        record_unwind(hook, frame, code);
    else
        record(frame, code,
               code->co_flags & CUNEI_GENERATES && cunei_hook_frame_yields(frame, code)
                   ? CUNEI_PHASE_YIELD
                   : CUNEI_PHASE_LEAVE,
               result);
}

void cunei_hook_event_line(const struct cunei_hook *hook, PyFrameObject *frame)
{
    cunei_hook_event_check_resume(hook, frame);
    cunei_line_event_record(cunei_hook_frame_code(frame), cunei_hook_frame_line(frame));
}

void cunei_hook_event_raise(const struct cunei_hook *hook, PyFrameObject *frame,
                            PyObject *recorded)
{
    PyCodeObject *code = cunei_hook_frame_code(frame);

    if (!recorded || !PyTuple_Check(recorded) || PyTuple_GET_SIZE(recorded) < 3)
        return;
    cunei_hook_event_check_resume(hook, frame);
    cunei_process_event(code);
    uint32_t before = cunei_recorder_begin_event();
    raised.frame = cunei_frame_running(PyThreadState_Get());
    raised.type = PyTuple_GET_ITEM(recorded, 0);
    cunei_exception_trace_hook_raised(frame, cunei_function_event_tag(code), recorded);
    cunei_recorder_end_event(before);
}
