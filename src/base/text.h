// SPDX-License-Identifier: MIT
/* Quoting of text for lines, names and JSON strings, and the way back; UTF-8. */
#ifndef CUNEI_BASE_TEXT_H
#define CUNEI_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cunei_buffer;

/* Append `text` with control bytes, space and '%' written as %XX. */
void cunei_text_quote(struct cunei_buffer *out, const char *text, size_t size);

/* Undo it in place and return the new length; a bad escape stays as it is. */
size_t cunei_text_unquote(char *text, size_t size);

/*
 * Append `text` with control characters written as \n, \t or \xXX and backslashes
 * doubled, for names that people see.
 */
void cunei_text_escape(struct cunei_buffer *out, const char *text, size_t size);

/* Undo it in place and return the new length. */
size_t cunei_text_unescape(char *text, size_t size);

/* Whether it holds a control character: C0, DEL, U+0080–U+009F, or one that turns the
 * direction of the text after it (such as U+202E), in UTF-8. */
bool cunei_text_has_controls(const char *text, size_t size);

/*
 * Append `text` as a JSON string, quotes included.  Bytes that are not UTF-8 become
 * \udcXX, which is what Python's surrogateescape makes of them.
 */
void cunei_text_json(struct cunei_buffer *out, const char *text, size_t size);

/* The bytes of the UTF-8 character that `text` begins with; 0: it is not UTF-8. */
size_t cunei_text_character(const char *text, size_t size);

/* A character of Unicode as UTF-8; its length. */
size_t cunei_text_encode(uint32_t point, char out[4]);

/* The length of the longest prefix of at most `limit` bytes that cuts no character. */
size_t cunei_text_cut(const char *text, size_t size, size_t limit);

#endif
