// SPDX-License-Identifier: MIT
#include "export/marshal.h"

#include <string.h>

#include "base/buffer.h"
#include "base/text.h"

#define MARK       0x80
#define DIGIT_BITS 15 /* of an int that does not fit into 32 bits */

static void put_byte(struct cunei_buffer *out, int byte)
{
    char text = (char)byte;
    cunei_buffer_append(out, &text, 1);
}

/* Little-endian, as everything. */
static void put_word(struct cunei_buffer *out, uint64_t word, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        put_byte(out, (int)(word >> 8 * i & 0xff));
}

void cunei_marshal_dict(struct cunei_buffer *out)
{
    put_byte(out, '{');
}

void cunei_marshal_dict_end(struct cunei_buffer *out)
{
    put_byte(out, '0');
}

void cunei_marshal_tuple(struct cunei_buffer *out, uint8_t count, bool is_marked)
{
    put_byte(out, is_marked ? ')' | MARK : ')');
    put_byte(out, count);
}

void cunei_marshal_again(struct cunei_buffer *out, uint32_t number)
{
    put_byte(out, 'r');
    put_word(out, number, 4);
}

void cunei_marshal_text(struct cunei_buffer *out, const char *text, size_t size)
{
    size_t extra = 0;

    for (size_t i = 0, length; i < size; i += length ? length : 1) {
        length = cunei_text_character(text + i, size - i);
        extra += length == 0 ? 2 : 0; /* three bytes for one */
    }
    put_byte(out, 'u');
    put_word(out, size + extra, 4);
    for (size_t i = 0, length; i < size; i += length ? length : 1) {
        length = cunei_text_character(text + i, size - i);
        uint32_t surrogate = 0xdc00 | (unsigned char)text[i];
        const char escaped[] = {(char)0xed, (char)(0x80 | (surrogate >> 6 & 0x3f)),
                                (char)(0x80 | (surrogate & 0x3f))};
        if (length > 0)
            cunei_buffer_append(out, text + i, length);
        else
            cunei_buffer_append(out, escaped, sizeof(escaped));
    }
}

void cunei_marshal_number(struct cunei_buffer *out, uint64_t number)
{
    unsigned digits = 0;

    if (number <= INT32_MAX) {
        put_byte(out, 'i');
        put_word(out, number, 4);
        return;
    }
    for (uint64_t left = number; left > 0; left >>= DIGIT_BITS)
        digits++;
    put_byte(out, 'l');
    put_word(out, digits, 4);
    for (; number > 0; number >>= DIGIT_BITS)
        put_word(out, number & ((1u << DIGIT_BITS) - 1), 2);
}

void cunei_marshal_seconds(struct cunei_buffer *out, uint64_t ns)
{
    double seconds = (double)ns / 1e9;
    uint64_t bits;

    memcpy(&bits, &seconds, sizeof(bits));
    put_byte(out, 'g');
    put_word(out, bits, 8);
}
