// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <stdint.h>
#include <string.h>

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

/* Those that turn the direction of a text: U+200E, U+200F, U+202A to U+202E and U+2066
 * to U+2069, of which all begin with 0xe2. */
static bool is_turn(unsigned char second, unsigned char third)
{
    return second == 0x80
               ? third == 0x8e || third == 0x8f || (third >= 0xaa && third <= 0xae)
               : second == 0x81 && third >= 0xa6 && third <= 0xa9;
}

/* The bytes of the control character that `text` begins with; 0: it is not one.
 * Terminals obey those of more than one byte as well. */
static size_t control_size(const char *text, size_t size)
{
    const unsigned char *c = (const unsigned char *)text;

    if (c[0] < ' ' || c[0] == 0x7f)
        return 1;
    if (size > 1 && c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
        return 2;
    if (size > 1 && c[0] == 0xd8 && c[1] == 0x9c) /* U+061C */
        return 2;
    return size > 2 && c[0] == 0xe2 && is_turn(c[1], c[2]) ? 3 : 0;
}

bool cunei_text_has_controls(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (control_size(text + i, size - i) > 0)
            return true;
    }
    return false;
}

void cunei_text_escape(struct cunei_buffer *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        size_t control = control_size(text + i, size - i);
        if (c == '\\')
            cunei_buffer_append_text(out, "\\\\");
        else if (c == '\n')
            cunei_buffer_append_text(out, "\\n");
        else if (c == '\t')
            cunei_buffer_append_text(out, "\\t");
        else if (control > 0) {
            for (size_t end = i + control; i < end; i++)
                cunei_buffer_format(out, "\\x%02x", (unsigned char)text[i]);
            i--;
        } else
            cunei_buffer_append(out, &c, 1);
    }
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

size_t cunei_text_character(const char *text, size_t size)
{
    const unsigned char *c = (const unsigned char *)text;
    size_t length = c[0] < 0x80                    ? 1
                    : c[0] >= 0xc2 && c[0] < 0xe0  ? 2
                    : c[0] >= 0xe0 && c[0] < 0xf0  ? 3
                    : c[0] >= 0xf0 && c[0] <= 0xf4 ? 4
                                                   : 0;
    if (length == 0 || length > size)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    }
    bool overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
    bool surrogate = c[0] == 0xed && c[1] >= 0xa0;
    bool too_far = c[0] == 0xf4 && c[1] >= 0x90;
    return overlong || surrogate || too_far ? 0 : length;
}

void cunei_text_json(struct cunei_buffer *out, const char *text, size_t size)
{
    cunei_buffer_append_text(out, "\"");
    for (size_t i = 0; i < size;) {
        unsigned char c = (unsigned char)text[i];
        size_t length = cunei_text_character(text + i, size - i);
        if (length == 0)
            cunei_buffer_format(out, "\\udc%02x", c);
        else if (c == '"' || c == '\\')
            cunei_buffer_format(out, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            cunei_buffer_format(out, "\\u%04x", c);
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
