// SPDX-License-Identifier: MIT
/*
 * What is recorded of a process beyond calls: its name in multiprocessing, the names of
 * its threads in threading, and calls that end it without exit handlers.
 *
 * No Python object is patched for that.  Code that may end the process (its co_names
 * contain `_exit` or `execv`) or that sets names is watched: it has local CALL events,
 * whether it is recorded or not, and they are passed to cunei_process_call.  The
 * callback of CALL must do so, and must not disable it in watched code.  For sources
 * without CALL events probe/events/process_call_hooks.h handles the calls that end the
 * process, and names are read when a function that sets them begins or ends.
 */
#ifndef CUNEI_PROBE_EVENTS_PROCESS_H
#define CUNEI_PROBE_EVENTS_PROCESS_H

#include <Python.h>

#include <stdbool.h>
#include <sys/types.h>

#include "probe/core/cold_event.h"

/* What is called when the process is about to end without exit handlers, … */
struct cunei_process_hooks {
    void (*exits)(int status); /* by os._exit */
    void (*executes)(void);    /* it runs another program in its place */
    /* … and when it has started a Python that cannot record (refusal_reason.h). */
    void (*unrecorded)(pid_t pid, int reason);
};

/* Find the functions of posix; -1 with an exception set.  `hooks` are copied. */
int cunei_process_init(const struct cunei_process_hooks *wanted);

/*
 * Whether the source has CALL events for single code objects; otherwise
 * process_call_hooks.h is used.
 */
void cunei_process_set_has_calls(bool exist);
bool cunei_process_has_calls(void);

/* Whether the code object must have CALL events. */
bool cunei_process_watches(PyCodeObject *code);

/*
 * Watched code calls `callable` with `argument` as the first argument, or with any
 * other object if there is none.
 */
void cunei_process_call(PyCodeObject *code, PyObject *callable, PyObject *argument);

/* The C function behind os._exit, os.execv or os.execve is about to be called. */
void cunei_process_leaves(PyCFunction function, PyObject *argument);

/* Whether it is code of Python's that starts programs by _posixsubprocess. */
bool cunei_process_starts_programs(PyCodeObject *code);

/* Without CALL events: whether the function sets names.  Its frame begins, or ends. */
bool cunei_process_sets_names(PyCodeObject *code);
void cunei_process_frame(PyCodeObject *code, bool begins);

/*
 * Call `begin` at the calling thread's next event, instead of a function that was set
 * before; NULL: nothing.
 */
void cunei_process_call_later(void (*begin)(void));

/*
 * In the child of a fork: the same if the child only runs another program, and most
 * likely has no event before.  Then `begin` is called when the preexec_fn of subprocess
 * begins.
 */
bool cunei_process_defer(void (*begin)(void));

/* Call this with every event that takes the cold path, before it is written. */
void cunei_process_event(PyCodeObject *code);

/* Begin a cold event (probe/core/cold_event.h) with that call. */
static inline struct cunei_cold_event cunei_process_begin_event(PyCodeObject *code)
{
    struct cunei_cold_event event = {.pending = cunei_compat_put_aside()};

    cunei_process_event(code);
    event.recording = cunei_recorder_begin_event();
    return event;
}

/*
 * The name of a forked child in multiprocessing, from inside it: owned, or NULL if
 * multiprocessing did not fork it.
 */
char *cunei_process_forked_name(void);

/*
 * At the end of a recording: record the current name in multiprocessing, if it is not
 * the default, and the number of other interpreters.
 */
void cunei_process_record_end(void);

/* A function of the module: set the name of the process. */
PyObject *cunei_process_name(PyObject *module, PyObject *name);

#endif
