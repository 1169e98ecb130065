// SPDX-License-Identifier: MIT
/*
 * A reader for JSON, from front to back: as much as a filter file needs, all of it
 * checked.
 *
 *     struct cunei_syntax syntax = {text, size, 0, &error};
 *     cunei_json_reader_space(&syntax);
 *     if (cunei_syntax_peek(&syntax) == '"')
 *         rc = cunei_json_reader_string(&syntax, &out);
 *     else
 *         rc = cunei_json_reader_skip(&syntax);
 *
 * It is our own because the probe reads filters as well: a library would be loaded into
 * the program.
 */
#ifndef CUNEI_BASE_JSON_READER_H
#define CUNEI_BASE_JSON_READER_H

#include "base/syntax_error.h"

struct cunei_buffer;

void cunei_json_reader_space(struct cunei_syntax *syntax);

/* Append the text of the string that begins here; it contains no NUL.  -EINVAL. */
int cunei_json_reader_string(struct cunei_syntax *syntax, struct cunei_buffer *out);

/* The same for the key of an object's member, and pass the ':' behind it. */
int cunei_json_reader_key(struct cunei_syntax *syntax, struct cunei_buffer *out);

/* Skip the value that begins here.  -EINVAL. */
int cunei_json_reader_skip(struct cunei_syntax *syntax);

/*
 * At the bracket that opens an array or object: 1 if an element follows, 0 at `close`.
 * And after an element; -EINVAL.
 */
int cunei_json_reader_first(struct cunei_syntax *syntax, char close);
int cunei_json_reader_next(struct cunei_syntax *syntax, char close);

#endif
