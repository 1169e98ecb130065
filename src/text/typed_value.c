// SPDX-License-Identifier: MIT
#include "text/typed_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "wire/user_event.h"

/* The shortest digits that are read back as the same number. */
static void format_double(double number, bool json, struct cunei_buffer *out)
{
    char text[32] = "";

    if (!isfinite(number)) {
        const char *name = isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
        cunei_buffer_format(out, json ? "\"%s\"" : "%s", name);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    cunei_buffer_append_text(out, text);
    if (!strpbrk(text, ".e"))
        cunei_buffer_append_text(out, ".0");
}

void cunei_typed_value_format_number(uint64_t bits, bool is_double, bool json,
                                     struct cunei_buffer *out)
{
    if (is_double)
        format_double(cunei_user_event_number(bits, true), json, out);
    else
        cunei_buffer_format(out, "%" PRId64, (int64_t)bits);
}

void cunei_typed_value_format(const struct cunei_typed_value *value, bool json,
                              struct cunei_buffer *out)
{
    if (value->kind == CUNEI_VALUE_NONE)
        cunei_buffer_append_text(out, json ? "null" : "");
    else if (value->kind < CUNEI_VALUE_TEXT)
        cunei_typed_value_format_number(value->bits, value->kind == CUNEI_VALUE_DOUBLE,
                                        json, out);
    else if (json)
        cunei_text_json(out, value->text, value->size);
    else
        cunei_buffer_append(out, value->text, value->size);
}

void cunei_typed_value_format_event(const struct cunei_user_value *event, bool json,
                                    struct cunei_buffer *out)
{
    struct cunei_user_event_text text = cunei_user_event_text(event);

    cunei_typed_value_format(
        &(struct cunei_typed_value){event->kind, event->value, text.data, text.size},
        json, out);
}
