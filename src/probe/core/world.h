// SPDX-License-Identifier: MIT
/*
 * What the GIL guards, and what guards it where there is no GIL.
 *
 * Without a GIL, several threads are in callbacks at once.  Four rules keep them apart;
 * they also hold with a GIL, which other threads may get at the same points.
 *
 * 1. The state of a thread (its stream, the state of an event source) is used by that
 *    thread alone, or while the world is stopped: then every other thread of the
 *    interpreter waits at a point where CPython can stop it.  Such points are in the
 *    evaluation loop and inside the functions of the C API.  Plain C between two calls
 *    of the API is never interrupted: the hot path, the writing of a packet.
 * 2. After any call of the API the recording may have ended, and another one begun.
 *    Each callback that makes such calls begins with cunei_recorder_begin_event, so
 *    that its ids and tags go into no other recording.  It asks the stream for room
 *    after the last call of the API, not before.
 * 3. A lock guards what threads share: a cunei_mutex if the API is called under it,
 *    otherwise a latch, or a mutex of the runtime library, under which nothing is
 *    called that can stop.  A thread that has stopped the world may take the latter,
 *    never the former.
 * 4. A reference that an object of the program holds may be gone a moment later: use
 *    new references only.  Borrowed references are safe to objects that the calling
 *    thread's own frame or arguments keep alive.
 */
#ifndef CUNEI_PROBE_CORE_WORLD_H
#define CUNEI_PROBE_CORE_WORLD_H

#include <Python.h>

#include <stdbool.h>

/* Once per process, before anything else. */
void cunei_world_init(void);

/*
 * Call `work` with the world stopped.  It must not call the API, except functions that
 * touch neither objects nor threads: those for co_extra.
 */
void cunei_world_stop(void (*work)(void *context), void *context);

/* Whether other threads could run in this interpreter. */
bool cunei_world_has_other_threads(void);

/*
 * One thread at a time starts and stops recordings.  False: this thread has control
 * already, and was called back by a hook or handler of the program.
 */
bool cunei_world_take_control(void);
void cunei_world_leave_control(void);

#endif
