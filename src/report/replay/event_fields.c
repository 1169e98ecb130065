// SPDX-License-Identifier: MIT
#include "report/replay/event_fields.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "wire/event.h"

/* What babeltrace2 has a letter for. */
static const char *escape_of(unsigned char letter)
{
    switch (letter) {
    case '\\':
        return "\\\\";
    case '\'':
        return "\\'";
    case '"':
        return "\\\"";
    case '?':
        return "\\?";
    case '\a':
        return "\\a";
    case '\b':
        return "\\b";
    case 033:
        return "\\e";
    case '\f':
        return "\\f";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    case '\v':
        return "\\v";
    default:
        return NULL;
    }
}

void cunei_event_fields_text(struct cunei_buffer *out, const char *text, size_t size,
                             bool json)
{
    if (json) {
        cunei_text_json(out, text, size);
        return;
    }
    cunei_buffer_append_text(out, "\"");
    for (size_t i = 0, end; i < size; i = end) {
        const char *escape = escape_of((unsigned char)text[i]);
        size_t unsafe = cunei_text_unsafe(text + i, size - i);
        end = i + (unsafe > 0 ? unsafe : cunei_text_character(text + i, size - i));
        if (escape)
            cunei_buffer_append_text(out, escape);
        else if (unsafe == 0)
            cunei_buffer_append(out, text + i, end - i);
        else
            cunei_text_put_bytes(out, text + i, end - i);
    }
    cunei_buffer_append_text(out, "\"");
}

static void put_functions(struct cunei_buffer *out, const uint32_t *functions,
                          uint64_t count, bool json)
{
    cunei_buffer_append_text(out, "[");
    for (uint64_t i = 0; i < count; i++) {
        cunei_buffer_append_text(out, i == 0 ? "" : ",");
        if (!json)
            cunei_buffer_format(out, " [%" PRIu64 "] = ", i);
        cunei_buffer_format(out, "%" PRIu32, functions[i]);
    }
    cunei_buffer_append_text(out, json ? "]" : " ]");
}

void cunei_event_fields_format(struct cunei_buffer *out, const uint64_t *words,
                               bool json)
{
    const struct cunei_event_class *class =
        cunei_event_class(cunei_record_class(words[0]));
    const char *at = (const char *)(words + 1);
    uint64_t number = 0; /* the one before an array is its length */

    for (const struct cunei_field *field = class->fields; field->name; field++) {
        cunei_buffer_append_text(out, field == class->fields ? "" : ",");
        cunei_buffer_format(out, json ? "\"%s\":" : " %s = ", field->name);
        if (field->kind == CUNEI_FIELD_TEXT)
            cunei_event_fields_text(out, at, strnlen(at, number), json);
        else if (field->kind == CUNEI_FIELD_FUNCTIONS)
            put_functions(out, (const void *)at, number, json);
        else {
            number = cunei_field_number(field, at);
            cunei_buffer_format(
                out, field->kind == CUNEI_FIELD_SIGNED ? "%" PRId64 : "%" PRIu64,
                number);
            at += field->size;
        }
    }
}
