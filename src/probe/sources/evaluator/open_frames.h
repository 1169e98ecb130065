// SPDX-License-Identifier: MIT
/*
 * Frames that were open when a recording began, before CPython 3.12: the frame
 * evaluator is not called when they end.
 *
 * The C hook of sys.setprofile is.  It is set in threads that have such frames and no
 * other hook, and switched off while anything runs that such a frame has called: the
 * evaluator records that, at no extra cost.
 *
 *     begin    the frames are those that are open now
 *     left     the hook was notified that a frame ends: records it, if it is one of
 * them catch_up another tool has had the hook: records what has ended meanwhile end
 * forget them
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

/* Whether the frame's end has just been recorded; ask once, when it has ended. */
bool cunei_open_frames_has_recorded(const cunei_compat_311_frame *frame);

/*
 * The thread enters a function, and another tool has its hook, or had: record the
 * frames that have ended meanwhile, and set our hook again where there is none. Returns
 * whether to call this at the next function again.
 */
bool cunei_open_frames_catch_up(PyThreadState *thread);

/* Our hook, to compare with. */
int cunei_open_frames_hook(PyObject *object, PyFrameObject *frame, int what,
                           PyObject *argument);

/* Switch the hook off for what runs next; true: switch it on again afterwards. */
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
