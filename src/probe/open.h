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
#ifndef CUNEI_PROBE_OPEN_H
#define CUNEI_PROBE_OPEN_H

#include <Python.h>

#include <frameobject.h>
#include <stdbool.h>

#include "probe/compat.h"

void cunei_open_begin(void);
void cunei_open_end(void);

/* `result` is what it returns or yields; NULL: an exception ends it. */
void cunei_open_left(PyFrameObject *frame, PyObject *result);

/*
 * The thread enters a function, and another's hook is in its place, or was: tell of
 * those that have ended meanwhile, and have our own back where there is none.  Whether
 * it has to be called at the next one, too.
 */
bool cunei_open_catch_up(PyThreadState *thread);

/* Our own hook, only to be compared. */
int cunei_open_hook(PyObject *object, PyFrameObject *frame, int what,
                    PyObject *argument);

/* Whether it is muted for what runs next, and has to be heard again afterwards. */
static inline bool cunei_open_mute(PyThreadState *thread)
{
    if (thread->c_profilefunc != cunei_open_hook || thread->c_tracefunc)
        return false;
    cunei_older_set_tracing(thread, false);
    return true;
}

static inline void cunei_open_unmute(PyThreadState *thread)
{
    if (thread->c_profilefunc == cunei_open_hook)
        cunei_older_set_tracing(thread, true);
}

#endif
