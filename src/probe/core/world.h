// SPDX-License-Identifier: MIT
/*
 * What the GIL guards, and who does where there is none.
 *
 * Without it, threads are in callbacks at once.  Four rules keep them apart; they hold
 * where there is a GIL, too, which other threads may get at the same points.
 *
 * 1. What belongs to a thread (its stream, the state of an event source) is touched by
 *    itself alone, or while the world is stopped: then every other thread of the
 *    interpreter stands at a point where CPython lets it be stopped.  Such points are
 *    in the interpreter's loop and inside the functions of its C API.  Plain C between
 *    two calls of the API is never interrupted: the hot path, the writing of a packet.
 * 2. After any call of the API the recording may have ended, and another one begun.
 *    cunei_recorder_begin_event stands at the beginning of each callback that makes
 * such calls: ids and words that it got hold of go into no other recording.  A stream
 * is asked for room after the last call of the API, not before.
 * 3. What threads share is guarded by a lock: by a cunei_mutex if the API is called
 *    under it, otherwise by a latch, or by a mutex of the runtime library, under which
 *    nothing is called that can stop.  Whoever has stopped the world may take the
 *    latter, never the former.
 * 4. What an object of the program's refers to may be gone a moment later: only new
 *    references are looked at.  Borrowed ones are those to what the calling thread's
 * own frame or arguments keep alive.
 */
#ifndef CUNEI_PROBE_CORE_WORLD_H
#define CUNEI_PROBE_CORE_WORLD_H

#include <Python.h>

#include <stdbool.h>

/* Once a process, before anything else. */
void cunei_world_init(void);

/*
 * Call `work` with the world stopped.  It must not call the API, but for what touches
 * neither objects nor threads: the words of code objects.
 */
void cunei_world_stop(void (*work)(void *context), void *context);

/* Whether other threads could run in this interpreter. */
bool cunei_world_has_other_threads(void);

/*
 * Recordings are started and stopped by one thread at a time.  False: this thread is
 * just doing so, and has come back through a hook or a handler of the program's.
 */
bool cunei_world_take_control(void);
void cunei_world_leave_control(void);

#endif
