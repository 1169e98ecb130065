// SPDX-License-Identifier: MIT
/*
 * Calls of C functions: the events CALL, C_RETURN and C_RAISE.
 *
 * A C function is entered at the CALL that a Python frame makes, and left when that
 * call has come to its end.  Each thread remembers which frames are inside which C
 * function: what was not entered is not left, and a stack that is written meanwhile
 * shows them between the Python frames they stand between.  It also remembers the ids
 * of the C functions it has seen, so that nothing is shared on the way.
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
 * Where the words of code objects are (see code.h), what sys.monitoring passes for an
 * argument that is not there, and what switches events off (both borrowed: they live as
 * long as the process).
 */
void cunei_c_call_init(Py_ssize_t index, bool is_inline, PyObject *no_argument,
                       PyObject *switch_off);

/* What sys.monitoring calls for CALL, C_RETURN and C_RAISE. */
vectorcallfunc cunei_c_call_on_call(void);
vectorcallfunc cunei_c_call_on_return(void);
vectorcallfunc cunei_c_call_on_raise(void);

/*
 * The same before 3.12, as a profile hook is told: the frame on top, which has this
 * code, calls a builtin, and is called back to.
 */
void cunei_c_call_enter(PyCodeObject *code, PyObject *callable);
void cunei_c_call_leave(PyCodeObject *code, PyObject *callable, bool raises);

/*
 * Whether the frame has entered what it has not left; see cunei_frame_running.  Leave
 * it: it has returned while another had the hook.
 */
bool cunei_c_call_is_inside(const void *frame);
void cunei_c_call_close(const void *frame);

/*
 * A recording begins: ids and open calls of another one are forgotten.  Or it goes on
 * after a pause, in which calls may have ended: another frame may be where one was.
 */
void cunei_c_call_reset(void);

/* The frame on top ends by an exception: leave what it has entered and not left. */
void cunei_c_call_unwind(void);

/*
 * The C functions that the calling thread's frames are in, asked for from the innermost
 * frame outwards; begin with {0}.
 */
struct cunei_c_call_walk {
    size_t passed; /* all private */
    size_t from;
    const void *frame;
};

/* The id of a C function, the innermost first, that `frame` is in; 0: no more. */
uint32_t cunei_c_call_next(struct cunei_c_call_walk *walk, PyFrameObject *frame);

/* How many there are that the walk has not come to. */
size_t cunei_c_call_left(const struct cunei_c_call_walk *walk);

#endif
