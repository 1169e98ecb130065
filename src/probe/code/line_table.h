// SPDX-License-Identifier: MIT
/*
 * Where lines begin in a long function, for versions with slow LINE events.
 *
 * CPython 3.12 and 3.13.0 to 3.13.2 search the whole function for each LINE event of a
 * line that is more than 127 below the first (gh-127953): 2 to 800 µs each, instead of
 * 30 ns.  INSTRUCTION events are not slow, and can be disabled instruction by
 * instruction: all but those that may begin a line, one or two a line.  Which of these
 * do begin one depends on where the frame was before, which the reader of the trace
 * knows.
 */
#ifndef CUNEI_PROBE_CODE_LINE_TABLE_H
#define CUNEI_PROBE_CODE_LINE_TABLE_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

struct cunei_line_table {
    uint32_t count;
    uint32_t lines[]; /* by code unit: the line that may begin there; 0: none */
};

/* Whether LINE events of the code are slow in the running version. */
bool cunei_line_table_is_needed(PyCodeObject *code);

/* The table, to be freed with free(3); NULL: no memory.  No exception is set. */
struct cunei_line_table *cunei_line_table_new(PyCodeObject *code);

#endif
