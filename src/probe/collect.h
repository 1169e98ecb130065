// SPDX-License-Identifier: MIT
/*
 * Garbage collections: a callable of ours stands in gc.callbacks while a recording is
 * on, and writes when a collection starts and stops.  A program that empties that list
 * gets it back when one of its threads begins a packet.
 */
#ifndef CUNEI_PROBE_COLLECT_H
#define CUNEI_PROBE_COLLECT_H

#include <Python.h>

/* {0}: not there. */
struct cunei_collect {
    PyObject *list; /* gc.callbacks, as long as the callable belongs into it */
    PyObject *callable;
};

/* Make the callable, find the list; -1 with an exception set. */
int cunei_collect_init(struct cunei_collect *collect);

/*
 * From now on the callable belongs into the list, or does not any more; `hook` puts it
 * there where it is missing.  What fails is swallowed.
 */
void cunei_collect_begin(struct cunei_collect *collect);
void cunei_collect_hook(struct cunei_collect *collect);
void cunei_collect_end(struct cunei_collect *collect);

int cunei_collect_traverse(struct cunei_collect *collect, visitproc visit, void *arg);
void cunei_collect_clear(struct cunei_collect *collect);

#endif
