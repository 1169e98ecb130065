// SPDX-License-Identifier: MIT
/*
 * Instrumenters: the CPython hooks that can record a program's calls, which Pythons
 * have each of them, and what each records besides functions.  The launcher, the probe
 * and the reader share this table.
 */
#ifndef CUNEI_PYTHON_INSTRUMENTER_H
#define CUNEI_PYTHON_INSTRUMENTER_H

#include <stdbool.h>

enum cunei_instrumenter {
    CUNEI_INSTRUMENTER_DEFAULT, /* the best one that a Python has */
    CUNEI_INSTRUMENTER_MONITORING,
    CUNEI_INSTRUMENTER_PROFILE,
    CUNEI_INSTRUMENTER_TRACE,
    CUNEI_INSTRUMENTER_FRAME,
    CUNEI_INSTRUMENTER_NONE,
    CUNEI_INSTRUMENTERS,
};

/* Their names from MONITORING on, which is the first; ends with NULL. */
extern const char *const cunei_instrumenter_names[];

/* The name; NULL for DEFAULT. */
const char *cunei_instrumenter_name(enum cunei_instrumenter instrumenter);

/* Find one by its name; DEFAULT: none has that name. */
enum cunei_instrumenter cunei_instrumenter_find(const char *name);

/* Which one DEFAULT is in CPython 3.`minor`. */
enum cunei_instrumenter cunei_instrumenter_default(int minor);

/* Whether CPython 3.`minor` has it; every Python has its own default. */
bool cunei_instrumenter_exists(enum cunei_instrumenter instrumenter, int minor);

/* Whether it records calls of C functions in that Python, and lines. */
bool cunei_instrumenter_has_c_calls(enum cunei_instrumenter instrumenter, int minor);
bool cunei_instrumenter_has_lines(enum cunei_instrumenter instrumenter, int minor);

#endif
