// SPDX-License-Identifier: MIT
/*
 * Exceptions where some code is left out, from CPython 3.12 on.
 *
 * Before 3.15 events of exceptions come from all code or from none.  RAISE alone, which
 * comes in every frame that an exception passes, costs as much as all others.  So we do
 * not request RAISE and RERAISE, and infer them.  After a raise, the frame continues in
 * the handler that its exception table names for that instruction, or it ends; an
 * instruction that reraises has another handler than the one that raised.  What follows
 * shows which it was, and the inferred event is written just before it.
 *
 * Only a loop that consumes a StopIteration shows nothing; the frame above it does.
 *
 * Code that is left out is followed once an exception of recorded code reaches it.
 */
#ifndef CUNEI_PROBE_SOURCES_MONITORING_EXCEPTION_INFER_H
#define CUNEI_PROBE_SOURCES_MONITORING_EXCEPTION_INFER_H

#include <Python.h>

#include <stdbool.h>

#define CUNEI_EXCEPTION_INFER_IS_LOCAL \
    (PY_VERSION_HEX >= 0x030f0000) /* events of exceptions */

/* Call `reached` for code that an exception reaches; NULL: do not. */
void cunei_exception_infer_notify(void (*reached)(PyCodeObject *code));

/*
 * The frame on top continues at `handler`, or, if that is -1, ends by the instruction
 * at `offset`: record the raise or reraise there.
 */
void cunei_exception_infer_raised(PyCodeObject *code, int handler, PyObject *offset,
                                  PyObject *exception);

/* The exception has ended the frame on top, which was recorded. */
void cunei_exception_infer_unwound(PyObject *exception);

/* The frame on top has caught it, which was recorded; it may reraise it. */
void cunei_exception_infer_handled(void);

/* It is thrown into a frame of this code. */
void cunei_exception_infer_thrown(PyCodeObject *code, PyObject *exception);

/* Whether an exception in this code may end its thread or the program. */
bool cunei_exception_infer_is_outermost(const PyCodeObject *code);

#endif
