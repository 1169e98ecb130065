// SPDX-License-Identifier: MIT
/*
 * Asks asyncio for the current task.
 *
 * It calls asyncio's own C functions, found once the program has imported asyncio; the
 * probe never imports it.  Running tasks are in a dict by loop, which is read: all
 * tasks before 3.14, from then on those of the Python class.  No code of the program
 * runs: a loop with its own __hash__ has no tasks for us.  No exception may be pending,
 * and none is left.
 */
#ifndef CUNEI_PROBE_EVENTS_ASYNCIO_H
#define CUNEI_PROBE_EVENTS_ASYNCIO_H

#include <Python.h>

#include <stdbool.h>

/*
 * The task that the calling thread runs, a new reference; NULL: none.  `in_loop`: the
 * thread runs a loop that was asked before.
 */
PyObject *cunei_asyncio_current_task(bool in_loop);

/*
 * A task's name, a new reference to a str; NULL: unknown.  The name is asyncio's own,
 * even if a subclass overrides get_name.
 */
PyObject *cunei_asyncio_name(PyObject *task);

#endif
