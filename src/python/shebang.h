// SPDX-License-Identifier: MIT
/* The Python that a script's first line names. */
#ifndef CUNEI_PYTHON_SHEBANG_H
#define CUNEI_PYTHON_SHEBANG_H

#include <stdbool.h>

struct cunei_shebang {
    bool exists;    /* there is such a line */
    char *python;   /* owned: the Python it names, as written; NULL: none */
    char flags[16]; /* as cunei_interpreter_args has them */
    bool no_site;
};

/* Read it; a file without one, or that cannot be read, has none. */
struct cunei_shebang cunei_shebang_read(const char *path);

#endif
