// SPDX-License-Identifier: MIT
/* The exception table of a code object, from CPython 3.11 on. */
#ifndef CUNEI_PROBE_CORE_EXCEPTION_TABLE_H
#define CUNEI_PROBE_CORE_EXCEPTION_TABLE_H

#include <Python.h>

/* The handler for the instruction at an offset, both in bytes; -1: there is none. */
int cunei_exception_table_find(PyCodeObject *code, int offset);

/* An entry of the table, in code units; entries are sorted by their start. */
struct cunei_exception_entry {
    unsigned start, size, handler;
};

/* Read the entry at `byte`; where the next one begins, or NULL: the table is cut. */
const unsigned char *cunei_exception_table_read(const unsigned char *byte,
                                                const unsigned char *end,
                                                struct cunei_exception_entry *entry);

#endif
