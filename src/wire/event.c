// SPDX-License-Identifier: MIT
#include "wire/event.h"

#include "wire/packet.h"

/* Of struct cunei_user_value. */
#define VALUE_FIELDS                                                        \
    "int64_t value; uint32_t kind; uint32_t name_length; uint32_t target; " \
    "uint32_t length; text_t text[length];"

/* The built-in classes this version writes, by number. */
static const struct cunei_layout layouts[CUNEI_CLASS_COUNT] = {
    [CUNEI_CLASS_STACK] = {"stack",
                           "uint32_t omitted; uint32_t count; "
                           "uint32_t functions[count];",
                           CUNEI_STREAM_EVENTS, 2, 2},
    [CUNEI_CLASS_CALL] = {"call", "uint64_t function;", CUNEI_STREAM_EVENTS, 2, 0},
    [CUNEI_CLASS_UNWIND] = {"unwind", "uint64_t run;", CUNEI_STREAM_EVENTS, 2, 0},
    [CUNEI_CLASS_DEFINE] = {"define",
                            "uint32_t function; uint32_t line; "
                            "uint32_t module_length; uint32_t qualname_length; "
                            "uint32_t file_length; uint32_t length; "
                            "text_t text[length];",
                            CUNEI_STREAM_DEFINITIONS, 4, 8},
    [CUNEI_CLASS_GAP] = {"gap", "uint64_t reserved;", CUNEI_STREAM_EVENTS, 2, 0},
    [CUNEI_CLASS_DEMOTE] = {"demote", "uint32_t function; uint32_t level;",
                            CUNEI_STREAM_EVENTS, 2, 0},
    [CUNEI_CLASS_SWITCH] = {"switch",
                            "uint64_t greenlet; uint32_t omitted; uint32_t count; "
                            "uint32_t functions[count];",
                            CUNEI_STREAM_EVENTS, 3, 2},
    [CUNEI_CLASS_TASK] = {"task",
                          "uint64_t task; uint32_t reserved; uint32_t length; "
                          "text_t name[length];",
                          CUNEI_STREAM_EVENTS, 3, 8},
    [CUNEI_CLASS_THREAD_NAME] = {"thread_name",
                                 "uint64_t thread; uint32_t reserved; "
                                 "uint32_t length; text_t name[length];",
                                 CUNEI_STREAM_EVENTS, 3, 8},
    [CUNEI_CLASS_EXCEPTION] = {"exception",
                               "uint32_t function; uint32_t line; uint32_t handler; "
                               "uint32_t handler_line; uint32_t unwound; "
                               "uint32_t length; text_t type[length];",
                               CUNEI_STREAM_EVENTS, 4, 8},
    [CUNEI_CLASS_GC] = {"gc",
                        "uint64_t collected; uint32_t generation; "
                        "uint32_t uncollectable;",
                        CUNEI_STREAM_EVENTS, 3, 0},
    [CUNEI_CLASS_LINE] = {"line", "uint32_t line; uint32_t function;",
                          CUNEI_STREAM_EVENTS, 2, 0},
    [CUNEI_CLASS_ARGUMENT] = {"argument",
                              "uint32_t function; uint32_t index; "
                              "uint32_t name_length; uint32_t length; "
                              "text_t text[length];",
                              CUNEI_STREAM_EVENTS, 3, 8},
    [CUNEI_CLASS_SAMPLE] = {"sample",
                            "uint32_t function; uint32_t caller; uint64_t span; "
                            "uint64_t calls; uint64_t resumes; uint64_t self; "
                            "uint64_t total; uint64_t calls_error; "
                            "uint64_t resumes_error; uint64_t self_error; "
                            "uint32_t bias; uint32_t self_bias; uint64_t flags;",
                            CUNEI_STREAM_EVENTS, 12, 0},
    [CUNEI_CLASS_MARK] = {"mark", VALUE_FIELDS, CUNEI_STREAM_EVENTS, 4, 8},
    [CUNEI_CLASS_COUNTER] = {"counter",
                             "int64_t value; int64_t total; uint32_t counter; "
                             "uint32_t kind;",
                             CUNEI_STREAM_EVENTS, 4, 0},
    [CUNEI_CLASS_PARAMETER] = {"parameter", VALUE_FIELDS, CUNEI_STREAM_EVENTS, 4, 8},
    [CUNEI_CLASS_TAG] = {"tag", VALUE_FIELDS, CUNEI_STREAM_EVENTS, 4, 8},
    [CUNEI_CLASS_METADATA] = {"metadata", VALUE_FIELDS, CUNEI_STREAM_EVENTS, 4, 8},
    [CUNEI_CLASS_TOKEN] = {"token", "uint64_t serial; uint32_t name; uint32_t count;",
                           CUNEI_STREAM_EVENTS, 3, 0},
};

static const struct cunei_layout near = {"line", "", CUNEI_STREAM_EVENTS, 1, 0};

const struct cunei_layout *cunei_event_layout(uint32_t class)
{
    if (cunei_class_is_near(class))
        return &near;
    return class < CUNEI_CLASS_COUNT && layouts[class].name ? &layouts[class] : NULL;
}

size_t cunei_event_words(const uint64_t *words, size_t left)
{
    uint32_t class = cunei_record_class(words[0]);

    if (class >= CUNEI_FUNCTION_FIRST)
        return 1;
    const struct cunei_layout *layout = cunei_event_layout(class);
    if (!layout || left < layout->words)
        return 0;
    uint64_t items = layout->per_word ? words[layout->words - 1] >> 32 : 0;
    if (items == 0)
        return layout->words;
    if (items % layout->per_word != 0 ||
        items / layout->per_word > left - layout->words)
        return 0;
    return layout->words + (size_t)items / layout->per_word;
}
