// SPDX-License-Identifier: MIT
/*
 * What the command line of a recorded process asks Python to run.
 *
 *     struct cunei_command_line line = cunei_command_line_read(executable, argv, argc);
 *     if (line.script[0])
 *         …
 */
#ifndef CUNEI_PYTHON_COMMAND_LINE_H
#define CUNEI_PYTHON_COMMAND_LINE_H

#include <stddef.h>

/* All texts are borrowed from the arguments. */
struct cunei_command_line {
    const char *script; /* a file or directory; "": no script */
    const char *module; /* of -m; NULL: no -m */
    const char *code;   /* of -c, "" where it is not known; NULL: no -c */
    size_t rest;        /* the first word behind them */
};

/* `executable` is the path of the Python, NULL if it is not known. */
struct cunei_command_line cunei_command_line_read(const char *executable,
                                                  char *const *arguments, size_t count);

/* The last part of a path. */
const char *cunei_command_line_base(const char *path);

#endif
