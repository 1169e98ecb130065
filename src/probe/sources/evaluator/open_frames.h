// SPDX-License-Identifier: MIT
/*
 * Frames that were open when a recording began, before CPython 3.12: an evaluator of
 * frames does not hear of their end.
 *
 * The C hook of sys.setprofile does.  It is put into threads that have such frames and
 * no hook of another's, and it is muted while anything runs that such a frame has
 * called: that is the evaluator's to tell of, and costs nothing more.
 *
 *     begin   the frames are those that are open now
 *     left    a hook was told that a frame is left: its leave is written, if it is one
 *     catch_up another's hook was told of some, or is told now
 *     end     there are none any more
 *
 * Needs the GIL.
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_OPEN_FRAMES_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_OPEN_FRAMES_H

#include <Python.h>

#include <frameobject.h>
#include <stdbool.h>

#include "probe/core/compat.h"

/* `resumed` is called when such a frame ends, with the one below it. */
void cunei_open_frames_begin(void (*resumed)(PyThreadState *thread,
                                             cunei_compat_311_frame *frame));
void cunei_open_frames_end(void);

/* `result` is what it returns or yields; NULL: an exception ends it. */
void cunei_open_frames_left(PyFrameObject *frame, PyObject *result);

/* Whether the frame's end has just been told; to be asked once, when it has ended. */
bool cunei_open_frames_has_recorded(const cunei_compat_311_frame *frame);

/*
 * The thread enters a function, and another's hook is in its place, or was: tell of
 * those that have ended meanwhile, and have our own back where there is none.  Whether
 * it has to be called at the next one, too.
 */
bool cunei_open_frames_catch_up(PyThreadState *thread);

/* Our own hook, only to be compared. */
int cunei_open_frames_hook(PyObject *object, PyFrameObject *frame, int what,
                           PyObject *argument);

/* Whether it is muted for what runs next, and has to be heard again afterwards. */
static inline bool cunei_open_frames_mute(PyThreadState *thread)
{
    if (thread->c_profilefunc != cunei_open_frames_hook || thread->c_tracefunc)
        return false;
    cunei_compat_311_set_tracing(thread, false);
    return true;
}

static inline void cunei_open_frames_unmute(PyThreadState *thread)
{
    if (thread->c_profilefunc == cunei_open_frames_hook)
        cunei_compat_311_set_tracing(thread, true);
}

#endif
