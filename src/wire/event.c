// SPDX-License-Identifier: MIT
#include "wire/event.h"

#include "wire/packet.h"

static bool argument_is_valid(const uint64_t *words)
{
    const struct cunei_argument *argument = (const void *)words;

    return argument->name_length == 0 || argument->name_length < argument->length;
}

static bool user_value_is_valid(const uint64_t *words)
{
    const struct cunei_user_value *value = (const void *)words;

    if (value->length > CUNEI_VALUE_MAX || value->name_length > value->length)
        return false;
    return value->kind < CUNEI_VALUE_TEXT || (value->name_length < value->length &&
                                              value->text[value->name_length] == '=');
}

/* As the size of a struct: a class without an array has an empty one. */
#define PER_WORD(type, name, kind) char name[sizeof(uint64_t) / sizeof(type)];
#define DESCRIBE(type, name, kind) {#name, sizeof(type), CUNEI_FIELD_##kind},
#define CLASS(number, constant, ctf_name, stream_class, payload, check)             \
    [number] = {                                                                    \
        .name = (ctf_name),                                                         \
        .fields = (const struct cunei_field[]){CUNEI_##payload##_FIELDS(            \
            DESCRIBE, DESCRIBE){NULL, 0, 0}},                                       \
        .is_valid = (check),                                                        \
        .stream = CUNEI_STREAM_##stream_class,                                      \
        .words = CUNEI_FIXED_SIZE(CUNEI_##payload##_FIELDS) / sizeof(uint64_t),     \
        .per_word =                                                                 \
            sizeof(struct {CUNEI_##payload##_FIELDS(CUNEI_MEMBER_NONE, PER_WORD)}), \
    },

static const struct cunei_event_class classes[CUNEI_CLASS_COUNT] = {
    CUNEI_EVENT_CLASSES(CLASS)};

/* A line that is only a record (wire/event.h). */
static const struct cunei_event_class near_line = {
    .name = "line",
    .fields = (const struct cunei_field[]){{NULL, 0, 0}},
    .stream = CUNEI_STREAM_EVENTS,
    .words = 1,
};

const struct cunei_event_class *cunei_event_class(uint32_t number)
{
    if (cunei_class_is_near(number))
        return &near_line;
    return number < CUNEI_CLASS_COUNT && classes[number].name ? &classes[number] : NULL;
}

uint64_t cunei_event_function(const uint64_t *words)
{
    const struct cunei_event_class *class =
        cunei_event_class(cunei_record_class(words[0]));
    const char *at = (const char *)(words + 1);

    for (const struct cunei_field *field = class ? class->fields : NULL;
         field && field->name; at += field->size, field++) {
        if (field->kind == CUNEI_FIELD_FUNCTION ||
            field->kind == CUNEI_FIELD_FUNCTION_OR_NONE)
            return cunei_field_number(field, at);
    }
    return 0;
}

size_t cunei_event_words(const uint64_t *words, size_t left)
{
    uint32_t number = cunei_record_class(words[0]);

    if (number >= CUNEI_FUNCTION_FIRST)
        return 1;
    const struct cunei_event_class *class = cunei_event_class(number);
    if (!class || left < class->words)
        return 0;
    uint64_t items = class->per_word ? words[class->words - 1] >> 32 : 0;
    if (items == 0)
        return class->words;
    if (items % class->per_word != 0 || items / class->per_word > left - class->words)
        return 0;
    return class->words + (size_t)items / class->per_word;
}
