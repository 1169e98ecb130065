// SPDX-License-Identifier: MIT
/*
 * Asking asyncio about its tasks.
 *
 * It is asked through functions of C that it has itself, found once the program has
 * imported it; we never do.  Tasks that run stand in a dict, by loop, and that is
 * looked at: all of them before 3.14, from then on those that are written in Python.
 * No code of the program runs: a loop with a hash of its own has no tasks for us.  No
 * exception is left behind, nor may one be pending.
 */
#ifndef CUNEI_PROBE_EVENTS_ASYNCIO_H
#define CUNEI_PROBE_EVENTS_ASYNCIO_H

#include <Python.h>

#include <stdbool.h>

/*
 * The task that the calling thread runs, a new reference; NULL: none.  `in_loop`: a
 * loop runs on it for certain, and is one that was asked before.
 */
PyObject *cunei_asyncio_current_task(bool in_loop);

/*
 * A task's name, a new reference to a str; NULL: it is not known.  Where a subclass has
 * a get_name of its own, what asyncio's would have said.
 */
PyObject *cunei_asyncio_name(PyObject *task);

#endif
