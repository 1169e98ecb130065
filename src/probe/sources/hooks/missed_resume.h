// SPDX-License-Identifier: MIT
/*
 * Generators that resume without an event, on CPython 3.11.
 *
 * An exception that is thrown into a generator goes first to the generator that it
 * delegates to (by `await` or `yield from`).  If that one catches it and returns, 3.11
 * resumes the outer generator behind the instruction that calls the hooks of
 * sys.setprofile and sys.settrace.  The hooks are called for what it calls, and for its
 * end.  So we remember which frame should run after an event: a generator that runs in
 * its place has missed its resume.
 *
 * Check this first whenever a hook is called; `frame` is that of the event, or of a
 * frame that begins, its caller.
 */
#ifndef CUNEI_PROBE_SOURCES_HOOKS_MISSED_RESUME_H
#define CUNEI_PROBE_SOURCES_HOOKS_MISSED_RESUME_H

#include <Python.h>

#include "probe/core/compat.h"

#define CUNEI_MISSED_RESUME_EXISTS \
    (PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000)

#if CUNEI_MISSED_RESUME_EXISTS
#include <stdbool.h>

#include "probe/core/hot.h"
#include "probe/events/greenlet.h"

/* The frame that the calling thread should run now.  Private. */
extern __attribute__((
    visibility("hidden"),
    tls_model("initial-exec"))) _Thread_local struct cunei_missed_resume {
    const cunei_compat_311_frame *frame; /* only compared */
    unsigned recording;
} cunei_missed_resume_own;

/* The frame that called this one; suspended generators may be in between. */
static inline cunei_compat_311_frame *cunei_missed_resume_caller(
    const cunei_compat_311_frame *frame)
{
    cunei_compat_311_frame *caller = frame->previous;

    while (caller && caller->f_code->co_flags & CUNEI_GENERATES &&
           _Py_OPCODE(*caller->prev_instr) == YIELD_VALUE)
        caller = caller->previous;
    return caller;
}

/* Whether the frame has resumed without an event in this recording. */
static inline bool cunei_missed_resume_is(const cunei_compat_311_frame *frame,
                                          unsigned recording)
{
    return frame != cunei_missed_resume_own.frame && frame &&
           frame->f_code->co_flags & CUNEI_GENERATES &&
           cunei_missed_resume_own.recording == recording &&
           !cunei_greenlet_is_loaded();
}

/* After an event: this frame runs next. */
static inline void cunei_missed_resume_expect(const cunei_compat_311_frame *frame,
                                              unsigned recording)
{
    cunei_missed_resume_own.frame = frame;
    cunei_missed_resume_own.recording = recording;
}

#endif

#endif
