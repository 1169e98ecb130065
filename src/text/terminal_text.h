// SPDX-License-Identifier: MIT
/* Text measured in terminal columns, and shortened to fit them. */
#ifndef CUNEI_TEXT_TERMINAL_TEXT_H
#define CUNEI_TEXT_TERMINAL_TEXT_H

#include <stddef.h>

struct cunei_buffer;

/* The columns that a text takes on a terminal. */
size_t cunei_terminal_width(const char *text);

/* How many bytes the longest begin of a text has that takes at most `width` columns. */
size_t cunei_terminal_head(const char *text, size_t width);

/* The longest end of a text that takes at most `width` columns. */
const char *cunei_terminal_tail(const char *text, size_t width);

/*
 * Append `text`, shortened in its middle to at most `width` columns.  Control
 * characters and bytes that are not UTF-8 become visible: no byte of a trace reaches a
 * terminal unchecked.
 */
void cunei_terminal_text(struct cunei_buffer *out, const char *text, size_t width);

/*
 * The same for the path of a file, with or without a line number: the outermost
 * directories are dropped first.  The file's own name is shortened only if it is longer
 * than `width`.
 */
void cunei_terminal_path(struct cunei_buffer *out, const char *path, size_t width);

/* The columns that cunei_terminal_path needs for the file's own name. */
size_t cunei_terminal_path_least(const char *path);

#endif
