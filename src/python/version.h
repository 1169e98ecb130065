// SPDX-License-Identifier: MIT
/* The version of a CPython. */
#ifndef CUNEI_PYTHON_VERSION_H
#define CUNEI_PYTHON_VERSION_H

#include <stdbool.h>

/* CPython 3.`minor`.`patch`. */
struct cunei_python_version {
    int minor, patch;
    bool no_gil;
};

/*
 * Parse the text by which a process describes its Python, "CPython 3.13.0"; it says
 * nothing of the GIL.  NULL and anything else: false, and the version is all 0.
 */
bool cunei_python_version_parse(const char *text, struct cunei_python_version *version);

#endif
