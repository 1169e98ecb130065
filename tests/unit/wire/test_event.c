// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "wire/event.h"
#include "wire/metadata.h"

#define VALUE_FIELDS                                                        \
    "int64_t value; uint32_t kind; uint32_t name_length; uint32_t target; " \
    "uint32_t length; text_t text[length];"

/* Other readers, and traces on disk, depend on these: they must not change. */
static void every_class_is_declared_in_ctf_as_it_always_was(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t number, stream, words;
        const char *fields;
    } cases[] = {
        {"stack", 1, 0, 2,
         "uint32_t omitted; uint32_t count; uint32_t functions[count];"},
        {"call", 2, 0, 2, "uint64_t function;"},
        {"unwind", 3, 0, 2, "uint64_t run;"},
        {"define", 4, 1, 4,
         "uint32_t function; uint32_t line; uint32_t module_length; "
         "uint32_t qualname_length; uint32_t file_length; uint32_t length; "
         "text_t text[length];"},
        {"gap", 5, 0, 2, "uint64_t reserved;"},
        {"demote", 6, 0, 2, "uint32_t function; uint32_t level;"},
        {"switch", 7, 0, 3,
         "uint64_t greenlet; uint32_t omitted; uint32_t count; "
         "uint32_t functions[count];"},
        {"task", 8, 0, 3,
         "uint64_t task; uint32_t reserved; uint32_t length; text_t name[length];"},
        {"thread_name", 9, 0, 3,
         "uint64_t thread; uint32_t reserved; uint32_t length; text_t name[length];"},
        {"exception", 10, 0, 4,
         "uint32_t function; uint32_t line; uint32_t handler; uint32_t handler_line; "
         "uint32_t unwound; uint32_t length; text_t type[length];"},
        {"gc", 11, 0, 3,
         "uint64_t collected; uint32_t generation; uint32_t uncollectable;"},
        {"line", 12, 0, 2, "uint32_t line; uint32_t function;"},
        {"argument", 13, 0, 3,
         "uint32_t function; uint32_t index; uint32_t name_length; uint32_t length; "
         "text_t text[length];"},
        {"mark", 15, 0, 4, VALUE_FIELDS},
        {"counter", 17, 0, 4,
         "int64_t value; int64_t total; uint32_t counter; uint32_t kind;"},
        {"parameter", 18, 0, 4, VALUE_FIELDS},
        {"sample", 19, 0, 12,
         "uint32_t function; uint32_t caller; uint64_t span; uint64_t calls; "
         "uint64_t resumes; uint64_t self; uint64_t total; uint64_t calls_error; "
         "uint64_t resumes_error; uint64_t self_error; uint32_t bias; "
         "uint32_t self_bias; uint64_t flags;"},
        {"tag", 21, 0, 4, VALUE_FIELDS},
        {"metadata", 22, 0, 4, VALUE_FIELDS},
        {"token", 23, 0, 3, "uint64_t serial; uint32_t name; uint32_t count;"},
    };
    struct cunei_buffer text = {0}, line = {0};
    cunei_metadata_format(&(struct cunei_metadata){.frequency = 1}, &text);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cunei_buffer_clear(&line);
        cunei_buffer_format(&line,
                            "event { name = \"%s\"; id = %u; stream_id = %u; "
                            "fields := struct { %s }; };\n",
                            cases[i].name, cases[i].number, cases[i].stream,
                            cases[i].fields);
        if (!strstr(text.data, line.data))
            fail_msg("not in the metadata: %s", line.data);
        assert_int_equal(cunei_event_class(cases[i].number)->words, cases[i].words);
    }
    cunei_buffer_fini(&line);
    cunei_buffer_fini(&text);
}

static void an_event_refers_to_the_first_function_among_its_fields(void **state)
{
    (void)state;
    const uint64_t line[] = {cunei_record(0, CUNEI_CLASS_LINE, 0),
                             UINT64_C(1030) << 32 | 7};
    const uint64_t token[] = {cunei_record(0, CUNEI_CLASS_TOKEN, 0), 1, 1031};
    const uint64_t gap[] = {cunei_record(0, CUNEI_CLASS_GAP, 0), 1032};

    assert_int_equal(cunei_event_function(line), 1030);
    assert_int_equal(cunei_event_function(token), 1031);
    assert_int_equal(cunei_event_function(gap), 0);
}

static void an_array_makes_an_event_longer_only_if_it_fits(void **state)
{
    (void)state;
    const uint64_t stack[] = {cunei_record(0, CUNEI_CLASS_STACK, 0), UINT64_C(4) << 32};
    const uint64_t odd[] = {cunei_record(0, CUNEI_CLASS_STACK, 0), UINT64_C(3) << 32};

    assert_int_equal(cunei_event_words(stack, 4), 4);
    assert_int_equal(cunei_event_words(stack, 3), 0);
    assert_int_equal(cunei_event_words(odd, 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_class_is_declared_in_ctf_as_it_always_was),
        cmocka_unit_test(an_event_refers_to_the_first_function_among_its_fields),
        cmocka_unit_test(an_array_makes_an_event_longer_only_if_it_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
