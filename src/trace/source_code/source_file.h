// SPDX-License-Identifier: MIT
/*
 * A file of Python source, line by line.
 *
 *     struct cunei_source_file source;
 *     int rc = cunei_source_file_read(&source, "/src/app.py");
 *     uint32_t last = cunei_source_file_block(&source, 12);
 *     for (uint32_t line = 12; line <= last; line++)
 *         … cunei_source_file_line(&source, line, &size) …
 *     cunei_source_file_fini(&source);
 */
#ifndef CUNEI_TRACE_SOURCE_CODE_SOURCE_FILE_H
#define CUNEI_TRACE_SOURCE_CODE_SOURCE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

struct cunei_source_file {
    char *text;     /* owned */
    size_t *begins; /* owned: where each line begins, and the end */
    uint32_t count; /* of lines */
};

/*
 * The path may lead into a zip archive.  Negative errno: it cannot be read, or is too
 * long to be source
 * (-EFBIG).
 */
int cunei_source_file_read(struct cunei_source_file *source, const char *path);
/* The same of a text, which is freed with it, or here on failure: -ENOMEM. */
int cunei_source_file_take(struct cunei_source_file *source, char *text, size_t size);

void cunei_source_file_fini(struct cunei_source_file *source);

/* A line, counted from 1, without its line break: lent; NULL: no such line. */
const char *cunei_source_file_line(const struct cunei_source_file *source,
                                   uint32_t line, size_t *size);

/* The columns that a line is indented by. */
unsigned cunei_source_file_indent(const struct cunei_source_file *source,
                                  uint32_t line);

/* Append a line without its indentation; tabs become spaces. */
void cunei_source_file_put(const struct cunei_source_file *source, uint32_t line,
                           struct cunei_buffer *out);

/*
 * The last line of the function or class that begins at `first`, decorators included;
 * `first` for any other line.
 */
uint32_t cunei_source_file_block(const struct cunei_source_file *source,
                                 uint32_t first);

#endif
