// SPDX-License-Identifier: MIT
/*
 * Greenlets: several stacks that take turns on one thread.
 *
 * greenlet calls a tracer of ours at each switch, in the thread that has set it and
 * with the stack of the greenlet that runs from then on: a `switch` event has that
 * stack.  Our tracer calls the one that was set before.  One that is set later may call
 * ours, or not: then switches are not recorded until the thread begins its next
 * packet.  The probe never imports greenlet.
 *
 *     cunei_greenlet_init       once
 *     cunei_greenlet_attach     when a thread begins a packet: sets its tracer
 *     cunei_greenlet_imported   greenlet's module has just been executed
 *     cunei_greenlet_detach     the recording has ended: removes this thread's tracer
 *
 * A tracer that another thread has set stays, and calls the one before.
 */
#ifndef CUNEI_PROBE_EVENTS_GREENLET_H
#define CUNEI_PROBE_EVENTS_GREENLET_H

#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The type of tracers; a new reference, or NULL with an exception set. */
PyTypeObject *cunei_greenlet_type(PyObject *module);

/* Whether a function is the body of greenlet's module. */
bool cunei_greenlet_is_module(const char *module, const char *qualname);

/* Whether greenlet is imported: the outermost frames of a thread may then change. */
bool cunei_greenlet_is_loaded(void);

/* None of these leaves an exception; `type` is borrowed. */
void cunei_greenlet_begin(PyTypeObject *type);
void cunei_greenlet_attach(void);
void cunei_greenlet_imported(void);
void cunei_greenlet_detach(void);

/*
 * A hook of the recorder (see rt/recorder.h): while a switch is written, the stack is
 * that of the greenlet that ran before.
 */
size_t cunei_greenlet_stack(bool top_is_open, uint32_t *functions, size_t max,
                            size_t *omitted);

#endif
