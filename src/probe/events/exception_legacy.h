// SPDX-License-Identifier: MIT
/*
 * Exceptions before CPython 3.12, from a frame evaluator: it sees one when it ends a
 * frame.
 *
 * The traceback says where it was raised.  The next frame that continues has caught it:
 * the one below, if it has a handler there, else the C function that was called from
 * it.  If a handler reraises it, its track continues when it ends that frame.  An
 * exception that is raised and caught within one frame is visible only to the trace
 * hook (probe/sources/hooks/exception_trace_hook.h).
 *
 * The events are the same as in probe/events/exception.h, and nothing here raises.
 */
#ifndef CUNEI_PROBE_EVENTS_EXCEPTION_LEGACY_H
#define CUNEI_PROBE_EVENTS_EXCEPTION_LEGACY_H

#include <Python.h>

#include <stdint.h>

#include "probe/core/compat.h"

/*
 * The exception put aside has ended a frame, which is on top, before its leave is
 * written.  `below` is the frame that called it, or NULL; `tag` that of its code.
 */
void cunei_exception_legacy_unwound(cunei_compat_311_frame *frame,
                                    cunei_compat_311_frame *below, uint64_t tag,
                                    const struct cunei_compat_error *error);

/* The same for one that the frame catches itself, at `handler` in bytes. */
void cunei_exception_legacy_handled(cunei_compat_311_frame *frame, uint64_t tag,
                                    const struct cunei_compat_error *error,
                                    int handler);

/*
 * One arrives in the frame on top that was recorded as caught: then its handler has
 * reraised it.  If it has ended a frame meanwhile, `code` is that frame's; else NULL.
 */
void cunei_exception_legacy_reraised(PyCodeObject *code, cunei_compat_311_frame *frame,
                                     const struct cunei_compat_error *error);

/* An unknown exception has ended the frame: the one that propagates, if any. */
void cunei_exception_legacy_unwound_unknown(PyCodeObject *code,
                                            cunei_compat_311_frame *below,
                                            uint64_t tag);

/* After that leave: let this thread's next event call cunei_exception_legacy_caught. */
void cunei_exception_legacy_wait(void);

/* The thread continues: the exception that propagated was caught. */
void cunei_exception_legacy_caught(void);

#endif
