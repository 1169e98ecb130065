// SPDX-License-Identifier: MIT
/*
 * Tasks of asyncio: which task each step of a coroutine belongs to.
 *
 * asyncio runs a task step by step; a step is one activation of the task's outermost
 * coroutine.  Events of coroutines come through here: one that begins a step gets a
 * `task` event in front.  asyncio is asked for the current task, and never imported for
 * it; no code of the program runs, and no task is kept alive.
 */
#ifndef CUNEI_PROBE_EVENTS_TASK_H
#define CUNEI_PROBE_EVENTS_TASK_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "wire/event.h"

/* Whether a task may run frames of this code. */
bool cunei_task_is_coroutine(const PyCodeObject *code);

/*
 * Write an event of a coroutine's frame, the running one, and the task before it, if it
 * begins a step.  Leaves a pending exception as it is.
 */
void cunei_task_write(uint32_t id, enum cunei_phase phase);

/*
 * The same in less time, if the stream has room: then there is a recording, and the id
 * belongs to it.  False: nothing was done.
 */
bool cunei_task_put(uint32_t id, enum cunei_phase phase);

/* That frame ends with an exception; the caller writes the event. */
void cunei_task_unwind(void);

/* A recording begins, or has ended: forget everything. */
void cunei_task_reset(void);

#endif
