// SPDX-License-Identifier: MIT
/*
 * Calls of C functions: the events CALL, C_RETURN and C_RAISE.
 *
 * A C function is entered at the CALL of a Python frame, and left when that call ends.
 * Each thread keeps a list of frames and the C functions they are in: only a call that
 * was entered is left, and the stack of a new packet has them between the right Python
 * frames.  Each thread also keeps the ids of the C functions it has called, so that the
 * hot path shares nothing.
 *
 * Nothing of this is called unless C calls are recorded.
 */
#ifndef CUNEI_PROBE_EVENTS_C_CALL_H
#define CUNEI_PROBE_EVENTS_C_CALL_H

#include <Python.h>

#include <frameobject.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The co_extra slot of tags (see code_extra.h), what sys.monitoring passes for a
 * missing argument, and sys.monitoring.DISABLE (both borrowed: they live as long as the
 * process).
 */
void cunei_c_call_init(Py_ssize_t index, bool is_inline, PyObject *no_argument,
                       PyObject *switch_off);

/* The callbacks of CALL, C_RETURN and C_RAISE. */
vectorcallfunc cunei_c_call_on_call(void);
vectorcallfunc cunei_c_call_on_return(void);
vectorcallfunc cunei_c_call_on_raise(void);

/*
 * The same before 3.12, from a profile hook: the frame on top, which has this code,
 * calls a builtin, or the builtin returns.
 */
void cunei_c_call_enter(PyCodeObject *code, PyObject *callable);
void cunei_c_call_leave(PyCodeObject *code, PyObject *callable, bool raises);

/*
 * Whether the frame has an open call; see cunei_frame_running.  The second leaves it:
 * it has returned while another tool had the hook.
 */
bool cunei_c_call_is_inside(const void *frame);
void cunei_c_call_close(const void *frame);

/*
 * A recording begins, or resumes after a pause, in which calls may have ended: forget
 * ids and open calls.
 */
void cunei_c_call_reset(void);

/* The frame on top ends with an exception: leave its open calls. */
void cunei_c_call_unwind(void);

/*
 * A walk over the C functions that the calling thread's frames are in, from the
 * innermost frame outwards; begin with {0}.
 */
struct cunei_c_call_walk {
    size_t passed; /* all private */
    size_t from;
    const void *frame;
};

/* The id of a C function that `frame` is in, the innermost first; 0: no more. */
uint32_t cunei_c_call_next(struct cunei_c_call_walk *walk, PyFrameObject *frame);

/* How many the walk has not reached. */
size_t cunei_c_call_left(const struct cunei_c_call_walk *walk);

#endif
