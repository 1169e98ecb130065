// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "wire/record_env.h"

static void a_formatted_text_is_parsed_back(void **state)
{
    (void)state;
    struct cunei_buffer text = {0};
    struct cunei_record_env parsed;
    bool include = false;
    struct cunei_record_env session = {.directory = strdup("/tmp/a trace=100%"),
                                       .project = strdup("/home/ann/the shop"),
                                       .frequency = 2794750000,
                                       .max_bytes = 1 << 30,
                                       .startup = true,
                                       .directory_id = {65025, 1316},
                                       .launcher = {81, UINT64_MAX}};
    assert_int_equal(cunei_patterns_add(&session.patterns, true, "re:^a b", NULL, 0),
                     0);
    assert_int_equal(cunei_patterns_add(&session.patterns, false, "json", NULL, 0), 0);

    cunei_record_env_format(&session, &text);
    assert_int_equal(cunei_record_env_parse(&parsed, text.data), 0);

    assert_string_equal(parsed.directory, "/tmp/a trace=100%");
    assert_string_equal(parsed.project, "/home/ann/the shop");
    assert_int_equal(parsed.frequency, 2794750000);
    assert_int_equal(parsed.max_bytes, 1 << 30);
    assert_true(parsed.startup);
    assert_int_equal(parsed.directory_id.device, 65025);
    assert_int_equal(parsed.directory_id.inode, 1316);
    assert_int_equal(parsed.launcher.socket, 81);
    assert_int_equal(parsed.launcher.secret, UINT64_MAX);
    assert_int_equal(parsed.patterns.count, 2);
    assert_string_equal(cunei_patterns_text(&parsed.patterns, 0, &include), "re:^a b");
    assert_true(include);
    assert_string_equal(cunei_patterns_text(&parsed.patterns, 1, &include), "json");
    assert_false(include);
    cunei_record_env_fini(&session);
    cunei_record_env_fini(&parsed);
    cunei_buffer_fini(&text);
}

static void values_and_c_calls_are_parsed_back(void **state)
{
    (void)state;
    struct cunei_buffer text = {0};
    struct cunei_record_env parsed;
    bool include = false;
    struct cunei_record_env session = {.directory = strdup("/tmp/trace"),
                                       .c_calls = true,
                                       .full_repr = true,
                                       .instrumenter = CUNEI_INSTRUMENTER_TRACE,
                                       .max_repr = 4096};
    assert_int_equal(cunei_patterns_add(&session.arguments, true, ":f", NULL, 0), 0);
    assert_int_equal(cunei_patterns_add(&session.arguments, true, "a b", NULL, 0), 0);
    assert_int_equal(cunei_patterns_add(&session.results, true, "re:^x$", NULL, 0), 0);
    assert_int_equal(cunei_patterns_add(&session.lines, true, "a:f", NULL, 0), 0);

    cunei_record_env_format(&session, &text);
    assert_int_equal(cunei_record_env_parse(&parsed, text.data), 0);

    assert_true(parsed.c_calls);
    assert_true(parsed.full_repr);
    assert_int_equal(parsed.max_repr, 4096);
    assert_int_equal(parsed.instrumenter, CUNEI_INSTRUMENTER_TRACE);
    assert_int_equal(parsed.patterns.count, 0);
    assert_int_equal(parsed.arguments.count, 2);
    assert_string_equal(cunei_patterns_text(&parsed.arguments, 1, &include), "a b");
    assert_int_equal(parsed.results.count, 1);
    assert_string_equal(cunei_patterns_text(&parsed.results, 0, &include), "re:^x$");
    assert_int_equal(parsed.lines.count, 1);
    assert_string_equal(cunei_patterns_text(&parsed.lines, 0, &include), "a:f");
    cunei_record_env_fini(&session);
    cunei_record_env_fini(&parsed);
    cunei_buffer_fini(&text);
}

static void a_bare_path_records_everything_there(void **state)
{
    (void)state;
    struct cunei_record_env session;

    assert_int_equal(cunei_record_env_parse(&session, "/tmp/a%20b c"), 0);

    assert_string_equal(session.directory, "/tmp/a%20b c");
    assert_int_equal(session.patterns.count, 0);
    assert_false(session.startup);
    cunei_record_env_fini(&session);
}

static const char *const refused[] = {
    "",
    "relative/path",
    "v=1",
    "v=2 dir=/tmp/x",
    "v=1 dir=relative",
    "v=1 dir=/a dir=/b",
    "v=1 dir=/a project=relative",
    "v=1 dir=/a project=/b project=/c",
    "v=1 dir=/a freq=fast",
    "v=1 dir=/a freq=-1",
    "v=1 dir=/a freq=99999999999999999999999",
    "v=1 dir=/a colour=red",
    "v=1 dir=/a word",
    "v=1 dir=/a include=re:(",
    "v=1 dir=/a args=re:(",
    "v=1 dir=/a ccalls=yes",
    "v=1 dir=/a maxrepr=7",
    "v=1 dir=/a maxrepr=4097",
};

static void every_number_and_flag_is_parsed_and_formatted_back(void **state)
{
    (void)state;
    const char *text =
        "v=1 dir=/t device=2 inode=3 freq=4 max=5 keep=4194304 keepns=6 keepmemory=1 "
        "startup=1 budget=50000 only=7 socket=8 secret=9 ccalls=1 repr=1 maxrepr=200";
    struct cunei_record_env session;
    struct cunei_buffer out = {0};

    assert_int_equal(cunei_record_env_parse(&session, text), 0);
    cunei_record_env_format(&session, &out);

    assert_string_equal(cunei_buffer_text(&out), text);
    assert_int_equal(session.directory_id.inode, 3);
    assert_int_equal(session.keep.ns, 6);
    assert_true(session.keep.in_memory && session.startup && session.full_repr);
    assert_int_equal(session.only_pid, 7);
    assert_int_equal(session.launcher.secret, 9);
    cunei_buffer_fini(&out);
    cunei_record_env_fini(&session);
}

static void anything_else_is_refused_and_leaves_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct cunei_record_env session;
        assert_int_equal(cunei_record_env_parse(&session, refused[i]), -EINVAL);
        assert_null(session.directory);
        assert_null(session.patterns.items);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_formatted_text_is_parsed_back),
        cmocka_unit_test(values_and_c_calls_are_parsed_back),
        cmocka_unit_test(a_bare_path_records_everything_there),
        cmocka_unit_test(every_number_and_flag_is_parsed_and_formatted_back),
        cmocka_unit_test(anything_else_is_refused_and_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
