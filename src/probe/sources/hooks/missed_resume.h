// SPDX-License-Identifier: MIT
/*
 * Generators that go on untold, on CPython 3.11.
 *
 * An exception that is thrown into a generator goes to what it delegates to first (by
 * `await` or `yield from`).  If that takes it and ends by a return, 3.11 lets the
 * generator go on behind the instruction that tells the hooks of sys.setprofile and
 * sys.settrace of it.  They hear of what it calls, and that it is left.  So it is
 * remembered which frame should go on after an event: a generator that does so in its
 * stead is one of those.
 *
 * Whatever a hook is told of, it asks first; `frame` is that of the event, or the one
 * that has called a frame that is entered.
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

/* What the calling thread goes on with.  Private. */
extern __attribute__((
    visibility("hidden"),
    tls_model("initial-exec"))) _Thread_local struct cunei_missed_resume {
    const cunei_compat_311_frame *frame; /* only compared */
    unsigned recording;
} cunei_missed_resume_own;

/* The frame that runs what the given one is; generators that rest may be in between. */
static inline cunei_compat_311_frame *cunei_missed_resume_caller(
    const cunei_compat_311_frame *frame)
{
    cunei_compat_311_frame *caller = frame->previous;

    while (caller && caller->f_code->co_flags & CUNEI_GENERATES &&
           _Py_OPCODE(*caller->prev_instr) == YIELD_VALUE)
        caller = caller->previous;
    return caller;
}

/* Whether the frame has gone on untold in this recording. */
static inline bool cunei_missed_resume_is(const cunei_compat_311_frame *frame,
                                          unsigned recording)
{
    return frame != cunei_missed_resume_own.frame && frame &&
           frame->f_code->co_flags & CUNEI_GENERATES &&
           cunei_missed_resume_own.recording == recording &&
           !cunei_greenlet_is_loaded();
}

/* After an event: the frame goes on. */
static inline void cunei_missed_resume_expect(const cunei_compat_311_frame *frame,
                                              unsigned recording)
{
    cunei_missed_resume_own.frame = frame;
    cunei_missed_resume_own.recording = recording;
}

#endif

#endif
