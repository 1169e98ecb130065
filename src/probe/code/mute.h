// SPDX-License-Identifier: MIT
/*
 * Events of code that is not selected, where they are on all the same: without a GIL.
 *
 * Each costs a callback that finds nothing to do.  Places with many of them are
 * switched off, by sys.monitoring.DISABLE.  That stops the world, at the latest
 * from 3.14 on, which takes milliseconds when the other threads are busy.  So it is
 * done seldom: with one in so many events of a thread, which is most likely one of a
 * busy place, and never so often that more than a twentieth of the time goes into it.
 */
#ifndef CUNEI_PROBE_CODE_MUTE_H
#define CUNEI_PROBE_CODE_MUTE_H

#include <Python.h>

#include <stdint.h>

/* How many events of the calling thread are left until one is looked at. */
extern _Thread_local uint32_t cunei_mute_left
    __attribute__((visibility("hidden"), tls_model("initial-exec")));

/* Look at this one, of a code object with this word: what its callback returns. */
PyObject *cunei_mute_look(uint64_t tag, PyObject *disable);

/* What the callback of an event that is not recorded returns, a new reference. */
static inline PyObject *cunei_mute_event(uint64_t tag, PyObject *disable)
{
    if (--cunei_mute_left > 0)
        Py_RETURN_NONE;
    return cunei_mute_look(tag, disable);
}

#endif
