// SPDX-License-Identifier: MIT
/*
 * The slow path of the frame evaluator: a frame is about to run, or has just run, and a
 * recording is on.  A pending exception stays set.
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_FRAME_EVENT_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_FRAME_EVENT_H

#include <Python.h>

#include "probe/core/compat.h"
#include "wire/event.h"

/* `result` is what the frame returns or yields; NULL: it begins, or resumes. */
__attribute__((cold)) void cunei_frame_event_record(PyThreadState *thread,
                                                    cunei_compat_311_frame *frame,
                                                    enum cunei_phase phase,
                                                    PyObject *result);

/* An exception ends the frame, recorded or not. */
__attribute__((cold)) void cunei_frame_event_record_unwind(
    PyThreadState *thread, cunei_compat_311_frame *frame);

/*
 * The frame has ended (`result` NULL: by an exception), or was suspended, but began in
 * another recording.  open_frames.h records that, unless the frame was in a greenlet
 * that did not run when this recording began.
 */
__attribute__((cold)) void cunei_frame_event_record_older(PyThreadState *thread,
                                                          cunei_compat_311_frame *frame,
                                                          PyObject *result);

/* Another tool had the hook when the frame's last call of a C function returned. */
__attribute__((cold)) void cunei_frame_event_end_c_calls(PyThreadState *thread,
                                                         cunei_compat_311_frame *frame);

#endif
