// SPDX-License-Identifier: MIT
/*
 * Calls of C functions before CPython 3.12: the C hook that sys.setprofile has, in each
 * thread.
 *
 * It is put in place past the functions for it: those are heard by audit hooks, and may
 * be forbidden by them.  A profile function of the program's own stays: sys.getprofile
 * says what it is, and ours hands every event on to it.  If it comes later, it has the
 * hook to itself until its thread enters the next Python function.
 *
 *     begin   the hook is in all threads
 *     keep    a thread enters a Python function: there may be none in it
 *     end     it is gone, or goes with the thread's next event
 *
 * Needs the GIL.
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_C_CALL_HOOK_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_C_CALL_HOOK_H

#include <Python.h>

#include <frameobject.h>
#include <stdbool.h>

void cunei_c_call_hook_begin(void);
void cunei_c_call_hook_end(void);

/* The hook, without and with another that it hands on to: only to be compared. */
int cunei_c_call_hook_alone(PyObject *object, PyFrameObject *frame, int what,
                            PyObject *argument);
int cunei_c_call_hook_chained(PyObject *object, PyFrameObject *frame, int what,
                              PyObject *argument);

/* Put it in the calling thread's place. */
void cunei_c_call_hook_put(PyThreadState *thread);

static inline void cunei_c_call_hook_ensure(PyThreadState *thread)
{
    if (thread->c_profilefunc != cunei_c_call_hook_alone &&
        thread->c_profilefunc != cunei_c_call_hook_chained)
        cunei_c_call_hook_put(thread);
}

#endif
