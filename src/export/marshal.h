// SPDX-License-Identifier: MIT
/*
 * The part of Python's marshal that a profile needs, version 3: Python 3.4 and later
 * read it.
 *
 *     cunei_marshal_dict(out);
 *     cunei_marshal_text(out, "key", 3);
 *     cunei_marshal_tuple(out, 2, false);
 *     cunei_marshal_number(out, 42);
 *     cunei_marshal_seconds(out, ns);
 *     cunei_marshal_dict_end(out);
 *
 * Objects that are marked when they are written can be referred to by number, from 0.
 */
#ifndef CUNEI_EXPORT_MARSHAL_H
#define CUNEI_EXPORT_MARSHAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cunei_buffer;

/* Keys and values follow, until the end. */
void cunei_marshal_dict(struct cunei_buffer *out);
void cunei_marshal_dict_end(struct cunei_buffer *out);

/* `count` items follow. */
void cunei_marshal_tuple(struct cunei_buffer *out, uint8_t count, bool is_marked);
void cunei_marshal_again(struct cunei_buffer *out, uint32_t number);

/* Invalid UTF-8 is encoded as by surrogateescape. */
void cunei_marshal_text(struct cunei_buffer *out, const char *text, size_t size);
void cunei_marshal_number(struct cunei_buffer *out, uint64_t number);
void cunei_marshal_seconds(struct cunei_buffer *out, uint64_t ns);

#endif
