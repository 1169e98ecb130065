// SPDX-License-Identifier: MIT
/*
 * The bracket around an event that takes the cold path.  It puts aside the exception
 * that the program has set in this thread, and ties the event to the current recording:
 * nothing found in between goes into another one.
 *
 *     struct cunei_cold_event event = cunei_cold_event_begin();
 *     … calls of the API …
 *     cunei_cold_event_end(&event);
 */
#ifndef CUNEI_PROBE_CORE_COLD_EVENT_H
#define CUNEI_PROBE_CORE_COLD_EVENT_H

#include <Python.h>

#include <stdint.h>

#include "probe/core/compat.h"
#include "rt/recorder.h"

struct cunei_cold_event {
    struct cunei_compat_error pending;
    uint32_t recording; /* of the event around this one, for cunei_recorder_end_event */
};

static inline struct cunei_cold_event cunei_cold_event_begin(void)
{
    struct cunei_cold_event event = {.pending = cunei_compat_put_aside()};

    event.recording = cunei_recorder_begin_event();
    return event;
}

static inline void cunei_cold_event_end(const struct cunei_cold_event *event)
{
    cunei_recorder_end_event(event->recording);
    cunei_compat_put_back(&event->pending);
}

#endif
