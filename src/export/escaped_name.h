// SPDX-License-Identifier: MIT
/* Names of functions for formats that are lines of text, or need UTF-8. */
#ifndef CUNEI_EXPORT_ESCAPED_NAME_H
#define CUNEI_EXPORT_ESCAPED_NAME_H

#include <stdbool.h>
#include <stddef.h>

struct cunei_buffer;
struct cunei_function;

/*
 * Append `text` in one line and as UTF-8: unsafe characters (cunei_text_unsafe) and
 * the byte `forbidden` are written as \xXX.
 */
void cunei_escaped_name_put(struct cunei_buffer *out, const char *text, size_t size,
                            char forbidden);

/* The module of a function; `region` for a region. */
const char *cunei_escaped_name_module(const struct cunei_function *function);

/* Append module:qualname in the same way. */
void cunei_escaped_name_put_function(struct cunei_buffer *out,
                                     const struct cunei_function *function,
                                     char forbidden);

/* Whether a text is UTF-8; and append one, with invalid bytes as \xXX. */
bool cunei_escaped_name_is_utf8(const char *text, size_t size);
void cunei_escaped_name_put_utf8(struct cunei_buffer *out, const char *text,
                                 size_t size);

#endif
