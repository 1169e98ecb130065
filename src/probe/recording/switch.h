// SPDX-License-Identifier: MIT
/*
 * What a program changes about a recording that is on: whether calls are recorded, and
 * of which functions.
 *
 * Both hold for all threads of the process.  Whoever changes something has control, as
 * in probe/recording/control.h.
 */
#ifndef CUNEI_PROBE_RECORDING_SWITCH_H
#define CUNEI_PROBE_RECORDING_SWITCH_H

#include <Python.h>

#include <stdbool.h>

/*
 * Record no calls until as many of the one as of the other were made.  False: there is
 * no recording, or it is not paused; nothing has changed then.
 */
bool cunei_switch_pause(void);
bool cunei_switch_resume(void);

/* The code is a region from now on: one that was seen, and left out, is recorded. */
void cunei_switch_decorated(PyCodeObject *code);

/*
 * A function of the module cunei._probe.
 * select(include, texts, code=None): let these patterns decide from now on before those
 * that the recording has; where it has none, includes have nothing to say.  `code`:
 * they mean that code object alone.  False: there is no recording.
 */
PyObject *cunei_switch_select(PyObject *module, PyObject *args);

/*
 * Another one.  handed_on(text): what the environment is to say instead of this, so
 * that programs which are started from now on have the patterns that hold here; None:
 * it does not ask for this recording, or not of other processes, or it gets too long.
 */
PyObject *cunei_switch_handed_on(PyObject *module, PyObject *text);

#endif
