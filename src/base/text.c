// SPDX-License-Identifier: MIT
#include "base/text.h"

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

/* A C1 control, U+0080 to U+009F, is two bytes in UTF-8 and moves terminals too. */
static bool is_c1(const char *text, size_t size)
{
    return size > 1 && (unsigned char)text[0] == 0xc2 &&
           (unsigned char)text[1] < 0xa0 && (unsigned char)text[1] >= 0x80;
}

bool cunei_text_has_controls(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c == 0x7f || is_c1(text + i, size - i))
            return true;
    }
    return false;
}

void cunei_text_escape(struct cunei_buffer *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\\')
            cunei_buffer_append_text(out, "\\\\");
        else if (c == '\n')
            cunei_buffer_append_text(out, "\\n");
        else if (c == '\t')
            cunei_buffer_append_text(out, "\\t");
        else if (c < ' ' || c == 0x7f)
            cunei_buffer_format(out, "\\x%02x", c);
        else if (is_c1(text + i, size - i))
            cunei_buffer_format(out, "\\xc2\\x%02x", (unsigned char)text[++i]);
        else
            cunei_buffer_append(out, &text[i], 1);
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
    while (limit > 0 && ((unsigned char)text[limit] & 0xc0) == 0x80)
        limit--;
    return limit;
}
