// SPDX-License-Identifier: MIT
/*
 * Garbage collections: during a recording gc.callbacks has a callable of ours, which
 * writes an event when a collection starts and stops.  If the program empties that
 * list, the callable is added again when a thread begins a packet.
 */
#ifndef CUNEI_PROBE_EVENTS_GARBAGE_COLLECTION_H
#define CUNEI_PROBE_EVENTS_GARBAGE_COLLECTION_H

#include <Python.h>

/* {0}: not initialized. */
struct cunei_gc_callback {
    PyObject *list; /* gc.callbacks */
    PyObject *callable;
};

/* Create the callable, find the list; -1 with an exception set. */
int cunei_gc_init(struct cunei_gc_callback *collect);

/*
 * `begin` adds the callable to the list, and `end` removes it.  Between the two, `hook`
 * adds it again if the program has removed it.  Errors are ignored.
 */
void cunei_gc_begin(struct cunei_gc_callback *collect);
void cunei_gc_hook(struct cunei_gc_callback *collect);
void cunei_gc_end(struct cunei_gc_callback *collect);

int cunei_gc_traverse(struct cunei_gc_callback *collect, visitproc visit, void *arg);
void cunei_gc_clear(struct cunei_gc_callback *collect);

#endif
