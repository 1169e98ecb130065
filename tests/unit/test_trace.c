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

#include "base/buffer.h"
#include "fixture.h"
#include "trace/merge.h"
#include "trace/trace.h"

static struct fixture fixture;
static struct cunei_trace trace;
static struct cunei_trace_error error;

static int set_up(void **state)
{
    (void)state;
    fixture_init(&fixture);
    trace = (struct cunei_trace){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cunei_trace_close(&trace);
    fixture_fini(&fixture);
    return 0;
}

static void open_trace(void)
{
    int rc = cunei_trace_open(&trace, fixture.directory, &error);
    if (rc < 0)
        print_error("%s\n", error.text);
    assert_int_equal(rc, 0);
}

/* Read stream `index` of the first process to its end: its events, or an error. */
static int read_stream(size_t index, uint64_t *events, uint64_t begin, uint64_t end)
{
    struct cunei_trace_reader reader;
    struct cunei_trace_packet packet;
    int rc;

    *events = 0;
    assert_int_equal(cunei_trace_reader_open(&reader, &trace.processes[0],
                                             &trace.processes[0].streams[index], begin,
                                             end),
                     0);
    while ((rc = cunei_trace_reader_next(&reader, &packet)) > 0)
        *events += packet.event_count;
    error = reader.error;
    cunei_trace_reader_close(&reader);
    return rc;
}

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

static void every_kind_of_event_passes_the_check(void **state)
{
    (void)state;
    uint64_t events = 0;
    const uint64_t stack[] = {cunei_record(1000, CUNEI_CLASS_STACK, 0),
                              UINT64_C(4) << 32 | 7, UINT64_C(1024) << 32,
                              UINT64_C(1025) << 32 | 1024};
    fixture_packet_begin(&fixture, 1, 0, 1000);
    fixture_put_define(&fixture, 1000, CUNEI_FUNCTION_CLASS_END, "far");
    fixture_append(&fixture);
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture.packet->content_bits = 8 * sizeof(struct cunei_packet);
    fixture_put_words(&fixture, 1000, stack, 4);
    fixture_put(&fixture, 1001, 1025, CUNEI_PHASE_LEAVE);
    fixture_put_call(&fixture, 1001, CUNEI_FUNCTION_CLASS_END, CUNEI_PHASE_ENTER);
    fixture_put_unwind(&fixture, 1002, 1);
    fixture_put_call(&fixture, 1002, CUNEI_FUNCTION_CLASS_END, CUNEI_PHASE_LEAVE);
    fixture_append(&fixture);

    open_trace();

    assert_int_equal(read_stream(0, &events, 0, UINT64_MAX), 0);
    assert_int_equal(events, 5);
    assert_int_equal(read_stream(1, &events, 0, UINT64_MAX), 0);
    assert_int_equal(events, 1);
}

static void times_may_span_the_wrap_of_their_bits(void **state)
{
    (void)state;
    uint64_t events = 0;
    uint64_t wrap = 3 * (CUNEI_TIME_MASK + 1);
    fixture_packet_begin(&fixture, 0, 0, wrap - 10);
    fixture_put(&fixture, wrap - 1, 1024, CUNEI_PHASE_ENTER);
    fixture_put(&fixture, wrap + 1, 1024, CUNEI_PHASE_LEAVE);
    fixture_put(&fixture, wrap - 11 + CUNEI_SPAN_MAX, 1024, CUNEI_PHASE_ENTER);
    fixture_append(&fixture);

    open_trace();

    assert_int_equal(read_stream(0, &events, 0, UINT64_MAX), 0);
    assert_int_equal(events, 4);
}

/* Each makes one thing wrong in the packet under construction. */
static void wrong_magic(void)
{
    fixture.packet->magic ^= 1;
}
static void wrong_uuid(void)
{
    fixture.packet->uuid[15] ^= 1;
}
static void wrong_stream(void)
{
    const char *path = fixture_path(&fixture, "s1");
    fixture.packet->stream = 1;
    fixture_write_file(path, "", 0);
}
static void wrong_class(void)
{
    fixture.packet->stream_class = 2;
}
static void odd_content(void)
{
    fixture.packet->content_bits += 8;
}
static void no_content(void)
{
    fixture.packet->content_bits = 0;
}
static void huge_content(void)
{
    fixture.packet->content_bits = UINT64_MAX & ~UINT64_C(63);
}
static void end_before_begin(void)
{
    fixture.last = 1;
}
static void event_behind_the_end(void)
{
    fixture_put(&fixture, 5000, 1024, CUNEI_PHASE_ENTER);
    fixture.last = 4999;
}
static void time_goes_back(void)
{
    fixture_put(&fixture, 4000, 1024, CUNEI_PHASE_ENTER);
    fixture_put(&fixture, 3999, 1024, CUNEI_PHASE_ENTER);
    fixture.last = 4000;
}
static void time_far_ahead(void)
{
    fixture_put(&fixture, 3000 + CUNEI_SPAN_MAX, 1024, CUNEI_PHASE_ENTER);
}
static void unknown_function(void)
{
    fixture_put(&fixture, 4000, 1026, CUNEI_PHASE_ENTER);
}
static void function_beyond_the_classes(void)
{
    fixture_put(&fixture, 4000, CUNEI_FUNCTION_CLASS_END, CUNEI_PHASE_ENTER);
}
static void unknown_class(void)
{
    fixture_put(&fixture, 4000, CUNEI_CLASS_MARK, CUNEI_PHASE_ENTER);
}
static void call_of_nothing(void)
{
    fixture_put_call(&fixture, 4000, 99, CUNEI_PHASE_ENTER);
}
static void call_cut_short(void)
{
    fixture_put(&fixture, 4000, CUNEI_CLASS_CALL, CUNEI_PHASE_ENTER);
}
static void unwind_cut_short(void)
{
    fixture_put(&fixture, 4000, CUNEI_CLASS_UNWIND, CUNEI_PHASE_ENTER);
}
static void definition_among_events(void)
{
    fixture_put(&fixture, 4000, CUNEI_CLASS_DEFINE, CUNEI_PHASE_ENTER);
}
static void put_stack(uint32_t count, uint64_t functions)
{
    const uint64_t words[] = {cunei_record(4000, CUNEI_CLASS_STACK, 0),
                              (uint64_t)count << 32, functions};
    fixture_put_words(&fixture, 4000, words, 3);
}
static void odd_stack(void)
{
    put_stack(1, 1024);
}
static void huge_stack(void)
{
    put_stack(UINT32_MAX - 1, 1024 | UINT64_C(1024) << 32);
}
static void stack_of_the_unknown(void)
{
    put_stack(2, 1024 | UINT64_C(5000) << 32);
}
static void stack_with_a_hole(void)
{
    put_stack(2, 1024);
}
static void no_stack(void)
{
    fixture.packet->content_bits = 8 * sizeof(struct cunei_packet);
    fixture_put(&fixture, 4000, 1024, CUNEI_PHASE_ENTER);
}
static void number_goes_back(void)
{
    fixture.packet->sequence = 0;
}
static void begins_too_early(void)
{
    fixture.packet->timestamp_begin = 1000;
    fixture_put(&fixture, 1000, 1024, CUNEI_PHASE_ENTER);
}

#define ROW(name)   \
    {               \
#name, name \
    }
static const struct {
    const char *name;
    void (*make_wrong)(void);
} wrongs[] = {
    ROW(wrong_magic),
    ROW(wrong_uuid),
    ROW(wrong_class),
    ROW(odd_content),
    ROW(no_content),
    ROW(huge_content),
    ROW(end_before_begin),
    ROW(event_behind_the_end),
    ROW(time_goes_back),
    ROW(time_far_ahead),
    ROW(unknown_function),
    ROW(function_beyond_the_classes),
    ROW(unknown_class),
    ROW(call_of_nothing),
    ROW(call_cut_short),
    ROW(unwind_cut_short),
    ROW(definition_among_events),
    ROW(odd_stack),
    ROW(huge_stack),
    ROW(stack_of_the_unknown),
    ROW(stack_with_a_hole),
    ROW(no_stack),
    ROW(number_goes_back),
    ROW(begins_too_early),
};

/* The packet as it is, without the sizes that closing it would put right. */
static void append_as_it_is(void)
{
    size_t size = 1024;
    fixture.packet->timestamp_end = fixture.last;
    fixture.packet->packet_bits = fixture.packet->content_bits;
    fixture_append_file(fixture_path(&fixture, "s0"), fixture.packet, size);
}

static void a_wrong_packet_ends_the_stream_and_what_came_before_is_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
        uint64_t events = 0;
        char expected[64];
        fixture_write_file(fixture_path(&fixture, "s0"), "", 0);
        fixture_append_calls(&fixture, 0, 1000, 3);
        (void)snprintf(
            expected, sizeof(expected), "s0' is damaged at byte %llu: ",
            (unsigned long long)fixture_file_size(fixture_path(&fixture, "s0")));
        fixture_packet_begin(&fixture, 0, 1, 3000);
        wrongs[i].make_wrong();
        append_as_it_is();

        open_trace();
        int rc = read_stream(0, &events, 0, UINT64_MAX);
        cunei_trace_close(&trace);

        if (rc != -EBADMSG || !strstr(error.text, expected))
            print_error("%s: got %d, \"%s\"\n", wrongs[i].name, rc, error.text);
        assert_int_equal(rc, -EBADMSG);
        assert_int_equal(events, 7);
        assert_non_null(strstr(error.text, expected));
    }
}

static void a_packet_of_another_stream_is_refused(void **state)
{
    (void)state;
    uint64_t events = 0;
    fixture_packet_begin(&fixture, 0, 0, 1000);
    wrong_stream();
    append_as_it_is();

    open_trace();

    assert_int_equal(read_stream(0, &events, 0, UINT64_MAX), -EBADMSG);
}

static void a_file_cut_short_says_so(void **state)
{
    (void)state;
    uint64_t events = 0;
    fixture_append_calls(&fixture, 0, 1000, 3);
    fixture_append_calls(&fixture, 1, 2000, 3);
    const char *path = fixture_path(&fixture, "s0");
    uint64_t size = fixture_file_size(path);

    for (uint64_t cut = size - 1; cut > size / 2; cut--) {
        fixture_cut_file(path, cut);
        open_trace();
        int rc = read_stream(0, &events, 0, UINT64_MAX);
        cunei_trace_close(&trace);

        assert_int_equal(rc, -EBADMSG);
        assert_int_equal(events, 7);
        assert_non_null(strstr(error.text, "cut short"));
    }
}

static void ranges_of_a_split_hold_every_packet_once(void **state)
{
    (void)state;
    uint64_t *offsets = NULL, events = 0, sum = 0;
    size_t count = 0;
    for (uint64_t i = 0; i < 20; i++)
        fixture_append_calls(&fixture, i, 1000 + 10000 * i, 100 + 10 * i);
    open_trace();
    const struct cunei_trace_stream *stream = &trace.processes[0].streams[0];

    assert_int_equal(
        cunei_trace_split(&trace.processes[0], stream, 10000, &offsets, &count), 0);

    assert_in_range(count, 4, 10);
    assert_int_equal(offsets[0], 0);
    for (size_t i = 0; i < count; i++) {
        uint64_t end = i + 1 < count ? offsets[i + 1] : UINT64_MAX;
        assert_int_equal(read_stream(0, &events, offsets[i], end), 0);
        sum += events;
    }
    assert_int_equal(sum, 20 + 2 * (20 * 100 + 10 * 190));
    free(offsets);
}

static void a_small_stream_is_one_range(void **state)
{
    (void)state;
    uint64_t *offsets = NULL;
    size_t count = 0;
    fixture_append_calls(&fixture, 0, 1000, 3);
    open_trace();

    assert_int_equal(cunei_trace_split(&trace.processes[0],
                                       &trace.processes[0].streams[0], 1 << 20,
                                       &offsets, &count),
                     0);

    assert_int_equal(count, 1);
    assert_int_equal(offsets[0], 0);
    free(offsets);
}

static void a_merge_gives_all_events_in_order_of_time(void **state)
{
    (void)state;
    struct cunei_trace_merge merge;
    struct cunei_trace_event event;
    uint64_t last = 0, count = 0;
    fixture_append_calls(&fixture, 0, 1000, 3);
    fixture_packet_begin(&fixture, 1, 0, 1001);
    fixture_put(&fixture, 1004, 1025, CUNEI_PHASE_ENTER);
    fixture_append(&fixture);
    fixture_add_process(&fixture, 12);
    fixture_append_calls(&fixture, 0, 1002, 5);
    open_trace();

    assert_int_equal(cunei_trace_merge_open(&merge, &trace, 0, 0), 0);
    for (; cunei_trace_merge_next(&merge, &event) > 0; count++) {
        assert_true(event.time_ns >= last);
        last = event.time_ns;
    }
    assert_int_equal(cunei_trace_merge_next(&merge, &event), 0);
    cunei_trace_merge_close(&merge);

    assert_int_equal(count, 7 + 2 + 11);
    assert_int_equal(last, FIXTURE_START_S * 1000000000 + 1011);
}

static uint64_t count_merged(uint64_t pid, uint64_t tid)
{
    struct cunei_trace_merge merge;
    struct cunei_trace_event event;
    uint64_t count = 0;

    assert_int_equal(cunei_trace_merge_open(&merge, &trace, pid, tid), 0);
    while (cunei_trace_merge_next(&merge, &event) > 0)
        count++;
    cunei_trace_merge_close(&merge);
    return count;
}

static void a_merge_can_be_of_one_process_or_thread(void **state)
{
    (void)state;
    fixture_append_calls(&fixture, 0, 1000, 3);
    fixture_packet_begin(&fixture, 1, 0, 1001);
    fixture_append(&fixture);
    fixture_add_process(&fixture, 12);
    fixture_append_calls(&fixture, 0, 1002, 5);
    open_trace();

    assert_int_equal(count_merged(12, 0), 11);
    assert_int_equal(count_merged(4711, 0), 8);
    assert_int_equal(count_merged(0, 4712), 1);
    assert_int_equal(count_merged(13, 0), 0);
}

static void a_merge_goes_on_past_damage_and_says_it_at_the_end(void **state)
{
    (void)state;
    struct cunei_trace_merge merge;
    struct cunei_trace_event event;
    uint64_t count = 0;
    int rc;
    fixture_append_calls(&fixture, 0, 1000, 3);
    fixture_append_file(fixture_path(&fixture, "s0"), "junk", 4);
    fixture_add_process(&fixture, 12);
    fixture_append_calls(&fixture, 0, 5000, 5);
    open_trace();

    assert_int_equal(cunei_trace_merge_open(&merge, &trace, 0, 0), 0);
    while ((rc = cunei_trace_merge_next(&merge, &event)) > 0)
        count++;

    assert_int_equal(rc, -EBADMSG);
    assert_int_equal(count, 7 + 11);
    assert_non_null(strstr(merge.error.text, "host-4711-0/s0"));
    cunei_trace_merge_close(&merge);
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

static void what_is_no_trace_is_refused_with_a_clause(void **state)
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
    assert_refused(path, -ENODATA, "holds no trace");
}

static void metadata_of_others_is_refused_with_a_clause(void **state)
{
    (void)state;
    static const char newer[] = "/* CTF 1.8 */\n/* cunei wire version 2 */\n";
    static const char other[] = "/* CTF 1.8 */\ntrace { major = 1; };\n";
    char path[200];
    (void)snprintf(path, sizeof(path), "%s/metadata", fixture.folder);

    fixture_write_file(path, newer, strlen(newer));
    assert_refused(fixture.directory, -EPROTO, "another version of cunei");
    fixture_write_file(path, other, strlen(other));
    assert_refused(fixture.directory, -ENODATA, "not of a trace of cunei's");
    fixture_write_file(path, "", 0);
    assert_refused(fixture.directory, -ENODATA, "not of a trace of cunei's");
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

static void what_is_no_regular_file_is_not_waited_for(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(fixture_path(&fixture, "s0"), 0600), 0);

    assert_refused(fixture.directory, -EBADMSG, "no regular file");
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
        TEST(every_kind_of_event_passes_the_check),
        TEST(times_may_span_the_wrap_of_their_bits),
        TEST(a_wrong_packet_ends_the_stream_and_what_came_before_is_whole),
        TEST(a_packet_of_another_stream_is_refused),
        TEST(a_file_cut_short_says_so),
        TEST(ranges_of_a_split_hold_every_packet_once),
        TEST(a_small_stream_is_one_range),
        TEST(a_merge_gives_all_events_in_order_of_time),
        TEST(a_merge_can_be_of_one_process_or_thread),
        TEST(a_merge_goes_on_past_damage_and_says_it_at_the_end),
        TEST(what_is_no_trace_is_refused_with_a_clause),
        TEST(metadata_of_others_is_refused_with_a_clause),
        TEST(a_damaged_function_is_refused_with_its_place),
        TEST(a_damaged_definition_is_refused_with_its_place),
        TEST(what_is_no_regular_file_is_not_waited_for),
        TEST(a_trace_that_may_not_be_read_is_refused_with_a_clause),
        TEST(without_a_description_the_rest_is_still_read),
        TEST(a_description_that_never_ended_is_of_a_killed_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
