// SPDX-License-Identifier: MIT
/*
 * Where lines begin in a long function, for Pythons that are slow to tell.
 *
 * CPython 3.12 and 3.13.0 to 3.13.2 search through the whole function for each LINE
 * event of a line that is more than 127 below the first (gh-127953): 2 to 800 µs each,
 * where others take 30 ns.  INSTRUCTION events do not, and can be switched off place by
 * place: all but those of instructions that a line may begin with, one or two a line.
 * Which of them does begin one depends on where the frame was before, which the reader
 * of the trace knows.
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

/* Whether LINE events of the code are that slow in the Python that runs. */
bool cunei_line_table_is_needed(PyCodeObject *code);

/* The table, to be freed by free(3); NULL: it cannot be had.  No exception is set. */
struct cunei_line_table *cunei_line_table_new(PyCodeObject *code);

#endif
