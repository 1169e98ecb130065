// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "wire/event.h"
#include "wire/metadata.h"

static const struct cunei_metadata example = {
    .uuid = {1, 2, 3, 0xab, [15] = 0xff},
    .pid = 4711,
    .host = "node \"7\"\\",
    .frequency = 2794750000,
    .offset_s = 1704067200,
    .offset = 2794749999,
};

static void a_preamble_is_parsed_back(void **state)
{
    (void)state;
    struct cunei_buffer text = {0};
    struct cunei_metadata parsed;
    size_t size = 0;

    cunei_metadata_format(&example, &text);
    size_t preamble = text.size;
    cunei_buffer_append_text(&text, "what follows");
    assert_int_equal(cunei_metadata_parse(&parsed, text.data, text.size, &size), 0);

    assert_int_equal(size, preamble);
    assert_memory_equal(parsed.uuid, example.uuid, sizeof(parsed.uuid));
    assert_int_equal(parsed.pid, example.pid);
    assert_string_equal(parsed.host, example.host);
    assert_int_equal(parsed.frequency, example.frequency);
    assert_int_equal(parsed.offset_s, example.offset_s);
    assert_int_equal(parsed.offset, example.offset);
    cunei_buffer_fini(&text);
}

static void a_preamble_has_the_classes_of_lines_where_there_are_any(void **state)
{
    (void)state;
    struct cunei_metadata lined = example, parsed;
    struct cunei_buffer text = {0};
    size_t size = 0;

    cunei_metadata_format(&example, &text);
    assert_null(memmem(text.data, text.size, "line+", 5));
    cunei_buffer_clear(&text);
    lined.has_lines = true;
    cunei_metadata_format(&lined, &text);

    assert_int_equal(cunei_metadata_parse(&parsed, text.data, text.size, &size), 0);
    assert_int_equal(size, text.size);
    static const char *const expected[] = {
        "event { name = \"line-128\"; id = 768; stream_id = 0; };\n",
        "event { name = \"line+0\"; id = 896; stream_id = 0; };\n",
        "event { name = \"line+127\"; id = 1023; stream_id = 0; };\n",
    };
    for (size_t i = 0; i < 3; i++)
        assert_non_null(memmem(text.data, text.size, expected[i], strlen(expected[i])));
    cunei_buffer_fini(&text);
}

static void a_preamble_cut_short_anywhere_is_refused(void **state)
{
    (void)state;
    struct cunei_buffer text = {0};
    struct cunei_metadata parsed;
    size_t size = 0;
    cunei_metadata_format(&example, &text);

    for (size_t length = 0; length < text.size; length++)
        assert_int_equal(cunei_metadata_parse(&parsed, text.data, length, &size),
                         -EINVAL);
    cunei_buffer_fini(&text);
}

static void another_version_is_distinguished_from_nonsense(void **state)
{
    (void)state;
    struct cunei_metadata parsed;
    size_t size = 0;
    static const char newer[] = "/* CTF 1.8 */\n/* cunei wire version 99 */\n";
    static const char other[] =
        "/* CTF 1.8 */\ntypealias integer { size = 8; } := x;\n";

    assert_int_equal(cunei_metadata_parse(&parsed, newer, strlen(newer), &size),
                     -EPROTO);
    assert_int_equal(cunei_metadata_parse(&parsed, other, strlen(other), &size),
                     -EINVAL);
}

static void a_clock_can_be_written_over_in_place(void **state)
{
    (void)state;
    struct cunei_buffer text = {0};
    struct cunei_metadata parsed, better = example;
    char clock[CUNEI_METADATA_CLOCK_SIZE + 1];
    size_t offset = 0, size = 0;
    cunei_metadata_format(&example, &text);
    better.frequency = 3;
    cunei_metadata_set_clock(&better, 1000000007, 5, 1704067200000000123);

    assert_int_equal(cunei_metadata_find_clock(text.data, text.size, &offset), 0);
    cunei_metadata_format_clock(&better, clock);
    memcpy(text.data + offset, clock, CUNEI_METADATA_CLOCK_SIZE);

    assert_int_equal(cunei_metadata_parse(&parsed, text.data, text.size, &size), 0);
    assert_int_equal(parsed.frequency, 1000000007);
    assert_int_equal(parsed.offset_s, better.offset_s);
    assert_int_equal(parsed.offset, better.offset);
    cunei_buffer_fini(&text);
}

static void a_clock_set_at_a_tick_shows_that_time_there(void **state)
{
    (void)state;
    static const uint64_t frequencies[] = {1000, 1000000000, 2794750001, 5000000000};
    for (size_t i = 0; i < sizeof(frequencies) / sizeof(frequencies[0]); i++) {
        struct cunei_metadata metadata = example;
        uint64_t wall_ns = 1704067200123456789;
        cunei_metadata_set_clock(&metadata, frequencies[i], 777777777777, wall_ns);
        uint64_t got = cunei_metadata_wall_ns(&metadata, 777777777777);
        uint64_t tick_ns = 1 + 1000000000 / frequencies[i];
        assert_in_range(got, wall_ns - 1 - tick_ns, wall_ns + 1);
    }
}

static void a_second_of_ticks_is_a_second(void **state)
{
    (void)state;
    assert_int_equal(cunei_metadata_wall_ns(&example, 10 * example.frequency) -
                         cunei_metadata_wall_ns(&example, 0),
                     UINT64_C(10000000000));
}

static const struct cunei_function functions[] = {
    {1024, 1, "json.decoder", "JSONDecoder.decode", "/usr/lib/python3/json/decoder.py",
     0},
    {1025, 0, "", "", "", 0},
    {1026, UINT32_MAX, "a", "f.<locals>.<lambda>", "<string>", 0},
    {1027, 7, "ä", "f", "/home/ü/x.py", 0},
    {1028, 7, "a\"b\\c", "\"", "C:\\x.py", 0},
    {1029, 7, "a\nb", "f\\n", "/tmp/\x1b[0m.py", 0},
    {1030, 7, "a:b (c:1)", "f:g (h:2)", "/x:3).py", 0},
    {1031, 7, "a", "lined", "/x/a.py", 1234567890123456789},
    {1032, 7, "a\nb", "lined", "/x/a.py", UINT64_MAX},
    {CUNEI_FUNCTION_CLASS_END - 1, 7, "m", "f }; /* 1 1 1 */", "f", 0},
    {CUNEI_FUNCTION_END - 1, 7, "m", "far", "f", 0},
};

#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))

static void assert_same(const struct cunei_function *got,
                        const struct cunei_function *wanted)
{
    assert_int_equal(got->line, wanted->line);
    assert_string_equal(got->module, wanted->module);
    assert_string_equal(got->qualname, wanted->qualname);
    assert_string_equal(got->file, wanted->file);
}

static void a_functions_line_is_parsed_back_whatever_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        struct cunei_buffer line = {0};
        struct cunei_function parsed;

        cunei_metadata_format_function(&functions[i], &line);
        assert_ptr_equal(strchr(line.data, '\n'), line.data + line.size - 1);
        assert_int_equal(cunei_metadata_parse_function(&parsed, line.data, line.size),
                         0);

        assert_int_equal(parsed.id, functions[i].id);
        assert_true(parsed.source == functions[i].source);
        assert_same(&parsed, &functions[i]);
        cunei_buffer_fini(&line);
    }
}

static void a_functions_line_cut_short_is_refused(void **state)
{
    (void)state;
    struct cunei_buffer line = {0};
    cunei_metadata_format_function(&functions[0], &line);
    /* The comment may lose its end and still say everything. */
    size_t enough = line.size - strlen("/\n");

    for (size_t size = 0; size < enough; size++) {
        struct cunei_function parsed;
        char *copy = malloc(size + 1);
        assert_non_null(copy);
        memcpy(copy, line.data, size);
        assert_int_equal(cunei_metadata_parse_function(&parsed, copy, size), -EINVAL);
        free(copy);
    }
    cunei_buffer_fini(&line);
}

static const char *const bad_lines[] = {
    "event { name = \"a:f (x:1)\"; id = 1023; stream_id = 0; }; /* 1 1 1 */\n",
    "event { name = \"a:f (x:1)\"; id = 4194304; stream_id = 0; }; /* 1 1 1 */\n",
    "event { name = \"a:f (x:1)\"; id = 1024; stream_id = 1; }; /* 1 1 1 */\n",
    "event { name = \"a:f (x:1)\"; id = 1024; stream_id = 0; }; /* 2 1 1 */\n",
    "event { name = \"a:f (x:1)\"; id = 1024; stream_id = 0; }; /* 9999999 1 1 */\n",
    "event { name = \"a:f (x:1)\"; id = 1024; stream_id = 0; }; /* -1 1 1 */\n",
    "event { name = \"a:f (x:y)\"; id = 1024; stream_id = 0; }; /* 1 1 1 */\n",
    "event { name = \"a:f (x:1)\"; id = 1024; stream_id = 0; };\n",
    "event { name = \"\\",
    "stream { id = 7; };\n",
};

static void any_other_line_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_lines) / sizeof(bad_lines[0]); i++) {
        struct cunei_function parsed;
        char *line = strdup(bad_lines[i]);
        assert_int_equal(cunei_metadata_parse_function(&parsed, line, strlen(line)),
                         -EINVAL);
        free(line);
    }
}

static void a_define_event_is_parsed_back_whatever_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        struct cunei_buffer event = {0};
        struct cunei_function parsed, function = functions[i];
        function.id = CUNEI_FUNCTION_CLASS_END + (uint32_t)i;

        cunei_metadata_format_define(&function, 5, &event);
        assert_int_equal(event.size % 8, 0);
        assert_int_equal(cunei_metadata_parse_define(&parsed, event.data, event.size),
                         event.size);

        assert_int_equal(parsed.id, function.id);
        assert_same(&parsed, &function);
        cunei_buffer_fini(&event);
    }
}

static void a_define_event_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct cunei_buffer event = {0};
    struct cunei_function parsed, function = functions[0];
    function.id = CUNEI_FUNCTION_CLASS_END;
    cunei_metadata_format_define(&function, 5, &event);

    for (size_t size = 0; size < event.size; size++) {
        char *copy = malloc(size + 1);
        assert_non_null(copy);
        memcpy(copy, event.data, size);
        assert_int_equal(cunei_metadata_parse_define(&parsed, copy, size), -EINVAL);
        free(copy);
    }
    cunei_buffer_fini(&event);
}

static void a_name_is_what_other_readers_show(void **state)
{
    (void)state;
    struct cunei_buffer name = {0};

    cunei_metadata_format_name(&functions[0], &name);
    assert_string_equal(name.data, "json.decoder:JSONDecoder.decode "
                                   "(/usr/lib/python3/json/decoder.py:1)");
    cunei_buffer_clear(&name);
    cunei_metadata_format_name(&functions[5], &name);
    assert_string_equal(name.data, "a\\nb:f\\\\n (/tmp/\\x1b[0m.py:7)");
    cunei_buffer_fini(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_preamble_is_parsed_back),
        cmocka_unit_test(a_preamble_has_the_classes_of_lines_where_there_are_any),
        cmocka_unit_test(a_preamble_cut_short_anywhere_is_refused),
        cmocka_unit_test(another_version_is_distinguished_from_nonsense),
        cmocka_unit_test(a_clock_can_be_written_over_in_place),
        cmocka_unit_test(a_clock_set_at_a_tick_shows_that_time_there),
        cmocka_unit_test(a_second_of_ticks_is_a_second),
        cmocka_unit_test(a_functions_line_is_parsed_back_whatever_its_name),
        cmocka_unit_test(a_functions_line_cut_short_is_refused),
        cmocka_unit_test(any_other_line_is_refused),
        cmocka_unit_test(a_define_event_is_parsed_back_whatever_its_name),
        cmocka_unit_test(a_define_event_that_does_not_fit_is_refused),
        cmocka_unit_test(a_name_is_what_other_readers_show),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
