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
#include "wire/process.h"

static void a_formatted_text_is_parsed_back(void **state)
{
    (void)state;
    struct cunei_buffer text = {0};
    struct cunei_process parsed;
    struct cunei_process process = {
        .pid = 4711,
        .parent = 1,
        .ended = true,
        .start_ns = 5,
        .end_ns = UINT64_MAX,
        .lost = 3,
        .full = true,
        .stop_errno = ENOSPC,
        .host = strdup("a host"),
        .executable = strdup("/usr/bin/python 3\n"),
        .project = strdup("/home/ann/shop"),
    };
    assert_int_equal(
        cunei_process_add(&process.arguments, &process.argument_count, "app.py"), 0);
    assert_int_equal(cunei_process_add(&process.arguments, &process.argument_count, ""),
                     0);
    assert_int_equal(
        cunei_process_add(&process.patterns, &process.pattern_count, "+re:^a"), 0);

    cunei_process_format(&process, &text);
    assert_int_equal(cunei_process_parse(&parsed, text.data, text.size), 0);

    assert_int_equal(parsed.pid, 4711);
    assert_int_equal(parsed.parent, 1);
    assert_true(parsed.ended);
    assert_true(parsed.end_ns == UINT64_MAX);
    assert_int_equal(parsed.lost, 3);
    assert_true(parsed.full);
    assert_int_equal(parsed.stop_errno, ENOSPC);
    assert_string_equal(parsed.host, "a host");
    assert_string_equal(parsed.executable, "/usr/bin/python 3\n");
    assert_string_equal(parsed.project, "/home/ann/shop");
    assert_null(parsed.python);
    assert_int_equal(parsed.argument_count, 2);
    assert_string_equal(parsed.arguments[0], "app.py");
    assert_string_equal(parsed.arguments[1], "");
    assert_int_equal(parsed.pattern_count, 1);
    assert_string_equal(parsed.patterns[0], "+re:^a");
    cunei_process_fini(&process);
    cunei_process_fini(&parsed);
    cunei_buffer_fini(&text);
}

static void a_child_that_ended_is_parsed_back(void **state)
{
    (void)state;
    struct cunei_buffer text = {0};
    struct cunei_process parsed, process = {.pid = 4711};
    char folder[] = "a host-12-0";

    cunei_process_format(&process, &text);
    cunei_process_format_child(&(struct cunei_child_end){.wait_status = 15,
                                                         .sent_signal = 15,
                                                         .folder = folder},
                               &text);
    assert_int_equal(cunei_process_parse(&parsed, text.data, text.size), 0);

    assert_int_equal(parsed.child_count, 1);
    assert_int_equal(parsed.children[0].wait_status, 15);
    assert_int_equal(parsed.children[0].sent_signal, 15);
    assert_string_equal(parsed.children[0].folder, "a host-12-0");
    cunei_process_fini(&parsed);
    cunei_buffer_fini(&text);
}

static void a_child_without_a_folder_is_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {"child \n", "child 15\n", "child 15 15\n",
                                        "child x y z\n"};

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct cunei_buffer text = {0};
        struct cunei_process parsed, process = {.pid = 4711};
        cunei_process_format(&process, &text);
        cunei_buffer_append_text(&text, lines[i]);
        assert_int_equal(cunei_process_parse(&parsed, text.data, text.size), -EINVAL);
        cunei_buffer_fini(&text);
    }
}

static void a_cause_is_parsed_back(void **state)
{
    (void)state;
    struct cunei_buffer text = {0};
    struct cunei_process parsed, process = {.pid = 4711};
    char trigger[] = "mark:paid late", what[] = "mark 'paid late' = 5 %\n";
    char function[] = "app:f.<locals>.g", empty[] = "";
    struct cunei_cause cause = {.time_ns = UINT64_MAX,
                                .value = 83,
                                .count = 2,
                                .thread = UINT32_MAX,
                                .line = 12,
                                .trigger = trigger,
                                .what = what,
                                .function = function,
                                .thread_name = empty};

    cunei_process_format(&process, &text);
    cunei_cause_format(&cause, &text);
    cunei_cause_format(&cause, &text);
    assert_int_equal(cunei_process_parse(&parsed, text.data, text.size), 0);

    assert_int_equal(parsed.cause_count, 2);
    const struct cunei_cause *found = &parsed.causes[1];
    assert_true(found->time_ns == UINT64_MAX && found->value == 83);
    assert_int_equal(found->count, 2);
    assert_int_equal(found->thread, UINT32_MAX);
    assert_int_equal(found->line, 12);
    assert_string_equal(found->trigger, trigger);
    assert_string_equal(found->what, what);
    assert_string_equal(found->function, function);
    assert_string_equal(found->thread_name, "");
    cunei_process_fini(&parsed);
    cunei_buffer_fini(&text);
}

static void a_cause_that_lacks_something_is_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "cause \n",
        "cause 1 2 3 4 5\n",
        "cause 1 2 3 4 5 a b c\n",
        "cause 1 2 3 4 5 a b c d e\n",
        "cause 1 2 3 4 x a b c d\n",
        "cause 1 2 3 -4 5 a b c d\n",
        "cause 1 2 3 4294967296 5 a b c d\n",
        "cause 18446744073709551616 2 3 4 5 a b c d\n",
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct cunei_buffer text = {0};
        struct cunei_process parsed, process = {.pid = 4711};
        cunei_process_format(&process, &text);
        cunei_buffer_append_text(&text, lines[i]);
        assert_int_equal(cunei_process_parse(&parsed, text.data, text.size), -EINVAL);
        cunei_buffer_fini(&text);
    }
}

static void the_last_line_for_a_key_counts(void **state)
{
    (void)state;
    struct cunei_buffer text = {0};
    struct cunei_process parsed;
    struct cunei_process process = {
        .pid = 4711, .start_ns = 5, .host = strdup("here"), .name = strdup("first")};

    cunei_process_format(&process, &text);
    free(process.name);
    process.name = strdup("second");
    process.ended = process.left = true;
    process.end_ns = 9;
    process.exit_status = 3;
    cunei_process_format_change(&process, &text);
    assert_int_equal(cunei_process_parse(&parsed, text.data, text.size), 0);

    assert_int_equal(parsed.pid, 4711);
    assert_int_equal(parsed.start_ns, 5);
    assert_int_equal(parsed.end_ns, 9);
    assert_true(parsed.ended && parsed.left && !parsed.exited);
    assert_int_equal(parsed.exit_status, 3);
    assert_string_equal(parsed.host, "here");
    assert_string_equal(parsed.name, "second");
    cunei_process_fini(&process);
    cunei_process_fini(&parsed);
    cunei_buffer_fini(&text);
}

/* A reader of lines that are being appended gets some of them, and no end too early. */
static void lines_are_taken_as_far_as_they_are_whole(void **state)
{
    (void)state;
    struct cunei_buffer text = {0};
    struct cunei_process process = {.pid = 4711, .start_ns = 5};

    cunei_process_format(&process, &text);
    size_t before = text.size;
    process.ended = true;
    process.end_ns = 123456789;
    cunei_process_format_change(&process, &text);
    for (size_t size = before; size <= text.size; size++) {
        struct cunei_process parsed;
        assert_int_equal(cunei_process_parse(&parsed, text.data, size), 0);
        assert_int_equal(parsed.ended, size == text.size);
        assert_true(parsed.end_ns == 0 || parsed.end_ns == 123456789);
        cunei_process_fini(&parsed);
    }
    cunei_buffer_fini(&text);
}

static void keys_of_a_later_build_are_of_no_concern(void **state)
{
    (void)state;
    struct cunei_process process;
    static const char text[] = "cunei 1\npid 7\ncolour red\n";

    assert_int_equal(cunei_process_parse(&process, text, strlen(text)), 0);
    assert_int_equal(process.pid, 7);
    cunei_process_fini(&process);
}

static const struct {
    const char *text;
    int rc;
} refused[] = {
    {"", -EINVAL},
    {"python 1\n", -EINVAL},
    {"cunei\n", -EINVAL},
    {"cunei one\n", -EINVAL},
    {"cunei 99\npid 1\n", -EPROTO},
    {"cunei 1\npid\n", -EINVAL},
    {"cunei 1\npid x\n", -EINVAL},
    {"cunei 1\npattern \n", -EINVAL},
    {"cunei 1\npattern %1B\n", -EINVAL},
    {"cunei 1\npid 1x\n", -EINVAL},
    {"cunei 1\nhost a\npid 99999999999999999999999\n", -EINVAL},
};

static void anything_else_is_refused_and_leaves_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct cunei_process process;
        assert_int_equal(
            cunei_process_parse(&process, refused[i].text, strlen(refused[i].text)),
            refused[i].rc);
        assert_null(process.host);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_formatted_text_is_parsed_back),
        cmocka_unit_test(a_child_that_ended_is_parsed_back),
        cmocka_unit_test(a_child_without_a_folder_is_refused),
        cmocka_unit_test(a_cause_is_parsed_back),
        cmocka_unit_test(a_cause_that_lacks_something_is_refused),
        cmocka_unit_test(the_last_line_for_a_key_counts),
        cmocka_unit_test(lines_are_taken_as_far_as_they_are_whole),
        cmocka_unit_test(keys_of_a_later_build_are_of_no_concern),
        cmocka_unit_test(anything_else_is_refused_and_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
