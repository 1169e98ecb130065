// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/evaluator/frame_event.h"

#include <stdbool.h>
#include <stdint.h>

#include "probe/code/code.h"
#include "probe/core/hot.h"
#include "probe/events/c_call.h"
#include "probe/events/exception_legacy.h"
#include "probe/events/function_event.h"
#include "probe/events/line_event.h"
#include "probe/events/process.h"
#include "probe/sources/evaluator/open_frames.h"
#include "rt/recorder.h"

void cunei_frame_event_record(PyThreadState *thread, cunei_compat_311_frame *frame,
                              enum cunei_phase phase, PyObject *result)
{
    PyCodeObject *code = frame->f_code;
    /* There is one where it is thrown into a generator. */
    struct cunei_cold_event event = cunei_process_begin_event(code);
    bool begins = phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME;
    int offset = cunei_compat_311_offset(frame); /* as yet: opening may move it */
    /* The frame below, or this one, has caught the exception. */
    if (begins)
        cunei_exception_legacy_caught();
    struct cunei_compat_311_pushed pushed = cunei_compat_311_push(thread, frame);
    struct cunei_compat_311_opening opening = {.frame = frame};
    /* One that has just yielded is part of the stack, suspended as it is by now. */
    const cunei_compat_311_frame *outer =
        cunei_compat_311_set_ending(begins ? NULL : frame);
    if (begins)
        cunei_compat_311_open(&opening);
    else
        cunei_exception_legacy_caught();
    uint64_t tag = cunei_function_event_tag(code);
    if (tag && !(tag & CUNEI_CODE_OFF))
        cunei_function_event_write(code, tag, phase, result);
    if (phase == CUNEI_PHASE_RESUME && cunei_code_flags(tag) & CUNEI_CODE_LINES)
        cunei_line_event_resume(code, tag, offset);
    if (begins)
        cunei_compat_311_close(&opening);
    (void)cunei_compat_311_set_ending(outer);
    cunei_compat_311_pop(thread, &pushed);
    cunei_cold_event_end(&event);
}

void cunei_frame_event_record_unwind(PyThreadState *thread,
                                     cunei_compat_311_frame *frame)
{
    PyCodeObject *code = frame->f_code;
    struct cunei_compat_error error = cunei_compat_put_aside();
    struct cunei_compat_311_pushed pushed = cunei_compat_311_push(thread, frame);
    const cunei_compat_311_frame *outer = cunei_compat_311_set_ending(frame);

    cunei_process_event(code);
    uint32_t before = cunei_recorder_begin_event();
    uint64_t tag = cunei_function_event_tag(code);
    cunei_exception_legacy_unwound(frame, pushed.below, tag, &error);
    if (!(tag & CUNEI_CODE_OFF))
        cunei_function_event_unwind(code, tag, error.type, NULL, NULL);
    cunei_exception_legacy_wait();
    cunei_recorder_end_event(before);
    (void)cunei_compat_311_set_ending(outer);
    cunei_compat_311_pop(thread, &pushed);
    cunei_compat_put_back(&error);
}

void cunei_frame_event_end_c_calls(PyThreadState *thread, cunei_compat_311_frame *frame)
{
    struct cunei_compat_311_pushed pushed = cunei_compat_311_push(thread, frame);

    cunei_c_call_close(frame);
    cunei_compat_311_pop(thread, &pushed);
}

void cunei_frame_event_record_older(PyThreadState *thread,
                                    cunei_compat_311_frame *frame, PyObject *result)
{
    bool yields = frame->f_code->co_flags & CUNEI_GENERATES &&
                  cunei_compat_311_is_suspended(frame);

    if (cunei_open_frames_has_recorded(frame))
        return;
    if (result)
        cunei_frame_event_record(
            thread, frame, yields ? CUNEI_PHASE_YIELD : CUNEI_PHASE_LEAVE, result);
    else
        cunei_frame_event_record_unwind(thread, frame);
}
