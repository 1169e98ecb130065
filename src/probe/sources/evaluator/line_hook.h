// SPDX-License-Identifier: MIT
/*
 * Lines before CPython 3.12: the C hook that sys.settrace has, in each thread.
 *
 * It tells of all frames that run while it is there.  So it is there only while a frame
 * whose lines are recorded is on top, and gone while what that one has called runs.  It
 * is put in place past the functions for it, as that of
 * probe/sources/evaluator/c_call_hook.h is.  A trace function of the program's own
 * stays: sys.gettrace says what it is, and ours hands every event on to it.  If it
 * comes later, it has the hook to itself until the thread enters the next such frame,
 * or goes on in one.
 *
 *     init    where the words of code objects are (see code.h)
 *     begin   a recording has lines
 *     set     around a frame: it is switched
 *     found   lines of this code are recorded: it may be on top already
 *     goes_on a frame that began before the recording did is on top again
 *     end     it is gone, or goes with the thread's next event
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

/* The hook, without and with another that it hands on to: only to be compared. */
int cunei_line_hook_alone(PyObject *object, PyFrameObject *frame, int what,
                          PyObject *argument);
int cunei_line_hook_chained(PyObject *object, PyFrameObject *frame, int what,
                            PyObject *argument);

/*
 * Put it in the calling thread's place, or take it away.  `was_heard`: what had begun
 * before the recording is to be heard of (see open.h) if it is away.
 */
void cunei_line_hook_set(PyThreadState *thread, bool is_on, bool was_heard);

static inline bool cunei_line_hook_is_on(const PyThreadState *thread)
{
    /* Mostly there is none, and each of the others is one more load. */
    return thread->c_tracefunc && (thread->c_tracefunc == cunei_line_hook_alone ||
                                   thread->c_tracefunc == cunei_line_hook_chained);
}

#endif
