// SPDX-License-Identifier: MIT
/*
 * The stack of open calls that a packet begins with: Python frames, with the C calls
 * and regions between them.  Every function needs the GIL.
 */
#ifndef CUNEI_PROBE_EVENTS_OPEN_STACK_H
#define CUNEI_PROBE_EVENTS_OPEN_STACK_H

#include <Python.h>

#include <frameobject.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The calling thread's: a hook of the recorder, see rt/recorder.h. */
size_t cunei_open_stack(bool top_is_open, uint32_t *functions, size_t max,
                        size_t *omitted);

/*
 * The same for the frames from `frame` on, which it consumes.  The caller holds
 * collections, from before it has the frame.
 */
size_t cunei_open_stack_of(PyFrameObject *frame, uint32_t *functions, size_t max,
                           size_t *omitted);

/*
 * How many frames of this function stand directly on top of each other, not counting
 * frames that are not recorded; 0: more than are worth counting.
 */
uint64_t cunei_open_stack_run(uint32_t function);

#endif
