// SPDX-License-Identifier: MIT
/*
 * The values that a program records itself, as text.  In JSON: null for none, quotes
 * around texts, and "nan", "inf" or "-inf" for numbers that JSON does not have.  Each
 * function appends to `out`.
 */
#ifndef CUNEI_TEXT_TYPED_VALUE_H
#define CUNEI_TEXT_TYPED_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cunei_buffer;
struct cunei_user_value;

struct cunei_typed_value {
    uint32_t kind;    /* enum cunei_value_kind */
    uint64_t bits;    /* of the kinds that are numbers */
    const char *text; /* of the others, borrowed */
    size_t size;
};

/* Nothing for kind none, but in JSON. */
void cunei_typed_value_format(const struct cunei_typed_value *value, bool json,
                              struct cunei_buffer *out);
void cunei_typed_value_format_event(const struct cunei_user_value *event, bool json,
                                    struct cunei_buffer *out);

/* 64 bits of a number. */
void cunei_typed_value_format_number(uint64_t bits, bool is_double, bool json,
                                     struct cunei_buffer *out);

#endif
