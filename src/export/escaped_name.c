// SPDX-License-Identifier: MIT
#include "export/escaped_name.h"

#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "wire/metadata.h"
#include "wire/user_event.h"

void cunei_escaped_name_put(struct cunei_buffer *out, const char *text, size_t size,
                            char forbidden)
{
    for (size_t i = 0, end; i < size; i = end) {
        size_t unsafe = cunei_text_unsafe(text + i, size - i);
        end = i + (unsafe > 0 ? unsafe : cunei_text_character(text + i, size - i));
        if (unsafe > 0 || text[i] == forbidden)
            cunei_text_put_bytes(out, text + i, end - i);
        else
            cunei_buffer_append(out, text + i, end - i);
    }
}

const char *cunei_escaped_name_module(const struct cunei_function *function)
{
    return cunei_definition_of(function) == CUNEI_DEFINITION_REGION ? "region"
                                                                    : function->module;
}

void cunei_escaped_name_put_function(struct cunei_buffer *out,
                                     const struct cunei_function *function,
                                     char forbidden)
{
    const char *module = cunei_escaped_name_module(function);

    cunei_escaped_name_put(out, module, strlen(module), forbidden);
    cunei_buffer_append_text(out, ":");
    cunei_escaped_name_put(out, function->qualname, strlen(function->qualname),
                           forbidden);
}

bool cunei_escaped_name_is_utf8(const char *text, size_t size)
{
    size_t length = 1;

    for (size_t i = 0; length > 0 && i < size; i += length)
        length = cunei_text_character(text + i, size - i);
    return length > 0;
}

void cunei_escaped_name_put_utf8(struct cunei_buffer *out, const char *text,
                                 size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t length = cunei_text_character(text + i, size - i);
        if (length > 0)
            cunei_buffer_append(out, text + i, length);
        else
            cunei_buffer_format(out, "\\x%02x", (unsigned char)text[i]);
        i += length > 0 ? length : 1;
    }
}
