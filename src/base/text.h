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
 * The bytes of the character that `text` begins with, where it must not reach a
 * terminal as it is: a control character (C0, DEL, C1), one that breaks the line, turns
 * the direction of the text or is invisible (such as U+2028, U+202E and U+200B), or a
 * byte that is not UTF-8.  0: it may.
 */
size_t cunei_text_unsafe(const char *text, size_t size);
bool cunei_text_is_safe(const char *text, size_t size);

/*
 * Append `text` for people, with unsafe characters written as \n, \t or \xXX for each
 * of their bytes.  Every name, path and value that is not cunei's own goes through this
 * before it is printed.  What was shown does not change if it is shown again: a
 * sentence may hold a name that is already escaped, and backslashes of cunei's own.
 */
void cunei_text_show(struct cunei_buffer *out, const char *text, size_t size);

/* The same with backslashes doubled, so that it can be undone. */
void cunei_text_escape(struct cunei_buffer *out, const char *text, size_t size);

/* Append each byte as \xXX. */
void cunei_text_put_bytes(struct cunei_buffer *out, const char *text, size_t size);

/* Undo it in place and return the new length. */
size_t cunei_text_unescape(char *text, size_t size);

/*
 * Append `text` as a JSON string, quotes included, with unsafe characters escaped.
 * Bytes that are not UTF-8 become \udcXX, which is what Python's surrogateescape makes
 * of them.
 */
void cunei_text_json(struct cunei_buffer *out, const char *text, size_t size);

/* The bytes of the UTF-8 character that `text` begins with; 0: it is not UTF-8. */
size_t cunei_text_character(const char *text, size_t size);

/* The same, and the number of the character in Unicode. */
size_t cunei_text_decode(const char *text, size_t size, uint32_t *point);

/* A character of Unicode as UTF-8; its length. */
size_t cunei_text_encode(uint32_t point, char out[4]);
void cunei_text_put_character(struct cunei_buffer *out, uint32_t point);

/* The length of the longest prefix of at most `limit` bytes that cuts no character. */
size_t cunei_text_cut(const char *text, size_t size, size_t limit);

#endif
