// SPDX-License-Identifier: MIT
/*
 * Calls of C functions before CPython 3.12: the C hook that sys.setprofile has, in each
 * thread.
 *
 * We write the hook into the thread's state: the API functions would notify audit
 * hooks, which may forbid it.  A profile function of the program stays: sys.getprofile
 * returns it, and our hook calls it for every event.  If the program sets one later, it
 * replaces ours until its thread enters the next Python function.
 *
 *     begin   set the hook in all threads
 *     ensure  a thread enters a Python function: set the hook again if it is missing
 *     end     remove it, now or with the thread's next event
 *
 * Needs the GIL.
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_C_CALL_HOOK_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_C_CALL_HOOK_H

#include <Python.h>

#include <frameobject.h>

void cunei_c_call_hook_begin(void);
void cunei_c_call_hook_end(void);

/* The hook, alone and with another that it calls: to compare with. */
int cunei_c_call_hook_alone(PyObject *object, PyFrameObject *frame, int what,
                            PyObject *argument);
int cunei_c_call_hook_chained(PyObject *object, PyFrameObject *frame, int what,
                              PyObject *argument);

/* Set it in the calling thread. */
void cunei_c_call_hook_put(PyThreadState *thread);

static inline void cunei_c_call_hook_ensure(PyThreadState *thread)
{
    if (thread->c_profilefunc != cunei_c_call_hook_alone &&
        thread->c_profilefunc != cunei_c_call_hook_chained)
        cunei_c_call_hook_put(thread);
}

#endif
