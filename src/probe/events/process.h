// SPDX-License-Identifier: MIT
/*
 * What the probe notices of its process beyond calls: what multiprocessing names it,
 * what threading names its threads, and the ways out that run no exit handler.
 *
 * No object of Python is patched for that.  Code that may leave the process (its names
 * have an `_exit` or an `execv` among them) or gives names is watched: it has local
 * CALL events, whether it is recorded or not, and cunei_process_call looks at what it
 * calls.  Whoever answers CALL events must hand them on, and must not switch them off
 * in code that is watched.  Where the source of events has none of them,
 * probe/events/exit_hooks.h hears of the ways out, and names are seen when what gives
 * them begins or ends.
 */
#ifndef CUNEI_PROBE_EVENTS_PROCESS_H
#define CUNEI_PROBE_EVENTS_PROCESS_H

#include <Python.h>

#include <stdbool.h>

#include "probe/core/cold_event.h"

/* What is called when the process is about to end without exit handlers. */
struct cunei_process_hooks {
    void (*exits)(int status); /* by os._exit */
    void (*executes)(void);    /* it runs another program in its place */
};

/* Find the functions of posix; -1 with an exception set.  `hooks` are copied. */
int cunei_process_init(const struct cunei_process_hooks *hooks);

/* Whether calls out of one code object can be heard of; else probe/events/exit_hooks.h
 * helps. */
void cunei_process_set_has_calls(bool are_heard);

/* Whether the code object must have CALL events. */
bool cunei_process_watches(PyCodeObject *code);

/*
 * Code that is watched calls `callable` with `argument` as the first of its arguments,
 * or with something else where there is none.
 */
void cunei_process_call(PyCodeObject *code, PyObject *callable, PyObject *argument);

/* The C function behind os._exit, os.execv or os.execve is about to be called. */
void cunei_process_leaves(PyCFunction function, PyObject *argument);

/* There: whether the function gives names.  Its frame begins, or ends. */
bool cunei_process_sets_names(PyCodeObject *code);
void cunei_process_frame(PyCodeObject *code, bool begins);

/*
 * Have `begin` called at the calling thread's next event, in place of one that was to
 * be called before; NULL: nothing any more.
 */
void cunei_process_call_later(void (*begin)(void));

/*
 * In the child of a fork: the same if it is there for nothing but another program, and
 * it will not have such an event, most likely.  Then `begin` is called when the
 * program's own function begins, the preexec_fn of subprocess.
 */
bool cunei_process_defer(void (*begin)(void));

/* Call it with every event that takes the cold path, before it is written. */
void cunei_process_event(PyCodeObject *code);

/* Begin a cold event (probe/core/cold_event.h) with it. */
static inline struct cunei_cold_event cunei_process_begin_event(PyCodeObject *code)
{
    struct cunei_cold_event event = {.pending = cunei_compat_put_aside()};

    cunei_process_event(code);
    event.recording = cunei_recorder_begin_event();
    return event;
}

/*
 * What multiprocessing calls the child of a fork, from inside it: owned, or NULL where
 * it is none of multiprocessing's.
 */
char *cunei_process_forked_name(void);

/*
 * At the end of a recording: what multiprocessing calls this process by now, where it
 * has a name of its own, and the other interpreters that are there.
 */
void cunei_process_record_end(void);

/* Of the module: the program, or who runs it, says what the process is called. */
PyObject *cunei_process_name(PyObject *module, PyObject *name);

#endif
