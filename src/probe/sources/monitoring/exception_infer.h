// SPDX-License-Identifier: MIT
/*
 * Exceptions where some code is left out, from CPython 3.12 on.
 *
 * Before 3.15 their events come from all code or from none, and RAISE alone, in every
 * frame that an exception passes, costs as much as all others.  It is not asked for
 * there, and neither is RERAISE.  A frame in which an exception is raised goes on at
 * once in the handler that its table of exceptions names for that place, or ends; and a
 * place that raises one again has another handler than the place that raised it.  So
 * both can be told from what follows, just before it.
 *
 * Only a loop that consumes a StopIteration shows nothing: the frame above it tells.
 *
 * Code that is left out is heard of when an exception of code that is not comes to it.
 */
#ifndef CUNEI_PROBE_SOURCES_MONITORING_EXCEPTION_INFER_H
#define CUNEI_PROBE_SOURCES_MONITORING_EXCEPTION_INFER_H

#include <Python.h>

#include <stdbool.h>

#define CUNEI_EXCEPTION_INFER_IS_LOCAL \
    (PY_VERSION_HEX >= 0x030f0000) /* events of exceptions */

/* Who wants to know of code that a flight comes to; NULL: nobody. */
void cunei_exception_infer_notify(void (*reached)(PyCodeObject *code));

/*
 * The frame on top goes on at `handler`, or ends by the instruction at `offset` if that
 * is -1: tell what was raised there, or raised again.
 */
void cunei_exception_infer_raised(PyCodeObject *code, int handler, PyObject *offset,
                                  PyObject *exception);

/* The frame on top has ended by it, which was told. */
void cunei_exception_infer_unwound(PyObject *exception);

/* The frame on top has taken it, which was told: it may give it to the one below. */
void cunei_exception_infer_handled(void);

/* It is thrown into a frame of this code. */
void cunei_exception_infer_thrown(PyCodeObject *code, PyObject *exception);

/* Whether an exception may be the last thing that is heard of a thread, or of all. */
bool cunei_exception_infer_is_outermost(const PyCodeObject *code);

#endif
