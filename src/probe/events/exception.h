// SPDX-License-Identifier: MIT
/*
 * Exceptions: where they are raised, how many frames they end, and who takes them.
 *
 * sys.monitoring tells of an exception in every frame that it passes.  What is told
 * here is each flight of an exception object: raised once, taken, and let go on by who
 * took it, if so.  An object that comes back with its traceback, through a future or by
 * `raise` of one that was kept, flies on.  Exceptions are looked at, never kept, and
 * never changed.  GeneratorExit, by which generators are closed, is none of them.
 *
 * Code that is not recorded takes exceptions, too, as nobody in particular.  Nothing
 * here raises; the caller has put a pending exception aside.
 */
#ifndef CUNEI_PROBE_EVENTS_EXCEPTION_H
#define CUNEI_PROBE_EVENTS_EXCEPTION_H

#include <Python.h>

/* Before a recording. */
void cunei_exception_reset(void);

/* What happens in the frame on top, as sys.monitoring tells it. */
typedef void cunei_exception_event(PyCodeObject *code, PyObject *offset,
                                   PyObject *exception);

cunei_exception_event cunei_exception_raised;
cunei_exception_event cunei_exception_raised_again;
cunei_exception_event cunei_exception_handled;
/* The frame, which is recorded, ends by it; before its leave is written. */
cunei_exception_event cunei_exception_unwound;

/* A loop of this code, in the frame below the one on top, ends by it. */
void cunei_exception_consumed(PyCodeObject *code, int offset, PyObject *exception);

/* The same where it is not told by which: by what flies in that frame, if anything. */
void cunei_exception_ended(PyCodeObject *code);

/*
 * One comes to the frame on top, and ends that of this code, which may have been told
 * to have taken it: then it has let it go on.  Before the former is told.
 */
void cunei_exception_reraised(PyCodeObject *code, PyObject *exception);

/* The recording ends: nobody has taken what still flies in this thread. */
void cunei_exception_end(void);

#endif
