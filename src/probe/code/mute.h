// SPDX-License-Identifier: MIT
/*
 * Disables events of code that is not selected, where its events are on anyway: without
 * a GIL.
 *
 * Each event costs a callback that finds nothing to do.  sys.monitoring.DISABLE
 * switches a busy place off.  That stops the world, at the latest from 3.14 on, which
 * takes milliseconds when other threads are busy.  So it is done rarely: with one event
 * out of many of a thread, most likely one of a busy place, and for no more than a
 * twentieth of the time.
 */
#ifndef CUNEI_PROBE_CODE_MUTE_H
#define CUNEI_PROBE_CODE_MUTE_H

#include <Python.h>

#include <stdint.h>

/* Events of the calling thread until the next one that may disable its place. */
extern _Thread_local uint32_t cunei_mute_left
    __attribute__((visibility("hidden"), tls_model("initial-exec")));

/* Decide for this event, of code with this tag; what its callback returns. */
PyObject *cunei_mute_look(uint64_t tag, PyObject *disable);

/* The return value of a callback whose event is not recorded, a new reference. */
static inline PyObject *cunei_mute_event(uint64_t tag, PyObject *disable)
{
    if (--cunei_mute_left > 0)
        Py_RETURN_NONE;
    return cunei_mute_look(tag, disable);
}

#endif
