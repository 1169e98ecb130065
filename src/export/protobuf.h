// SPDX-License-Identifier: MIT
/*
 * Protocol buffers, written by hand: varints, and messages whose length comes last.
 *
 *     size_t packet = cunei_proto_open(out, 1);
 *     cunei_proto_number(out, 8, time);
 *     cunei_proto_text(out, 2, name, size);
 *     cunei_proto_close(out, packet);
 */
#ifndef CUNEI_EXPORT_PROTOBUF_H
#define CUNEI_EXPORT_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"

enum cunei_proto_type {
    CUNEI_PROTO_VARINT = 0,
    CUNEI_PROTO_FIXED64 = 1,
    CUNEI_PROTO_BYTES = 2,
};

/* The most bytes that a varint takes. */
#define CUNEI_PROTO_VARINT_MAX 10u
/* Lengths of messages take as many bytes, whatever they are, to be filled in later. */
#define CUNEI_PROTO_LENGTH 4u

static inline char *cunei_proto_put(char *at, uint64_t number)
{
    while (number >= 0x80) {
        *at++ = (char)(number | 0x80);
        number >>= 7;
    }
    *at++ = (char)number;
    return at;
}

static inline char *cunei_proto_put_tag(char *at, uint32_t field,
                                        enum cunei_proto_type type)
{
    return cunei_proto_put(at, field << 3 | type);
}

static inline char *cunei_proto_put_number(char *at, uint32_t field, uint64_t number)
{
    return cunei_proto_put(cunei_proto_put_tag(at, field, CUNEI_PROTO_VARINT), number);
}

static inline void cunei_proto_number(struct cunei_buffer *out, uint32_t field,
                                      uint64_t number)
{
    char *at = cunei_buffer_room(out, (size_t)2 * CUNEI_PROTO_VARINT_MAX);

    if (at)
        cunei_buffer_grow(out, cunei_proto_put_number(at, field, number));
}

static inline void cunei_proto_double(struct cunei_buffer *out, uint32_t field,
                                      double number)
{
    char *at = cunei_buffer_room(out, CUNEI_PROTO_VARINT_MAX + sizeof(number));

    if (!at)
        return;
    at = cunei_proto_put_tag(at, field, CUNEI_PROTO_FIXED64);
    memcpy(at, &number, sizeof(number));
    cunei_buffer_grow(out, at + sizeof(number));
}

static inline void cunei_proto_text(struct cunei_buffer *out, uint32_t field,
                                    const char *text, size_t size)
{
    char *at = cunei_buffer_room(out, (size_t)2 * CUNEI_PROTO_VARINT_MAX + size);

    if (!at)
        return;
    at = cunei_proto_put_tag(at, field, CUNEI_PROTO_BYTES);
    at = cunei_proto_put(at, size);
    memcpy(at, text, size);
    cunei_buffer_grow(out, at + size);
}

/* Begin a message; returns where its content begins. */
static inline size_t cunei_proto_open(struct cunei_buffer *out, uint32_t field)
{
    char *at =
        cunei_buffer_room(out, (size_t)CUNEI_PROTO_VARINT_MAX + CUNEI_PROTO_LENGTH);

    if (at)
        cunei_buffer_grow(out, cunei_proto_put_tag(at, field, CUNEI_PROTO_BYTES) +
                                   CUNEI_PROTO_LENGTH);
    return out->size;
}

static inline void cunei_proto_close(struct cunei_buffer *out, size_t begin)
{
    if (out->failed)
        return;
    size_t size = out->size - begin;
    char *at = out->data + begin - CUNEI_PROTO_LENGTH;
    for (unsigned i = 0; i < CUNEI_PROTO_LENGTH; i++, size >>= 7)
        at[i] = (char)((size & 0x7f) | (i + 1 < CUNEI_PROTO_LENGTH ? 0x80 : 0));
}

#endif
