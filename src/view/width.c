// SPDX-License-Identifier: MIT
/* The part of format.h that knows how wide characters are. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/buffer.h"
#include "base/text.h"
#include "view/format.h"

#define NESTED ".<locals>."
#define CUT    "…"

/* The length of the UTF-8 character at `text`, and what it is; a bad byte is one. */
static size_t decode(const char *text, uint32_t *character)
{
    unsigned char first = (unsigned char)text[0];
    size_t size = first < 0x80             ? 1
                  : (first & 0xe0) == 0xc0 ? 2
                  : (first & 0xf0) == 0xe0 ? 3
                  : (first & 0xf8) == 0xf0 ? 4
                                           : 0;
    uint32_t value = size > 1 ? first & (0x7fu >> size) : first;

    for (size_t i = 1; i < size; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80) {
            size = 0;
            break;
        }
        value = value << 6 | ((unsigned char)text[i] & 0x3f);
    }
    *character = size ? value : 0xfffd;
    return size ? size : 1;
}

/* Where the locale does not know a character it takes one column. */
static size_t width_of(uint32_t character)
{
    int width = character < 0x7f ? 1 : wcwidth((wchar_t)character);
    return width < 0 ? 1 : (size_t)width;
}

size_t cunei_format_width(const char *text)
{
    size_t width = 0;
    uint32_t character = 0;

    for (size_t i = 0; text[i];) {
        i += decode(text + i, &character);
        width += width_of(character);
    }
    return width;
}

/* The longest beginning of `text` that takes at most `width` columns, in bytes. */
static size_t fit_head(const char *text, size_t width)
{
    size_t used = 0, at = 0;
    uint32_t character = 0;

    while (text[at]) {
        size_t size = decode(text + at, &character);
        used += width_of(character);
        if (used > width)
            break;
        at += size;
    }
    return at;
}

const char *cunei_format_tail(const char *text, size_t width)
{
    size_t left = cunei_format_width(text), at = 0;
    uint32_t character = 0;

    while (text[at] && left > width) {
        at += decode(text + at, &character);
        left -= width_of(character);
    }
    return text + at;
}

/* `f.<locals>.g` says as much as `f…g`. */
static void drop_nested(struct cunei_buffer *out, const char *text)
{
    const char *nested = NULL;

    for (; (nested = strstr(text, NESTED)); text = nested + strlen(NESTED)) {
        cunei_buffer_append(out, text, (size_t)(nested - text));
        cunei_buffer_append_text(out, CUT);
    }
    cunei_buffer_append_text(out, text);
}

void cunei_format_text(struct cunei_buffer *out, const char *text, size_t width)
{
    struct cunei_buffer visible = {0}, outline = {0};
    const char *shown = text;

    if (cunei_text_has_controls(text, strlen(text))) {
        cunei_text_escape(&visible, text, strlen(text));
        shown = visible.data ? visible.data : "";
    }
    if (cunei_format_width(shown) > width && strstr(shown, NESTED)) {
        drop_nested(&outline, shown);
        shown = outline.data ? outline.data : "";
    }
    if (cunei_format_width(shown) <= width)
        cunei_buffer_append_text(out, shown);
    else if (width > 0) {
        const char *tail = cunei_format_tail(shown, (width - 1) / 2);
        size_t head = fit_head(shown, width - 1 - (width - 1) / 2);
        size_t mark = strlen(CUT);
        /* Where it is cut beside a mark that is there already, one is enough. */
        if (head >= mark && memcmp(shown + head - mark, CUT, mark) == 0)
            head -= mark;
        if (strncmp(tail, CUT, mark) == 0)
            tail += mark;
        cunei_buffer_append(out, shown, head);
        cunei_buffer_append_text(out, CUT);
        cunei_buffer_append_text(out, tail);
    }
    out->failed |= visible.failed || outline.failed;
    cunei_buffer_fini(&visible);
    cunei_buffer_fini(&outline);
}
