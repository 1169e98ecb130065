// SPDX-License-Identifier: MIT
/*
 * JSON, read from front to back: as much as a filter file needs, and all of it checked.
 *
 *     struct cunei_syntax syntax = {text, size, 0, &error};
 *     cunei_json_reader_space(&syntax);
 *     if (cunei_syntax_peek(&syntax) == '"')
 *         rc = cunei_json_reader_string(&syntax, &out);
 *     else
 *         rc = cunei_json_reader_skip(&syntax);
 *
 * A reader of our own because the probe reads filters, too: a library would be loaded
 * into the program.
 */
#ifndef CUNEI_BASE_JSON_READER_H
#define CUNEI_BASE_JSON_READER_H

#include "base/syntax_error.h"

struct cunei_buffer;

void cunei_json_reader_space(struct cunei_syntax *syntax);

/* The text of the string that begins here, appended; it holds no NUL.  -EINVAL. */
int cunei_json_reader_string(struct cunei_syntax *syntax, struct cunei_buffer *out);

/* Pass over the value that begins here, whatever it is.  -EINVAL. */
int cunei_json_reader_skip(struct cunei_syntax *syntax);

/*
 * Behind an element of an array or object: 1: another one follows, 0: `close` was
 * there.  -EINVAL.
 */
int cunei_json_reader_next(struct cunei_syntax *syntax, char close);

#endif
