// SPDX-License-Identifier: MIT
/* Numbers and names as people read them; the same in every view. */
#ifndef CUNEI_TEXT_FORMAT_H
#define CUNEI_TEXT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

struct cunei_buffer;
struct cunei_function;
struct cunei_process;
struct cunei_trace_process;

/* Each appends to `out`. */
void cunei_format_count(struct cunei_buffer *out, uint64_t count); /* 832 040 */
void cunei_format_duration(struct cunei_buffer *out, uint64_t ns); /* 1.02 s */
void cunei_format_percent(struct cunei_buffer *out, uint64_t part, uint64_t whole);
void cunei_format_size(struct cunei_buffer *out, uint64_t bytes); /* 1.2 GB */

/* "1 call", "2 calls": `one` gets an s. */
void cunei_format_several(struct cunei_buffer *out, uint64_t count, const char *one);

/*
 * A source file as it is recognised: relative to the program's own directory, to the
 * one it ran in, or to the library or site-packages it lies in.  `process` may be NULL.
 */
const char *cunei_format_file(const char *file, const struct cunei_process *process);

/*
 * What a process ran, as its user would call it: app.py, python -m http.server,
 * python -c; python where that is not known, or came from stdin.
 */
void cunei_format_program(struct cunei_buffer *out,
                          const struct cunei_process *process);

/*
 * The same with the arguments that tell it from others, cut where they are long; what
 * multiprocessing and execnet start for themselves by the name it has there.
 */
void cunei_format_command(struct cunei_buffer *out,
                          const struct cunei_process *process);

/* The same with the name that multiprocessing gave it, as reports show processes. */
void cunei_format_process(struct cunei_buffer *out,
                          const struct cunei_process *process);

/* The type of an exception; one of the program's own needs no module. */
const char *cunei_format_type(const char *type);

/* How a process ended, in a word or two; or that it still records. */
void cunei_format_exit(struct cunei_buffer *out,
                       const struct cunei_trace_process *process);

/* Where a function is: file:line; of one that is written in C, its module. */
void cunei_format_place(struct cunei_buffer *out, const struct cunei_function *function,
                        const struct cunei_process *process);

/* A name that the program gave; an empty one is seen, too: "". */
void cunei_format_name(struct cunei_buffer *out, const char *name);

/* Its qualified name; a module's own code is told by the module: <module json>. */
void cunei_format_function(struct cunei_buffer *out,
                           const struct cunei_function *function);

/* The columns that a text takes on a terminal, and its end that takes at most so many.
 */
size_t cunei_format_width(const char *text);
const char *cunei_format_tail(const char *text, size_t width);

/*
 * Append `text` so that it takes at most `width` columns, shortened in its middle, and
 * with control characters and bytes that are no UTF-8 made visible: nothing in a trace
 * reaches a terminal as is.
 */
void cunei_format_text(struct cunei_buffer *out, const char *text, size_t width);

/*
 * The same for a file, with or without its line: directories go, the outermost first,
 * and the file's own name is shortened only where it alone has no room.
 */
void cunei_format_path(struct cunei_buffer *out, const char *path, size_t width);

/* The columns that keep it from that. */
size_t cunei_format_path_least(const char *path);

#endif
