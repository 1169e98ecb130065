// SPDX-License-Identifier: MIT
#include "report/event_fields.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "wire/event.h"

/* A field of a layout: `type name;`, or `type name[count];`. */
struct field {
    const char *name;
    int name_size;
    unsigned size; /* bytes of an item; 1: of a text */
    bool is_array;
    bool is_signed;
};

/* Read the field that begins at `*at`, and move on to the next; false: no more. */
static bool next_field(const char **at, struct field *field)
{
    const char *type = *at + strspn(*at, " ");
    const char *space = strchr(type, ' ');
    const char *end = space ? strchr(space, ';') : NULL;

    if (!end)
        return false;
    field->name = space + 1;
    field->name_size = (int)strcspn(field->name, "[;");
    field->is_array = field->name[field->name_size] == '[';
    field->is_signed = strncmp(type, "int64_t", 7) == 0;
    field->size = field->is_signed                    ? 8
                  : strncmp(type, "uint64_t", 8) == 0 ? 8
                  : strncmp(type, "uint32_t", 8) == 0 ? 4
                                                      : 1;
    *at = end + 1;
    return true;
}

static uint64_t read_number(const char *at, unsigned size)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;

    if (size == 8)
        memcpy(&wide, at, sizeof(wide));
    else
        memcpy(&narrow, at, sizeof(narrow));
    return size == 8 ? wide : narrow;
}

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
    for (size_t i = 0; i < size; i++) {
        unsigned char letter = (unsigned char)text[i];
        const char *escape = escape_of(letter);
        if (escape)
            cunei_buffer_append_text(out, escape);
        else if (letter < 0x20 || letter == 0x7f)
            cunei_buffer_format(out, "\\x%02x", letter);
        else
            cunei_buffer_append(out, &text[i], 1);
    }
    cunei_buffer_append_text(out, "\"");
}

static void put_items(struct cunei_buffer *out, const char *at, unsigned size,
                      uint32_t count, bool json)
{
    cunei_buffer_append_text(out, "[");
    for (uint32_t i = 0; i < count; i++) {
        cunei_buffer_append_text(out, i == 0 ? "" : ",");
        if (!json)
            cunei_buffer_format(out, " [%" PRIu32 "] = ", i);
        cunei_buffer_format(out, "%" PRIu64, read_number(at + (size_t)i * size, size));
    }
    cunei_buffer_append_text(out, json ? "]" : " ]");
}

void cunei_event_fields_format(struct cunei_buffer *out, const uint64_t *words,
                               bool json)
{
    const struct cunei_layout *layout =
        cunei_event_layout(cunei_record_class(words[0]));
    const char *fields = layout ? layout->fields : "";
    const char *at = (const char *)(words + 1);
    struct field field;
    bool is_first = true;
    uint64_t last = 0; /* the value before: an array's length */

    while (next_field(&fields, &field)) {
        cunei_buffer_append_text(out, is_first ? "" : ",");
        cunei_buffer_format(out, json ? "\"%.*s\":" : " %.*s = ", field.name_size,
                            field.name);
        is_first = false;
        if (!field.is_array) {
            last = read_number(at, field.size);
            if (field.is_signed)
                cunei_buffer_format(out, "%" PRId64, (int64_t)last);
            else
                cunei_buffer_format(out, "%" PRIu64, last);
            at += field.size;
        } else if (field.size == 1)
            cunei_event_fields_text(out, at, strnlen(at, last), json);
        else
            put_items(out, at, field.size, (uint32_t)last, json);
    }
}
