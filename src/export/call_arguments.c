// SPDX-License-Identifier: MIT
#include "export/call_arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/vector.h"
#include "text/typed_value.h"
#include "wire/user_event.h"

struct cunei_value cunei_value_of_argument(const struct cunei_argument *argument)
{
    const char *text = argument->text;
    size_t name_size = argument->name_length < argument->length ? argument->name_length
                                                                : argument->length;
    size_t begin = name_size > 0 && name_size < argument->length ? name_size + 1 : 0;
    size_t size = argument->length - begin;

    /* Padded to whole words. */
    while (size > 0 && text[begin + size - 1] == '\0')
        size--;
    return (struct cunei_value){text, name_size, text + begin, size};
}

int cunei_call_arguments_add(struct cunei_call_arguments *arguments,
                             struct cunei_value value)
{
    if (!CUNEI_VECTOR_RESERVE(arguments->items, arguments->capacity,
                              arguments->count + 1))
        return -ENOMEM;
    arguments->items[arguments->count++] = value;
    return 0;
}

bool cunei_call_arguments_add_parameter(struct cunei_call_arguments *arguments,
                                        const struct cunei_user_value *parameter,
                                        int *rc)
{
    struct cunei_user_event_text name = cunei_user_event_name(parameter);
    struct cunei_user_event_text text = cunei_user_event_text(parameter);
    struct cunei_buffer number = {0};

    if (parameter->kind == CUNEI_VALUE_INT || parameter->kind == CUNEI_VALUE_DOUBLE) {
        if (arguments->number_count == CUNEI_CALL_NUMBERS)
            return false;
        char *place = arguments->numbers[arguments->number_count++];
        cunei_typed_value_format_event(parameter, false, &number);
        size_t size =
            number.size < CUNEI_CALL_NUMBER_SIZE ? number.size : CUNEI_CALL_NUMBER_SIZE;
        if (size > 0)
            memcpy(place, number.data, size);
        text = (struct cunei_user_event_text){place, size};
        cunei_buffer_fini(&number);
    }
    *rc = cunei_call_arguments_add(
        arguments, (struct cunei_value){name.data, name.size, text.data, text.size});
    return true;
}

void cunei_call_arguments_fini(struct cunei_call_arguments *arguments)
{
    free(arguments->items);
    *arguments = (struct cunei_call_arguments){0};
}
