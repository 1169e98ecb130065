// SPDX-License-Identifier: MIT
/*
 * Writing the events of an exception, and reading tracebacks and code: shared by
 * probe/events/exception.h and probe/events/exception_legacy.h.
 */
#ifndef CUNEI_PROBE_EVENTS_EXCEPTION_RECORD_H
#define CUNEI_PROBE_EVENTS_EXCEPTION_RECORD_H

#include <Python.h>

#include <frameobject.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/event.h"

struct cunei_exception_tracks;
struct cunei_propagating;

/* Copy the name of its type, which is written with each of its events. */
void cunei_exception_record_type(struct cunei_propagating *propagating,
                                 PyTypeObject *type);

void cunei_exception_record_write(enum cunei_phase phase,
                                  const struct cunei_propagating *propagating);

/* `handler` has caught it, in this line; 0: code that is not recorded, or C code. */
void cunei_exception_record_caught(struct cunei_exception_tracks *tracks,
                                   struct cunei_propagating *propagating,
                                   uint32_t handler, uint32_t line);

/*
 * Whether a frame is the one in which threading prints an exception that has ended a
 * thread's function: then nothing has caught it.  `depth` counts the frame itself.
 */
bool cunei_exception_record_ends_thread(PyCodeObject *code, PyObject *globals,
                                        uint32_t depth);

/*
 * Whether the interpreter prints an exception that ends the outermost frame, of this
 * code.  Not that of importlib or zipimport: the interpreter calls these without a
 * frame around them to find out what to run, and ignores their exceptions.
 */
bool cunei_exception_record_ends_program(PyCodeObject *code);

/* Whether an entry of a traceback is of this code, and whether one from it on is. */
bool cunei_exception_record_is_of(const PyTracebackObject *traceback, const void *code);
bool cunei_exception_record_passed(const PyTracebackObject *traceback,
                                   const void *code);

/* The last entry: the frame that raised the exception. */
const PyTracebackObject *cunei_exception_record_innermost(
    const PyTracebackObject *traceback);

/* Whether the instruction there is one that a StopIteration ends. */
bool cunei_exception_record_iterates(PyCodeObject *code, int offset);

#endif
