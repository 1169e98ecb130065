// SPDX-License-Identifier: MIT
#include "text/terminal_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "base/buffer.h"
#include "base/text.h"

#define NESTED ".<locals>."
#define CUT    "…"
#define FROZEN "<frozen "

/* The result of decode for a byte that is not UTF-8; no character has this number. */
#define BAD UINT32_MAX

/* The length of the UTF-8 character at `text`, and its code point; 1 for a bad byte. */
static size_t decode(const char *text, uint32_t *character)
{
    size_t size = cunei_text_decode(text, strnlen(text, 4), character);

    if (size > 0)
        return size;
    *character = BAD;
    return 1;
}

/* A character that the locale does not know takes one column. */
static size_t width_of(uint32_t character)
{
    int width = character < 0x7f || character == BAD ? 1 : wcwidth((wchar_t)character);
    return width < 0 ? 1 : (size_t)width;
}

size_t cunei_terminal_width(const char *text)
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
size_t cunei_terminal_head(const char *text, size_t width)
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

const char *cunei_terminal_tail(const char *text, size_t width)
{
    size_t left = cunei_terminal_width(text), at = 0;
    uint32_t character = 0;

    while (text[at] && left > width) {
        at += decode(text + at, &character);
        left -= width_of(character);
    }
    return text + at;
}

/* `f.<locals>.g` is shortened to `f…g`. */
static void drop_nested(struct cunei_buffer *out, const char *text)
{
    const char *nested = NULL;

    for (; (nested = strstr(text, NESTED)); text = nested + strlen(NESTED)) {
        cunei_buffer_append(out, text, (size_t)(nested - text));
        cunei_buffer_append_text(out, CUT);
    }
    cunei_buffer_append_text(out, text);
}

/* `text`, or a copy of it in `visible` that is safe to print. */
static const char *make_visible(const char *text, struct cunei_buffer *visible)
{
    size_t size = strlen(text);

    if (cunei_text_is_safe(text, size))
        return text;
    cunei_text_show(visible, text, size);
    return cunei_buffer_text(visible);
}

void cunei_terminal_text(struct cunei_buffer *out, const char *text, size_t width)
{
    struct cunei_buffer visible = {0}, outline = {0};
    const char *shown = make_visible(text, &visible);

    if (cunei_terminal_width(shown) > width && strstr(shown, NESTED)) {
        drop_nested(&outline, shown);
        shown = cunei_buffer_text(&outline);
    }
    if (cunei_terminal_width(shown) <= width)
        cunei_buffer_append_text(out, shown);
    else if (width > 0) {
        const char *tail = cunei_terminal_tail(shown, (width - 1) / 2);
        size_t head = cunei_terminal_head(shown, width - 1 - (width - 1) / 2);
        size_t mark = strlen(CUT);
        /* No second … beside one that is there already. */
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

/* `<frozen a.b>:1` is shortened to a.b:1. */
static void thaw(struct cunei_buffer *out, const char *path)
{
    const char *end = strrchr(path, '>');

    if (strncmp(path, FROZEN, strlen(FROZEN)) != 0 || !end) {
        cunei_buffer_append_text(out, path);
        return;
    }
    path += strlen(FROZEN);
    cunei_buffer_append(out, path, (size_t)(end - path));
    cunei_buffer_append_text(out, end + 1);
}

void cunei_terminal_path(struct cunei_buffer *out, const char *path, size_t width)
{
    struct cunei_buffer visible = {0}, thawed = {0};
    const char *shown = make_visible(path, &visible);
    bool is_frozen = strncmp(shown, FROZEN, strlen(FROZEN)) == 0;
    bool is_cut = false;

    if (is_frozen && cunei_terminal_width(shown) > width) {
        thaw(&thawed, shown);
        shown = cunei_buffer_text(&thawed);
    }
    while (cunei_terminal_width(shown) + is_cut > width) {
        const char *inner = strchr(shown + 1, is_frozen ? '.' : '/');
        if (!inner || !inner[1])
            break;
        shown = is_frozen ? inner + 1 : inner;
        is_cut = true;
    }
    if (is_cut && cunei_terminal_width(shown) < width) {
        cunei_buffer_append_text(out, CUT);
        cunei_buffer_append_text(out, shown);
    } else
        cunei_terminal_text(out, is_cut && *shown == '/' ? shown + 1 : shown, width);
    out->failed |= visible.failed || thawed.failed;
    cunei_buffer_fini(&visible);
    cunei_buffer_fini(&thawed);
}

size_t cunei_terminal_path_least(const char *path)
{
    bool is_frozen = strncmp(path, FROZEN, strlen(FROZEN)) == 0;
    const char *name = strrchr(path, is_frozen ? '.' : '/');

    if (!name && is_frozen)
        name = path + strlen(FROZEN) - 1;
    size_t width = cunei_terminal_width(name ? name + 1 : path);
    return is_frozen && width > 0 ? width - 1 : width; /* without its bracket */
}
