// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/frameevent.h"

#include <stdbool.h>
#include <stdint.h>

#include "probe/ccall.h"
#include "probe/code.h"
#include "probe/event.h"
#include "probe/hot.h"
#include "probe/lineevent.h"
#include "probe/open.h"
#include "probe/passing.h"
#include "probe/process.h"
#include "rt/recorder.h"

void cunei_frameevent_tell(PyThreadState *thread, cunei_older_frame *frame,
                           enum cunei_phase phase, PyObject *result)
{
    PyCodeObject *code = frame->f_code;
    /* There is one where it is thrown into a generator. */
    struct cunei_compat_error error = cunei_compat_put_aside();
    bool begins = phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME;
    cunei_process_event(code); /* another recording may begin with this event */
    uint32_t before = cunei_recorder_begin_event();
    int offset = cunei_older_offset(frame); /* as yet: opening may move it */
    /* Who goes on is the frame below, or this one. */
    if (begins)
        cunei_passing_landed();
    struct cunei_older_pushed pushed = cunei_older_push(thread, frame);
    struct cunei_older_opening opening = {.frame = frame};
    if (begins)
        cunei_older_open(&opening);
    else
        cunei_passing_landed();
    uint64_t word = cunei_event_word(code);
    if (word && !(word & CUNEI_CODE_OFF))
        cunei_event_write(code, word, phase, result);
    if (phase == CUNEI_PHASE_RESUME && cunei_code_flags(word) & CUNEI_CODE_LINES)
        cunei_lineevent_resume(code, word, offset);
    if (begins)
        cunei_older_close(&opening);
    cunei_recorder_end_event(before);
    cunei_older_pop(thread, &pushed);
    cunei_compat_put_back(&error);
}

void cunei_frameevent_tell_unwind(PyThreadState *thread, cunei_older_frame *frame)
{
    PyCodeObject *code = frame->f_code;
    struct cunei_compat_error error = cunei_compat_put_aside();
    struct cunei_older_pushed pushed = cunei_older_push(thread, frame);
    const cunei_older_frame *outer = cunei_older_set_ending(frame);

    cunei_process_event(code);
    uint32_t before = cunei_recorder_begin_event();
    uint64_t word = cunei_event_word(code);
    cunei_passing_unwound(frame, pushed.below, word, &error);
    if (!(word & CUNEI_CODE_OFF))
        cunei_event_unwind(code, word, error.type, NULL, NULL);
    cunei_passing_wait();
    cunei_recorder_end_event(before);
    (void)cunei_older_set_ending(outer);
    cunei_older_pop(thread, &pushed);
    cunei_compat_put_back(&error);
}

void cunei_frameevent_leave_calls(PyThreadState *thread, cunei_older_frame *frame)
{
    struct cunei_older_pushed pushed = cunei_older_push(thread, frame);

    cunei_ccall_close(frame);
    cunei_older_pop(thread, &pushed);
}

void cunei_frameevent_tell_older(PyThreadState *thread, cunei_older_frame *frame,
                                 PyObject *result)
{
    bool yields =
        frame->f_code->co_flags & CUNEI_GENERATES && cunei_older_is_suspended(frame);

    if (cunei_open_has_told(frame))
        return;
    if (result)
        cunei_frameevent_tell(thread, frame,
                              yields ? CUNEI_PHASE_YIELD : CUNEI_PHASE_LEAVE, result);
    else
        cunei_frameevent_tell_unwind(thread, frame);
}
