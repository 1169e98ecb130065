// SPDX-License-Identifier: MIT
/*
 * Lines of chosen functions, as `line` events.
 *
 * sys.monitoring tells of lines of the code objects that it was asked to, and of no
 * others: a function whose lines are not wanted costs what it always does.  A generator
 * that goes on does so in the middle of a line, of which nothing is told; its `resume`
 * is followed by the line it is in.
 */
#ifndef CUNEI_PROBE_EVENTS_LINE_EVENT_H
#define CUNEI_PROBE_EVENTS_LINE_EVENT_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

struct cunei_function;
struct cunei_record_env;

/*
 * Where the words of code objects are (see code.h), and what switches events off
 * (borrowed: it lives as long as the process).
 */
void cunei_line_event_init(Py_ssize_t index, bool is_inline, PyObject *switch_off);

/* Whose lines are recorded from now on; `session` is borrowed, NULL: nobody's. */
void cunei_line_event_choose(const struct cunei_record_env *session);
bool cunei_line_event_is_selected(const struct cunei_function *function);

/* Whether the lines of a code object are better told by its instructions. */
bool cunei_line_event_prepare(PyCodeObject *code);

/* What sys.monitoring calls for LINE, and for INSTRUCTION. */
vectorcallfunc cunei_line_event_on_line(void);
vectorcallfunc cunei_line_event_on_instruction(void);

/* The frame on top, of this code, has gone on at the instruction at `offset`. */
void cunei_line_event_resume(PyCodeObject *code, uint64_t tag, int offset);

/*
 * The frame on top, of this code, begins a line: where the source is not monitor.h.
 * Nothing is said of code whose lines are not recorded.
 */
void cunei_line_event_record(PyCodeObject *code, int line);

#endif
