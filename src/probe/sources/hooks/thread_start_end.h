// SPDX-License-Identifier: MIT
/*
 * Calls the profile and trace hooks at the start and end of each thread's function.
 *
 * CPython has no event for that.  While we watch, the method table of _thread points to
 * functions of ours for the functions that start threads: the new thread calls us
 * first, then its own function.  No Python object changes.  Threads that C code starts
 * are not noticed.
 */
#ifndef CUNEI_PROBE_SOURCES_HOOKS_THREAD_START_END_H
#define CUNEI_PROBE_SOURCES_HOOKS_THREAD_START_END_H

#include <Python.h>

/*
 * From now on call `begins` in each thread of the main interpreter that is started,
 * before its function, and `ends` after it.  Nothing raises.
 */
void cunei_thread_start_watch(void (*begins)(void), void (*ends)(void));
void cunei_thread_start_unwatch(void);

/* Once; the module's state keeps the type.  NULL with an exception set. */
PyTypeObject *cunei_thread_start_type(PyObject *module);

#endif
