// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <stdint.h>

#include "base/buffer.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The byte that two hex digits at `text` name, or -1. */
static int hex_byte(const char *text)
{
    int high = hex_digit(text[0]);
    int low = high < 0 ? -1 : hex_digit(text[1]);
    return low < 0 ? -1 : high << 4 | low;
}

void cunei_text_quote(struct cunei_buffer *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c <= ' ' || c == '%' || c == 0x7f)
            cunei_buffer_format(out, "%%%02X", c);
        else
            cunei_buffer_append(out, &text[i], 1);
    }
}

size_t cunei_text_unquote(char *text, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < size; i++) {
        int byte = text[i] == '%' && size - i > 2 ? hex_byte(text + i + 1) : -1;
        if (byte >= 0) {
            i += 2;
            text[length++] = (char)byte;
        } else
            text[length++] = text[i];
    }
    return length;
}

/*
 * Characters that a terminal obeys (C0, DEL, C1), that begin a line or turn the
 * direction of the text around them (U+2028 to U+202E, U+2066 to U+2069, the marks), or
 * that are invisible.  The joiners U+200C and U+200D stay: scripts and emoji need them.
 */
static bool is_unsafe(uint32_t point)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
        {0x180e, 0x180e}, {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},
        {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (point <= ranges[i].last)
            return point >= ranges[i].first;
    }
    return false;
}

size_t cunei_text_unsafe(const char *text, size_t size)
{
    uint32_t point = 0;

    if (text[0] >= ' ' && text[0] < 0x7f)
        return 0;
    size_t length = cunei_text_decode(text, size, &point);
    if (length == 0)
        return 1;
    return is_unsafe(point) ? length : 0;
}

bool cunei_text_is_safe(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i += cunei_text_character(text + i, size - i)) {
        if (cunei_text_unsafe(text + i, size - i) > 0)
            return false;
    }
    return true;
}

void cunei_text_put_bytes(struct cunei_buffer *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        cunei_buffer_format(out, "\\x%02x", (unsigned char)text[i]);
}

static void put_escaped(struct cunei_buffer *out, const char *text, size_t size,
                        const char *backslash)
{
    for (size_t i = 0; i < size;) {
        size_t unsafe = cunei_text_unsafe(text + i, size - i);
        size_t length = cunei_text_character(text + i, size - i);
        if (text[i] == '\\')
            cunei_buffer_append_text(out, backslash);
        else if (text[i] == '\n')
            cunei_buffer_append_text(out, "\\n");
        else if (text[i] == '\t')
            cunei_buffer_append_text(out, "\\t");
        else if (unsafe > 0)
            cunei_text_put_bytes(out, text + i, unsafe);
        else
            cunei_buffer_append(out, text + i, length);
        i += length > 0 ? length : 1;
    }
}

void cunei_text_escape(struct cunei_buffer *out, const char *text, size_t size)
{
    put_escaped(out, text, size, "\\\\");
}

void cunei_text_show(struct cunei_buffer *out, const char *text, size_t size)
{
    if (cunei_text_is_safe(text, size))
        cunei_buffer_append(out, text, size);
    else
        put_escaped(out, text, size, "\\");
}

size_t cunei_text_unescape(char *text, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (c == '\\' && size - i > 1) {
            int byte = text[i + 1] == 'x' && size - i > 3 ? hex_byte(text + i + 2) : -1;
            c = text[++i];
            if (byte >= 0) {
                c = (char)byte;
                i += 2;
            } else if (c == 'n')
                c = '\n';
            else if (c == 't')
                c = '\t';
        }
        text[length++] = c;
    }
    return length;
}

size_t cunei_text_encode(uint32_t point, char out[4])
{
    size_t size = 0;

    if (point < 0x80)
        out[size++] = (char)point;
    else if (point < 0x800)
        out[size++] = (char)(0xc0 | point >> 6);
    else {
        if (point < 0x10000)
            out[size++] = (char)(0xe0 | point >> 12);
        else {
            out[size++] = (char)(0xf0 | point >> 18);
            out[size++] = (char)(0x80 | (point >> 12 & 0x3f));
        }
        out[size++] = (char)(0x80 | (point >> 6 & 0x3f));
    }
    if (point >= 0x80)
        out[size++] = (char)(0x80 | (point & 0x3f));
    return size;
}

void cunei_text_put_character(struct cunei_buffer *out, uint32_t point)
{
    char bytes[4];

    cunei_buffer_append(out, bytes, cunei_text_encode(point, bytes));
}

size_t cunei_text_decode(const char *text, size_t size, uint32_t *point)
{
    const unsigned char *c = (const unsigned char *)text;
    size_t length = c[0] < 0x80                    ? 1
                    : c[0] >= 0xc2 && c[0] < 0xe0  ? 2
                    : c[0] >= 0xe0 && c[0] < 0xf0  ? 3
                    : c[0] >= 0xf0 && c[0] <= 0xf4 ? 4
                                                   : 0;
    if (length == 0 || length > size)
        return 0;
    uint32_t value = length > 1 ? c[0] & (0x7fu >> length) : c[0];
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (c[i] & 0x3f);
    }
    bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
    bool surrogate = value >= 0xd800 && value < 0xe000;
    if (overlong || surrogate || value > 0x10ffff)
        return 0;
    *point = value;
    return length;
}

size_t cunei_text_character(const char *text, size_t size)
{
    return cunei_text_decode(text, size, &(uint32_t){0});
}

/* A character as JSON escapes: \uXXXX, or a pair of surrogates. */
static void put_json_escape(struct cunei_buffer *out, uint32_t point)
{
    if (point >= 0x10000) {
        cunei_buffer_format(out, "\\u%04x", 0xd800 | (point - 0x10000) >> 10);
        point = 0xdc00 | (point & 0x3ff);
    }
    cunei_buffer_format(out, "\\u%04x", point);
}

void cunei_text_json(struct cunei_buffer *out, const char *text, size_t size)
{
    cunei_buffer_append_text(out, "\"");
    for (size_t i = 0; i < size;) {
        unsigned char c = (unsigned char)text[i];
        uint32_t point = 0;
        size_t length = cunei_text_decode(text + i, size - i, &point);
        if (length == 0)
            cunei_buffer_format(out, "\\udc%02x", c);
        else if (c == '"' || c == '\\')
            cunei_buffer_format(out, "\\%c", c);
        else if (is_unsafe(point))
            put_json_escape(out, point);
        else
            cunei_buffer_append(out, text + i, length);
        i += length ? length : 1;
    }
    cunei_buffer_append_text(out, "\"");
}

size_t cunei_text_cut(const char *text, size_t size, size_t limit)
{
    if (size <= limit)
        return size;
    /* A character has at most three bytes behind its first; more are none. */
    for (size_t i = 0; i < 4 && i <= limit; i++) {
        if (((unsigned char)text[limit - i] & 0xc0) != 0x80)
            return limit - i;
    }
    return limit;
}
