// SPDX-License-Identifier: MIT
/*
 * The names of programs, processes, files and functions as people know them; the same
 * in reports and exports.
 */
#ifndef CUNEI_TEXT_NAMES_H
#define CUNEI_TEXT_NAMES_H

struct cunei_buffer;
struct cunei_function;
struct cunei_process;

/*
 * A source file relative to the program's own directory, to its working directory, or
 * to the library or site-packages that contains it.  `process` may be NULL.
 */
const char *cunei_format_file(const char *file, const struct cunei_process *process);

/*
 * The program of a process: app.py, python -m http.server, python -c; python if it is
 * not known or was read from stdin.
 */
void cunei_format_program(struct cunei_buffer *out,
                          const struct cunei_process *process);

/*
 * The program with its arguments, shortened.  The helper processes of multiprocessing
 * and execnet have the names that these libraries use.
 */
void cunei_format_command(struct cunei_buffer *out,
                          const struct cunei_process *process);

/* The command, followed by the name that multiprocessing gave the process. */
void cunei_format_process(struct cunei_buffer *out,
                          const struct cunei_process *process);

/* The type of an exception, without `__main__.`. */
const char *cunei_format_type(const char *type);

/* Where a function is defined: file:line, or the module of a C function. */
void cunei_format_place(struct cunei_buffer *out, const struct cunei_function *function,
                        const struct cunei_process *process);

/* The qualified name of a function; for the code of a module <module json>. */
void cunei_format_function(struct cunei_buffer *out,
                           const struct cunei_function *function);

#endif
