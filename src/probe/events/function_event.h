// SPDX-License-Identifier: MIT
/*
 * The cold path of a function's event, for all sources.  The code is that of the frame
 * on top, and no exception is set.
 */
#ifndef CUNEI_PROBE_EVENTS_FUNCTION_EVENT_H
#define CUNEI_PROBE_EVENTS_FUNCTION_EVENT_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "wire/event.h"

struct cunei_function;

/* The flags (enum cunei_code_flag) that events of this function need. */
uint32_t cunei_function_event_flags(PyCodeObject *code,
                                    const struct cunei_function *function);

/* The tag of the code, made at first sight; 0: there is none, and the event is lost. */
uint64_t cunei_function_event_tag(PyCodeObject *code);

/*
 * Write the event of a function with this tag, and what its flags ask for.  `value` is
 * what it returns or yields, or NULL.
 */
void cunei_function_event_write(PyCodeObject *code, uint64_t tag,
                                enum cunei_phase phase, PyObject *value);

/*
 * Write that a frame of the function ends with an exception of this type, and its
 * leave; also the event of the exception itself, if one is given.
 */
void cunei_function_event_unwind(PyCodeObject *code, uint64_t tag, const void *type,
                                 PyObject *offset, PyObject *exception);

/* Whether this is the first frame of __main__. */
bool cunei_function_event_is_main(PyCodeObject *code);

#endif
