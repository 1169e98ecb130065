// SPDX-License-Identifier: MIT
/*
 * Changes to a running recording by the program: whether calls are recorded, and of
 * which functions.
 *
 * Both hold for all threads of the process.  All functions take control, as in
 * probe/recording/control.h.
 */
#ifndef CUNEI_PROBE_RECORDING_SWITCH_H
#define CUNEI_PROBE_RECORDING_SWITCH_H

#include <Python.h>

#include <stdbool.h>

struct cunei_patterns;

/*
 * Record no calls until `resume` was called as often as `pause`.  False: there is no
 * recording, or it is not paused, and nothing has changed.
 */
bool cunei_switch_pause(void);
bool cunei_switch_resume(void);

/*
 * From now on these patterns come before those of the recording; if it has none,
 * includes change nothing.  `code`: they mean that code object alone, unless it is
 * NULL.  False: there is no recording.
 */
bool cunei_switch_add(struct cunei_patterns *patterns, PyCodeObject *code);

/* The program has decorated this code: if it was seen, and not selected, record it. */
void cunei_switch_decorated(PyCodeObject *code);

/* The same as a function of the module cunei._probe: select(include, texts, code=None).
 */
PyObject *cunei_switch_select(PyObject *module, PyObject *args);

/*
 * Another one.  handed_on(text): the value of CUNEI_RECORD with which programs that are
 * started from now on get the current patterns.  None: `text` does not ask for this
 * recording, or not for other processes, or the value gets too long.
 */
PyObject *cunei_switch_handed_on(PyObject *module, PyObject *text);

#endif
