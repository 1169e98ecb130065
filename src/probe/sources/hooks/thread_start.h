// SPDX-License-Identifier: MIT
/*
 * Threads that begin: what is to be done in each before it runs its function.
 *
 * There is no event for that.  So while somebody wants to know, the entries of the
 * functions that start threads in the table of _thread lead to a function of ours: it
 * has the new thread call us first, and goes on to what was there.  No object of
 * Python's changes.  A thread that C code makes by itself is not heard of.
 */
#ifndef CUNEI_PROBE_SOURCES_HOOKS_THREAD_START_H
#define CUNEI_PROBE_SOURCES_HOOKS_THREAD_START_H

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
