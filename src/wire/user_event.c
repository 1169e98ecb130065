// SPDX-License-Identifier: MIT
#include "wire/user_event.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "wire/metadata.h"

enum cunei_definition cunei_definition_of(const struct cunei_function *function)
{
    if (function->line != 0 || function->module[0] != '\0')
        return CUNEI_DEFINITION_FUNCTION;
    return strcmp(function->file, CUNEI_REGION_FILE) == 0    ? CUNEI_DEFINITION_REGION
           : strcmp(function->file, CUNEI_COUNTER_FILE) == 0 ? CUNEI_DEFINITION_COUNTER
           : strcmp(function->file, CUNEI_TOKENS_FILE) == 0  ? CUNEI_DEFINITION_TOKENS
                                                            : CUNEI_DEFINITION_FUNCTION;
}

struct cunei_user_event_text cunei_user_event_name(const struct cunei_user_value *value)
{
    return (struct cunei_user_event_text){
        value->text,
        strnlen(value->text, value->name_length),
    };
}

struct cunei_user_event_text cunei_user_event_text(const struct cunei_user_value *value)
{
    if (value->kind < CUNEI_VALUE_TEXT)
        return (struct cunei_user_event_text){"", 0};
    const char *text = value->text + value->name_length + 1; /* behind the `=` */
    return (struct cunei_user_event_text){
        text,
        strnlen(text, value->length - value->name_length - 1),
    };
}

double cunei_user_event_number(uint64_t bits, bool is_double)
{
    double number;

    if (!is_double)
        return (double)(int64_t)bits;
    memcpy(&number, &bits, sizeof(number));
    return number;
}

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

void cunei_user_event_format_number(uint64_t bits, bool is_double, bool json,
                                    struct cunei_buffer *out)
{
    if (is_double)
        format_double(cunei_user_event_number(bits, true), json, out);
    else
        cunei_buffer_format(out, "%" PRId64, (int64_t)bits);
}

void cunei_user_event_format(const struct cunei_user_value *value, bool json,
                             struct cunei_buffer *out)
{
    struct cunei_user_event_text text = cunei_user_event_text(value);

    switch (value->kind) {
    case CUNEI_VALUE_NONE:
        cunei_buffer_append_text(out, json ? "null" : "");
        break;
    case CUNEI_VALUE_INT:
    case CUNEI_VALUE_DOUBLE:
        cunei_user_event_format_number(value->value, value->kind == CUNEI_VALUE_DOUBLE,
                                       json, out);
        break;
    default:
        if (json)
            cunei_text_json(out, text.data, text.size);
        else
            cunei_buffer_append(out, text.data, text.size);
    }
}
