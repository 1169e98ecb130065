// SPDX-License-Identifier: MIT
/*
 * What callbacks share that run for every event: in any thread, without an allocation,
 * a lock or a call of Python.
 *
 * For the same reason these variables are read by more than one file; there are no
 * others that a header declares:
 *
 *     cunei_stream_own            rt/stream.h: the thread's stream
 *     cunei_c_call_thread_own     events/c_call_thread.h: its C functions and C calls
 *     cunei_exception_tracks_mine,
 *     cunei_exception_track_table events/exception_track.h: exceptions that propagate
 *     cunei_mute_left             code/mute.h: events until a place may be disabled
 *     cunei_missed_resume_own     sources/hooks/missed_resume.h
 *     cunei_budget_hot            budget/budget_hot.h: when a budget decides
 */
#ifndef CUNEI_PROBE_CORE_HOT_H
#define CUNEI_PROBE_CORE_HOT_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "rt/clock.h"
#include "rt/stream.h"

#define CUNEI_LIKELY(condition) __builtin_expect(!!(condition), 1)

/* Flags of code whose frames can be suspended. */
#define CUNEI_GENERATES (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)

/*
 * Write an event at once; false: the tag has no id, or the stream no room.
 * `has_counter` is cunei_clock_has_counter: it is in another library, and calling it
 * each time took 10 ns of a call.
 */
static inline bool cunei_hot_put(uint64_t tag, enum cunei_phase phase, bool has_counter)
{
    uint64_t now = CUNEI_LIKELY(has_counter) ? cunei_clock_counter()
                                             : cunei_clock_ns(CLOCK_MONOTONIC);
    struct cunei_stream *stream = cunei_stream_own;

    if (!CUNEI_LIKELY(tag > CUNEI_TIME_MASK && cunei_stream_has_room(stream, now, 1)))
        return false;
    /* The upper bits of the tag and the lower ones of the time, without two masks. */
    uint64_t record = ((now ^ tag) & CUNEI_TIME_MASK) ^ tag;
    cunei_stream_put(stream, now, record | (uint64_t)phase << CUNEI_PHASE_SHIFT);
    return true;
}

#endif
