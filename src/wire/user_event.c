// SPDX-License-Identifier: MIT
#include "wire/user_event.h"

#include <string.h>

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
