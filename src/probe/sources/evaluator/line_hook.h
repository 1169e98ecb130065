// SPDX-License-Identifier: MIT
/*
 * Lines before CPython 3.12: the C hook that sys.settrace has, in each thread.
 *
 * It is called for all frames that run while it is set.  So it is set only while a
 * frame whose lines are recorded is on top, and removed while its callees run.  Like
 * that of probe/sources/evaluator/c_call_hook.h it is written into the thread's state.
 * A trace function of the program stays: sys.gettrace returns it, and our hook calls it
 * for every event.  If the program sets one later, it replaces ours until the thread
 * enters the next such frame, or returns to one.
 *
 *     init     where the tags of code objects are (see code.h)
 *     begin    a recording has lines
 *     set      around a frame: it is switched
 *     add_code lines of this code are recorded: it may be on top already
 *     resume   a frame that began before the recording did is on top again
 *     end      remove it, now or with the thread's next event
 *
 * Needs the GIL.
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_LINE_HOOK_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_LINE_HOOK_H

#include <Python.h>

#include <frameobject.h>
#include <stdbool.h>

#include "probe/core/compat.h"

void cunei_line_hook_init(Py_ssize_t index, bool is_inline);
void cunei_line_hook_begin(void);
void cunei_line_hook_end(void);

void cunei_line_hook_add_code(PyCodeObject *code);
void cunei_line_hook_resume(PyThreadState *thread, cunei_compat_311_frame *frame);

/* The hook, alone and with another that it calls: to compare with. */
int cunei_line_hook_alone(PyObject *object, PyFrameObject *frame, int what,
                          PyObject *argument);
int cunei_line_hook_chained(PyObject *object, PyFrameObject *frame, int what,
                            PyObject *argument);

/*
 * Set it in the calling thread, or remove it.  `was_traced`: without it, the hook of
 * open_frames.h is called.
 */
void cunei_line_hook_set(PyThreadState *thread, bool is_on, bool was_traced);

static inline bool cunei_line_hook_is_on(const PyThreadState *thread)
{
    /* Mostly there is none, and each of the others is one more load. */
    return thread->c_tracefunc && (thread->c_tracefunc == cunei_line_hook_alone ||
                                   thread->c_tracefunc == cunei_line_hook_chained);
}

#endif
