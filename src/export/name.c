// SPDX-License-Identifier: MIT
#include "export/name.h"

#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "wire/metadata.h"

void cunei_name_put(struct cunei_buffer *out, const char *text, char forbidden)
{
    size_t size = strlen(text), begin = 0;

    for (size_t i = 0; i < size;) {
        unsigned char c = (unsigned char)text[i];
        size_t length = cunei_text_character(text + i, size - i);
        if (length > 0 && c >= ' ' && c != 0x7f && text[i] != forbidden) {
            i += length;
            continue;
        }
        cunei_buffer_append(out, text + begin, i - begin);
        cunei_buffer_format(out, "\\x%02x", c);
        begin = ++i;
    }
    cunei_buffer_append(out, text + begin, size - begin);
}

void cunei_name_put_function(struct cunei_buffer *out,
                             const struct cunei_function *function, char forbidden)
{
    cunei_name_put(out, function->module, forbidden);
    cunei_buffer_append_text(out, ":");
    cunei_name_put(out, function->qualname, forbidden);
}
