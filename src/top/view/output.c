// SPDX-License-Identifier: MIT
#include "top/view/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"

#define ESCAPE 27

int cunei_top_output_add(struct cunei_top_output *output, const char *bytes,
                         size_t size)
{
    if (!output->bytes && !(output->bytes = malloc(CUNEI_TOP_OUTPUT_MAX)))
        return -ENOMEM;
    for (size_t i = 0; i < size; i++)
        output->bytes[(output->total + i) % CUNEI_TOP_OUTPUT_MAX] = bytes[i];
    output->total += size;
    output->size = output->total < CUNEI_TOP_OUTPUT_MAX ? (size_t)output->total
                                                        : CUNEI_TOP_OUTPUT_MAX;
    return 0;
}

void cunei_top_output_fini(struct cunei_top_output *output)
{
    free(output->bytes);
    *output = (struct cunei_top_output){0};
}

void cunei_top_output_copy(const struct cunei_top_output *output,
                           struct cunei_buffer *out)
{
    size_t begin = (size_t)((output->total - output->size) % CUNEI_TOP_OUTPUT_MAX);
    size_t first = output->size < CUNEI_TOP_OUTPUT_MAX - begin
                       ? output->size
                       : CUNEI_TOP_OUTPUT_MAX - begin;
    size_t start = out->size;

    if (output->size == 0)
        return;
    cunei_buffer_append(out, output->bytes + begin, first);
    cunei_buffer_append(out, output->bytes, output->size - first);
    if (output->total == output->size || out->failed)
        return;
    const char *line = memchr(out->data + start, '\n', out->size - start);
    if (line) {
        size_t rest = (size_t)(out->data + out->size - (line + 1));
        memmove(out->data + start, line + 1, rest + 1);
        out->size = start + rest;
    }
}

/* The bytes of an escape sequence: CSI … letter, OSC … BEL, or two. */
static size_t sequence_size(const char *text, size_t size)
{
    size_t i = 2;

    if (size < 2)
        return size;
    if (text[1] == '[') {
        while (i < size && (unsigned char)text[i] < 0x40)
            i++;
        return i < size ? i + 1 : size;
    }
    if (text[1] == ']') {
        while (i < size && text[i] != 7 && text[i] != ESCAPE)
            i++;
        return i < size ? i + 1 : size;
    }
    return 2;
}

/* What comes after a carriage return replaces the line so far. */
static void replace_line(struct cunei_buffer *out, bool *is_pending)
{
    if (!*is_pending)
        return;
    while (out->size > 0 && out->data[out->size - 1] != '\n')
        out->size--;
    *is_pending = false;
}

/* Up to the next character that means something to a terminal. */
static size_t put_plain(struct cunei_buffer *out, const char *text, size_t size)
{
    size_t i = 0;

    while (i < size && !memchr("\033\r\n\t\a\b", text[i], 7))
        i++;
    cunei_text_show(out, text, i);
    return i > 0 ? i : 1; /* a NUL, a bell or a backspace shows nothing */
}

void cunei_top_output_text(const struct cunei_top_output *output,
                           struct cunei_buffer *out)
{
    struct cunei_buffer raw = {0};
    bool is_pending = false;

    cunei_top_output_copy(output, &raw);
    for (size_t i = 0; i < raw.size && !raw.failed;) {
        char next = raw.data[i];
        if (next == ESCAPE)
            i += sequence_size(raw.data + i, raw.size - i);
        else if (next == '\r' || next == '\n' || next == '\t') {
            if (next == '\n')
                is_pending = false;
            if (next != '\r')
                cunei_buffer_append_text(out, next == '\n' ? "\n" : "    ");
            is_pending |= next == '\r';
            i++;
        } else {
            replace_line(out, &is_pending);
            i += put_plain(out, raw.data + i, raw.size - i);
        }
    }
    out->failed |= raw.failed;
    cunei_buffer_fini(&raw);
}
