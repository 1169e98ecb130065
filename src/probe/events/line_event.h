// SPDX-License-Identifier: MIT
/*
 * Lines of selected functions, as `line` events.
 *
 * sys.monitoring reports lines only of code objects that were asked for: other
 * functions cost the same as without lines.  A generator resumes in the middle of a
 * line, without an event; so its `resume` is followed by the current line.
 */
#ifndef CUNEI_PROBE_EVENTS_LINE_EVENT_H
#define CUNEI_PROBE_EVENTS_LINE_EVENT_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

struct cunei_function;
struct cunei_record_env;

/*
 * The co_extra slot of tags (see code_extra.h), and sys.monitoring.DISABLE (borrowed:
 * it lives as long as the process).
 */
void cunei_line_event_init(Py_ssize_t index, bool is_inline, PyObject *switch_off);

/*
 * The functions whose lines are recorded from now on; `session` is borrowed, NULL:
 * none.
 */
void cunei_line_event_choose(const struct cunei_record_env *session);
bool cunei_line_event_is_selected(const struct cunei_function *function);

/* Whether INSTRUCTION events are used for the lines of a code object. */
bool cunei_line_event_prepare(PyCodeObject *code);

/* The callbacks of LINE and INSTRUCTION. */
vectorcallfunc cunei_line_event_on_line(void);
vectorcallfunc cunei_line_event_on_instruction(void);

/* The frame on top, of this code, has resumed at the instruction at `offset`. */
void cunei_line_event_resume(PyCodeObject *code, uint64_t tag, int offset);

/*
 * The frame on top, of this code, begins a line: from sources other than
 * sys.monitoring.  Nothing happens if lines of the code are not recorded.
 */
void cunei_line_event_record(PyCodeObject *code, int line);

#endif
