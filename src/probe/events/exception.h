// SPDX-License-Identifier: MIT
/*
 * Exceptions: where they are raised, how many frames they end, and where they are
 * caught.
 *
 * sys.monitoring has an event for an exception in every frame that it propagates
 * through.  The trace has one track for each exception object: raised once, caught, and
 * resumed if its handler reraises it.  An exception that comes back with its traceback,
 * through a future or by `raise` of one that was kept, continues its track.  Exceptions
 * are read, never kept alive, and never changed.  GeneratorExit, which closes
 * generators, is not recorded.
 *
 * Code that is not recorded also catches exceptions; the handler is unknown then.
 * Nothing here raises; the caller has put a pending exception aside.
 */
#ifndef CUNEI_PROBE_EVENTS_EXCEPTION_H
#define CUNEI_PROBE_EVENTS_EXCEPTION_H

#include <Python.h>

/* Events of the frame on top, as in sys.monitoring. */
typedef void cunei_exception_event(PyCodeObject *code, PyObject *offset,
                                   PyObject *exception);

cunei_exception_event cunei_exception_raised;
cunei_exception_event cunei_exception_raised_again;
cunei_exception_event cunei_exception_handled;
/* It ends the frame, which is recorded; called before the leave is written. */
cunei_exception_event cunei_exception_unwound;

/* It ends a loop of this code, in the frame below the one on top. */
void cunei_exception_consumed(PyCodeObject *code, int offset, PyObject *exception);

/* An unknown exception ends the frame: the one that is tracked there, if any. */
void cunei_exception_ended(PyCodeObject *code);

/*
 * It arrives in the frame on top, and has ended the frame of this code.  If that code
 * was recorded as its handler, it has reraised the exception.  Call this before the
 * event of the frame on top.
 */
void cunei_exception_reraised(PyCodeObject *code, PyObject *exception);

/* The recording ends: what still propagates in this thread is not caught. */
void cunei_exception_end(void);

#endif
