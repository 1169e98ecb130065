// SPDX-License-Identifier: MIT
/*
 * Garbage collections: a callable of ours stands in gc.callbacks while a recording is
 * on, and writes when a collection starts and stops.  A program that empties that list
 * gets it back when one of its threads begins a packet.
 */
#ifndef CUNEI_PROBE_EVENTS_GARBAGE_COLLECTION_H
#define CUNEI_PROBE_EVENTS_GARBAGE_COLLECTION_H

#include <Python.h>

/* {0}: not there. */
struct cunei_gc_callback {
    PyObject *list; /* gc.callbacks, as long as the callable belongs into it */
    PyObject *callable;
};

/* Make the callable, find the list; -1 with an exception set. */
int cunei_gc_init(struct cunei_gc_callback *collect);

/*
 * From now on the callable belongs into the list, or does not any more; `hook` puts it
 * there where it is missing.  What fails is swallowed.
 */
void cunei_gc_begin(struct cunei_gc_callback *collect);
void cunei_gc_hook(struct cunei_gc_callback *collect);
void cunei_gc_end(struct cunei_gc_callback *collect);

int cunei_gc_traverse(struct cunei_gc_callback *collect, visitproc visit, void *arg);
void cunei_gc_clear(struct cunei_gc_callback *collect);

#endif
