// SPDX-License-Identifier: MIT
/*
 * The program to run: which file is executed, with which arguments, and which Python
 * runs it.
 *
 *     app.py, app.pyz, a directory with __main__.py,     the default Python runs it
 *     a Python file that is not executable, -m, -c
 *     python3.13 -X dev app.py                           that Python, as it is
 *     ./tool and pytest whose first line names a Python  that file, as it is
 *     ./run.sh, make                                     that file; the Python is not
 * known
 */
#ifndef CUNEI_CMD_RECORD_PROGRAM_H
#define CUNEI_CMD_RECORD_PROGRAM_H

#include <stdbool.h>

struct cunei_buffer;

struct cunei_program {
    char *path;     /* owned: the file to execute */
    char **words;   /* owned; the words are borrowed from argv, or `path` or `script` */
    char *script;   /* owned: words may point to it */
    char *name;     /* owned: what to call it */
    char *python;   /* owned: the Python that will run it; NULL where unknown */
    char flags[16]; /* of that Python, as cunei_interpreter_args has them */
    bool no_site;   /* it is run with -S */
};

/*
 * Find out what the words mean; `python` was asked for by --python, or is NULL.
 * Returns false with the sentence why not in `reason`.
 */
bool cunei_program_find(struct cunei_program *program, int argc, char **argv,
                        const char *python, struct cunei_buffer *reason);
void cunei_program_fini(struct cunei_program *program);

/* What to call the program of a Python's command line; owned by the caller. */
char *cunei_program_name_of_command(int argc, char **argv);

/* The folder of the program's own modules: the script's, or the working directory.
 * Owned by the caller; NULL: not known. */
char *cunei_program_folder(const struct cunei_program *program);

/* The default Python, owned by the caller; NULL: none was found. */
char *cunei_program_default_python(void);

#endif
