// SPDX-License-Identifier: MIT
/*
 * Exceptions before CPython 3.12, as an evaluator of frames sees them: when one ends a
 * frame.
 *
 * Its traceback says where it was raised.  Who takes it is the next frame that goes on:
 * the one below, if it has a handler there, else the C function that was called from
 * it.  Where a handler lets it go on, it flies again when it ends that frame.  What is
 * raised and taken within one frame only the trace hook hears of
 * (probe/sources/hooks/exception_trace_hook.h).
 *
 * The calls are those of probe/events/exception.h: they write the same events, and
 * nothing here raises.
 */
#ifndef CUNEI_PROBE_EVENTS_EXCEPTION_LEGACY_H
#define CUNEI_PROBE_EVENTS_EXCEPTION_LEGACY_H

#include <Python.h>

#include <stdint.h>

#include "probe/core/compat.h"

/*
 * A frame has ended by what is put aside; it is on top, and its leave is not written
 * yet.  `below` is the frame that called it, or NULL; `word` that of its code.
 */
void cunei_exception_legacy_unwound(cunei_compat_311_frame *frame,
                                    cunei_compat_311_frame *below, uint64_t tag,
                                    const struct cunei_compat_error *error);

/* The same for one that the frame takes itself, at `handler` in bytes. */
void cunei_exception_legacy_handled(cunei_compat_311_frame *frame, uint64_t tag,
                                    const struct cunei_compat_error *error,
                                    int handler);

/*
 * One comes to the frame on top, that somebody may have been told to have taken: then
 * it goes on.  If it has ended a frame meanwhile, `code` is that one's; else NULL.
 */
void cunei_exception_legacy_reraised(PyCodeObject *code, cunei_compat_311_frame *frame,
                                     const struct cunei_compat_error *error);

/* The same for one of which it is not known by what: by what flies, if anything. */
void cunei_exception_legacy_unwound_unknown(PyCodeObject *code,
                                            cunei_compat_311_frame *below,
                                            uint64_t tag);

/* After that leave: this thread's next event is to come by
 * cunei_exception_legacy_caught. */
void cunei_exception_legacy_wait(void);

/* The thread goes on: what was in flight has been taken. */
void cunei_exception_legacy_caught(void);

#endif
