// SPDX-License-Identifier: MIT
/*
 * Exceptions as the hook of sys.settrace tells of them: in each frame that one is
 * raised in, or comes to.  That a frame takes it is seen by its having a handler there;
 * that a handler, a `finally` or a `with` lets it go on is not told, but seen where it
 * comes to the next frame, from one that has just ended by an exception.
 *
 * The events are those of probe/exception.h, and before 3.12 of probe/passing.h.
 * Nothing here raises; no exception is set, and the frame is the one on top.
 */
#ifndef CUNEI_PROBE_THROWN_H
#define CUNEI_PROBE_THROWN_H

#include <Python.h>

#include <frameobject.h>
#include <stdint.h>

/* `told` is a type, an exception and a traceback; `word` that of the frame's code. */
void cunei_thrown_raised(PyFrameObject *frame, uint64_t word, PyObject *told);

/* The frame ends by one: before its leave is written, and after that. */
void cunei_thrown_unwound(PyCodeObject *code);
void cunei_thrown_left(void);

/* The thread goes on: whatever was in flight has been taken. */
void cunei_thrown_landed(void);

#endif
