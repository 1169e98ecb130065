// SPDX-License-Identifier: MIT
/* Finds the handler of an exception, from CPython 3.11 on. */
#ifndef CUNEI_PROBE_CORE_EXCEPTION_TABLE_H
#define CUNEI_PROBE_CORE_EXCEPTION_TABLE_H

#include <Python.h>

/* The handler for the instruction at an offset, both in bytes; -1: there is none. */
int cunei_exception_table_find(PyCodeObject *code, int offset);

#endif
