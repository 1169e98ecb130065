// SPDX-License-Identifier: MIT
/*
 * Exceptions as the hook of sys.settrace sees them: it is called in each frame that one
 * is raised in, or propagates to.  A frame catches it if it has a handler there.  The
 * hook is not called when a handler, a `finally` or a `with` reraises it: we see that
 * when it propagates to the next frame, from one that an exception has just ended.
 *
 * The events are those of probe/events/exception.h, and before 3.12 of
 * probe/events/exception_legacy.h. Nothing here raises; no exception is set, and the
 * frame is the one on top.
 */
#ifndef CUNEI_PROBE_SOURCES_HOOKS_EXCEPTION_TRACE_HOOK_H
#define CUNEI_PROBE_SOURCES_HOOKS_EXCEPTION_TRACE_HOOK_H

#include <Python.h>

#include <frameobject.h>
#include <stdint.h>

/* `info` is a type, an exception and a traceback; `tag` that of the frame's code. */
void cunei_exception_trace_hook_raised(PyFrameObject *frame, uint64_t tag,
                                       PyObject *info);

/* One ends the frame: before its leave is written, and after that. */
void cunei_exception_trace_hook_unwound(PyCodeObject *code);
void cunei_exception_trace_hook_left(void);

/* The thread runs on: exceptions that propagated have been caught. */
void cunei_exception_trace_hook_caught(void);

#endif
