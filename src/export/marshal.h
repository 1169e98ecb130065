// SPDX-License-Identifier: MIT
/*
 * Python's marshal, as far as a profile needs it; version 3, which all of 3.4 and later
 * read.
 *
 *     cunei_marshal_dict(out);
 *     cunei_marshal_text(out, "key", 3);
 *     cunei_marshal_tuple(out, 2, false);
 *     cunei_marshal_number(out, 42);
 *     cunei_marshal_seconds(out, ns);
 *     cunei_marshal_dict_end(out);
 *
 * An object that is marked when it is written is the next one of those that can be
 * meant again, by their number from 0 on.
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

/* So many items follow. */
void cunei_marshal_tuple(struct cunei_buffer *out, uint8_t count, bool is_marked);
void cunei_marshal_again(struct cunei_buffer *out, uint32_t number);

/* Bytes that are no UTF-8 become what surrogateescape makes of them. */
void cunei_marshal_text(struct cunei_buffer *out, const char *text, size_t size);
void cunei_marshal_number(struct cunei_buffer *out, uint64_t number);
void cunei_marshal_seconds(struct cunei_buffer *out, uint64_t ns);

#endif
