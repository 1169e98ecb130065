// SPDX-License-Identifier: MIT
/*
 * What tells of a program's calls: the hooks of CPython that can be chosen, in which
 * Pythons each of them is, and what it gives besides functions.  The launcher, the
 * probe and the reader all go by this table.
 */
#ifndef CUNEI_PYTHON_INSTRUMENTER_H
#define CUNEI_PYTHON_INSTRUMENTER_H

#include <stdbool.h>

enum cunei_instrumenter {
    CUNEI_INSTRUMENTER_DEFAULT, /* what is the best of them in a Python */
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

/* By its name; DEFAULT: there is none of that name. */
enum cunei_instrumenter cunei_instrumenter_find(const char *name);

/* Which one DEFAULT is in CPython 3.`minor`. */
enum cunei_instrumenter cunei_instrumenter_default(int minor);

/* Whether CPython 3.`minor` has it; its own default it has. */
bool cunei_instrumenter_exists(enum cunei_instrumenter instrumenter, int minor);

/* Whether it tells of calls of C functions there, and of lines. */
bool cunei_instrumenter_has_c_calls(enum cunei_instrumenter instrumenter, int minor);
bool cunei_instrumenter_has_lines(enum cunei_instrumenter instrumenter, int minor);

#endif
