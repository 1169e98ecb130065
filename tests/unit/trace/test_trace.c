// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "opened.h"

static void a_trace_directory_holds_processes_in_order_of_their_start(void **state)
{
    (void)state;
    fixture_add_process(&fixture, 12);
    fixture_append_calls(&fixture, 0, 1000, 3);

    open_trace();

    assert_int_equal(trace.process_count, 2);
    assert_int_equal(trace.processes[0].metadata.pid, 12);
    assert_int_equal(trace.processes[1].metadata.pid, 4711);
    assert_int_equal(trace.processes[0].state, CUNEI_TRACE_ENDED);
    assert_string_equal(trace.processes[0].description.python, "CPython 3.13.0");
}

static void a_process_folder_is_a_trace_by_itself(void **state)
{
    (void)state;
    fixture_append_calls(&fixture, 0, 1000, 3);

    assert_int_equal(cunei_trace_open(&trace, fixture.folder, &error), 0);

    assert_int_equal(trace.process_count, 1);
    assert_int_equal(trace.processes[0].stream_count, 1);
}

static void hidden_files_and_foreign_ones_are_left_alone(void **state)
{
    (void)state;
    fixture_write_file(fixture_path(&fixture, ".hidden"), "x", 1);
    fixture_write_file(fixture_path(&fixture, "s01"), "x", 1);
    fixture_write_file(fixture_path(&fixture, "s1x"), "x", 1);
    fixture_write_file(fixture_path(&fixture, "s99999999999999999999"), "x", 1);
    fixture_write_file(fixture_path(&fixture, "../.size"), "x", 1);
    fixture_write_file(fixture_path(&fixture, "../notes"), "x", 1);

    open_trace();

    assert_int_equal(trace.process_count, 1);
    assert_int_equal(trace.processes[0].stream_count, 0);
}

static void a_folder_that_has_no_metadata_yet_is_passed_over(void **state)
{
    (void)state;
    char path[200];
    (void)snprintf(path, sizeof(path), "%s/host-1-0", fixture.directory);
    assert_int_equal(mkdir(path, 0700), 0);

    open_trace();

    assert_int_equal(trace.process_count, 1);
}

static void functions_come_from_metadata_and_definitions(void **state)
{
    (void)state;
    fixture_packet_begin(&fixture, 1, 0, 1000);
    fixture_put_define(&fixture, 1000, CUNEI_FUNCTION_CLASS_END + 2, "far");
    fixture_append(&fixture);

    open_trace();

    const struct cunei_trace_process *process = &trace.processes[0];
    assert_string_equal(cunei_trace_function(process, 1024)->qualname, "f");
    assert_string_equal(cunei_trace_function(process, 1025)->qualname, "g");
    assert_string_equal(
        cunei_trace_function(process, CUNEI_FUNCTION_CLASS_END + 2)->qualname, "far");
    assert_null(cunei_trace_function(process, 1026));
    assert_null(cunei_trace_function(process, CUNEI_FUNCTION_CLASS_END));
    assert_null(cunei_trace_function(process, CUNEI_FUNCTION_CLASS_END + 3));
    assert_null(cunei_trace_function(process, 0));
    assert_null(cunei_trace_function(process, UINT32_MAX));
}

static void a_torn_last_line_of_the_metadata_is_of_no_concern(void **state)
{
    (void)state;
    static const char torn[] = "event { name = \"a:h (x";
    fixture_append_file(fixture_path(&fixture, "metadata"), torn, strlen(torn));

    open_trace();

    assert_int_equal(trace.processes[0].function_count, 2);
}

static void packets_are_read_in_order(void **state)
{
    (void)state;
    uint64_t events = 0;
    fixture_append_calls(&fixture, 0, 1000, 100);
    fixture_append_calls(&fixture, 1, 2000, 16000);
    fixture_append_calls(&fixture, 2, 100000, 16000);
    fixture_append_calls(&fixture, 5, 200000, 7); /* what is lost leaves a gap */

    open_trace();

    assert_int_equal(read_stream(0, &events, 0, UINT64_MAX), 0);
    assert_int_equal(events, 4 + 2 * (100 + 16000 + 16000 + 7));
}

static void an_empty_stream_file_holds_nothing(void **state)
{
    (void)state;
    uint64_t events = 1;
    fixture_write_file(fixture_path(&fixture, "s0"), "", 0);

    open_trace();

    assert_int_equal(read_stream(0, &events, 0, UINT64_MAX), 0);
    assert_int_equal(events, 0);
}

static void assert_refused(const char *path, int rc, const char *clause)
{
    int got = cunei_trace_open(&trace, path, &error);
    if (got != rc || !strstr(error.text, clause))
        print_error("got %d, \"%s\"\n", got, error.text);
    assert_int_equal(got, rc);
    assert_non_null(strstr(error.text, clause));
    assert_null(trace.processes);
}

static void a_path_without_a_trace_is_refused_with_a_clause(void **state)
{
    (void)state;
    char path[200];
    (void)snprintf(path, sizeof(path), "%s/empty", fixture.directory);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_refused(path, -ENODATA, "/empty' is empty");
    assert_refused(fixture_path(&fixture, "nowhere"), -ENOENT, "cannot be opened");
    assert_refused(fixture_path(&fixture, "metadata"), -ENOTDIR, "cannot be opened");

    (void)snprintf(path, sizeof(path), "%s/empty/file", fixture.directory);
    fixture_write_file(path, "x", 1);
    (void)snprintf(path, sizeof(path), "%s/empty", fixture.directory);
    assert_refused(path, -ENODATA, "contains no trace");
}

static void metadata_of_others_is_refused_with_a_clause(void **state)
{
    (void)state;
    static const char newer[] = "/* CTF 1.8 */\n/* cunei wire version 2 */\n";
    static const char other[] = "/* CTF 1.8 */\ntrace { major = 1; };\n";
    char path[200];
    (void)snprintf(path, sizeof(path), "%s/metadata", fixture.folder);

    fixture_write_file(path, newer, strlen(newer));
    assert_refused(fixture.directory, -EPROTO, "by a newer cunei (format 2");
    fixture_write_file(path, other, strlen(other));
    assert_refused(fixture.directory, -ENODATA, "not the metadata of a cunei trace");
    fixture_write_file(path, "", 0);
    assert_refused(fixture.directory, -ENODATA, "not the metadata of a cunei trace");
}

static void a_damaged_function_is_refused_with_its_place(void **state)
{
    (void)state;
    static const char line[] = "event { name = \"?\"; };\n";
    fixture_append_file(fixture_path(&fixture, "metadata"), line, strlen(line));

    assert_refused(fixture.directory, -EBADMSG, "metadata' is damaged at byte");
}

static void a_damaged_definition_is_refused_with_its_place(void **state)
{
    (void)state;
    fixture_packet_begin(&fixture, 1, 0, 1000);
    fixture_put_define(&fixture, 1000, CUNEI_FUNCTION_CLASS_END, "far");
    struct cunei_define *define = (void *)(fixture.packet + 1);
    define->module_length = 1000;
    fixture_append(&fixture);

    assert_refused(fixture.directory, -EBADMSG, "s1' is damaged in packet 0");
}

static void a_read_does_not_wait_for_a_file_that_is_not_regular(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(fixture_path(&fixture, "s0"), 0600), 0);

    assert_refused(fixture.directory, -EBADMSG, "not a regular file");
}

static void a_trace_that_may_not_be_read_is_refused_with_a_clause(void **state)
{
    (void)state;
    if (geteuid() == 0)
        skip(); /* root may read anything */
    assert_int_equal(chmod(fixture.folder, 0), 0);

    assert_refused(fixture.directory, -EACCES, "cannot be searched");
    assert_int_equal(chmod(fixture.folder, 0700), 0);
}

static void without_a_description_the_rest_is_still_read(void **state)
{
    (void)state;
    assert_int_equal(unlink(fixture_path(&fixture, ".process")), 0);

    open_trace();

    assert_int_equal(trace.processes[0].description.pid, 4711);
    assert_int_equal(trace.processes[0].state, CUNEI_TRACE_ENDED);
}

static void a_description_that_never_ended_is_of_a_killed_process(void **state)
{
    (void)state;
    fixture_describe(&fixture, false);

    open_trace();

    assert_int_equal(trace.processes[0].state, CUNEI_TRACE_KILLED);
    assert_false(trace.processes[0].has_live);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_trace_directory_holds_processes_in_order_of_their_start),
        TEST(a_process_folder_is_a_trace_by_itself),
        TEST(hidden_files_and_foreign_ones_are_left_alone),
        TEST(a_folder_that_has_no_metadata_yet_is_passed_over),
        TEST(functions_come_from_metadata_and_definitions),
        TEST(a_torn_last_line_of_the_metadata_is_of_no_concern),
        TEST(packets_are_read_in_order),
        TEST(an_empty_stream_file_holds_nothing),
        TEST(a_path_without_a_trace_is_refused_with_a_clause),
        TEST(metadata_of_others_is_refused_with_a_clause),
        TEST(a_damaged_function_is_refused_with_its_place),
        TEST(a_damaged_definition_is_refused_with_its_place),
        TEST(a_read_does_not_wait_for_a_file_that_is_not_regular),
        TEST(a_trace_that_may_not_be_read_is_refused_with_a_clause),
        TEST(without_a_description_the_rest_is_still_read),
        TEST(a_description_that_never_ended_is_of_a_killed_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
