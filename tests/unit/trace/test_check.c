// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "opened.h"

static void every_kind_of_event_passes_the_check(void **state)
{
    (void)state;
    uint64_t events = 0;
    const uint64_t stack[] = {cunei_record(1000, CUNEI_CLASS_STACK, 0),
                              UINT64_C(4) << 32 | 7, UINT64_C(1024) << 32,
                              UINT64_C(1025) << 32 | 1024};
    const uint64_t line[] = {cunei_record(1003, CUNEI_CLASS_LINE, 0),
                             UINT64_C(1024) << 32 | 17};
    const uint32_t first = CUNEI_NEAR_FIRST + CUNEI_NEAR_ABOVE - 16; /* line 1 */
    const uint64_t mark[] = {cunei_record(1004, CUNEI_CLASS_MARK, 0), 0,
                             UINT64_C(3) << 32 | CUNEI_VALUE_TEXT, UINT64_C(8) << 32,
                             0x3d656e6f};
    const uint64_t tag[] = {cunei_record(1004, CUNEI_CLASS_TAG, 0), 0, 0, 1024};
    const uint64_t counter[] = {cunei_record(1005, CUNEI_CLASS_COUNTER, 0), 1, 1,
                                UINT64_C(3) << 32 | 1025};
    const uint64_t token[] = {cunei_record(1006, CUNEI_CLASS_TOKEN, 0), 1,
                              UINT64_C(1) << 32 | 1025};
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
    fixture_put_words(&fixture, 1003, line, 2);
    fixture_put(&fixture, 1003, first, CUNEI_PHASE_ENTER);
    fixture_put(&fixture, 1003, CUNEI_FUNCTION_FIRST - 1, CUNEI_PHASE_YIELD);
    fixture_put_words(&fixture, 1004, mark, 5);
    fixture_put_words(&fixture, 1004, tag, 4);
    fixture_put_words(&fixture, 1005, counter, 4);
    fixture_put_words(&fixture, 1006, token, 3);
    fixture_append(&fixture);

    open_trace();

    assert_int_equal(read_stream(0, &events, 0, UINT64_MAX), 0);
    assert_int_equal(events, 12);
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
    fixture_put(&fixture, 4000, CUNEI_CLASS_COUNT, CUNEI_PHASE_ENTER);
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
static void line_of_nothing(void)
{
    const uint64_t words[] = {cunei_record(4000, CUNEI_CLASS_LINE, 0),
                              UINT64_C(1026) << 32 | 17};
    fixture_put_words(&fixture, 4000, words, 2);
}
static void line_cut_short(void)
{
    fixture_put(&fixture, 4000, CUNEI_CLASS_LINE, CUNEI_PHASE_ENTER);
}
static void line_near_to_nothing(void)
{
    fixture_put(&fixture, 4000, CUNEI_NEAR_FIRST, CUNEI_PHASE_ENTER);
}
static void line_near_to_one_of_nothing(void)
{
    const uint64_t words[] = {cunei_record(4000, CUNEI_CLASS_LINE, 0), 17};
    fixture_put_words(&fixture, 4000, words, 2);
    fixture_put(&fixture, 4000, CUNEI_NEAR_FIRST, CUNEI_PHASE_ENTER);
}
static void line_above_the_first(void)
{
    const uint64_t words[] = {cunei_record(4000, CUNEI_CLASS_LINE, 0),
                              UINT64_C(1024) << 32 | 17};
    fixture_put_words(&fixture, 4000, words, 2);
    fixture_put(&fixture, 4000, CUNEI_NEAR_FIRST + CUNEI_NEAR_ABOVE - 17,
                CUNEI_PHASE_ENTER);
}
/* A value with eight bytes of text, "name=val". */
static void put_value(uint32_t kind, uint32_t name_length, uint32_t target,
                      uint32_t length)
{
    const uint64_t words[] = {cunei_record(4000, CUNEI_CLASS_PARAMETER, 0), 0,
                              kind | (uint64_t)name_length << 32,
                              target | (uint64_t)length << 32, 0x6c61763d656d616e};
    fixture_put_words(&fixture, 4000, words, 5);
}
static void value_of_an_unknown_kind(void)
{
    put_value(CUNEI_VALUE_KINDS, 4, 0, 8);
}
static void value_of_nothing(void)
{
    put_value(CUNEI_VALUE_INT, 4, 1026, 8);
}
static void value_with_a_long_name(void)
{
    put_value(CUNEI_VALUE_INT, 9, 0, 8);
}
static void value_without_its_text(void)
{
    put_value(CUNEI_VALUE_TEXT, 8, 0, 8);
}
static void value_with_another_length_of_name(void)
{
    put_value(CUNEI_VALUE_ERROR, 3, 0, 8);
}
static void value_cut_short(void)
{
    put_value(CUNEI_VALUE_INT, 4, 0, 16);
}
static void value_of_an_odd_length(void)
{
    put_value(CUNEI_VALUE_INT, 4, 0, 4);
}
static void value_with_too_much_text(void)
{
    static const uint64_t text[CUNEI_VALUE_MAX / 8 + 1];
    const uint64_t words[] = {cunei_record(4000, CUNEI_CLASS_MARK, 0), 0, 0,
                              (CUNEI_VALUE_MAX + UINT64_C(8)) << 32};
    fixture_put_words(&fixture, 4000, words, 4);
    fixture_put_words(&fixture, 4000, text, CUNEI_VALUE_MAX / 8 + 1);
}
static void put_counter(uint32_t counter, uint32_t kind)
{
    const uint64_t words[] = {cunei_record(4000, CUNEI_CLASS_COUNTER, 0), 0, 0,
                              counter | (uint64_t)kind << 32};
    fixture_put_words(&fixture, 4000, words, 4);
}
static void counter_of_nothing(void)
{
    put_counter(0, 0);
}
static void counter_of_an_unknown_kind(void)
{
    put_counter(1024, 4);
}
static void token_of_nothing(void)
{
    const uint64_t words[] = {cunei_record(4000, CUNEI_CLASS_TOKEN, 0), 1, 1026};
    fixture_put_words(&fixture, 4000, words, 3);
}
static void definition_among_events(void)
{
    fixture_put(&fixture, 4000, CUNEI_CLASS_DEFINE, CUNEI_PHASE_ENTER);
}
static void put_stack(uint32_t count, uint64_t functions)
{
    const uint64_t words[] = {cunei_record(4000, CUNEI_CLASS_STACK, 0),
                              (uint64_t)count << 32, functions};
    fixture.packet->content_bits = 8 * sizeof(struct cunei_packet);
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
static void second_stack(void)
{
    const uint64_t words[] = {cunei_record(4000, CUNEI_CLASS_STACK, 0), 0};
    fixture_put_words(&fixture, 4000, words, 2);
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
    ROW(line_of_nothing),
    ROW(line_cut_short),
    ROW(line_near_to_nothing),
    ROW(line_near_to_one_of_nothing),
    ROW(line_above_the_first),
    ROW(value_of_an_unknown_kind),
    ROW(value_of_nothing),
    ROW(value_with_a_long_name),
    ROW(value_without_its_text),
    ROW(value_with_another_length_of_name),
    ROW(value_cut_short),
    ROW(value_of_an_odd_length),
    ROW(value_with_too_much_text),
    ROW(counter_of_nothing),
    ROW(counter_of_an_unknown_kind),
    ROW(token_of_nothing),
    ROW(definition_among_events),
    ROW(odd_stack),
    ROW(huge_stack),
    ROW(stack_of_the_unknown),
    ROW(stack_with_a_hole),
    ROW(second_stack),
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

static void a_wrong_packet_is_passed_and_what_is_around_it_is_whole(void **state)
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
        fixture_append_calls(&fixture, 2, 10000, 5);

        open_trace();
        int rc = read_stream(0, &events, 0, UINT64_MAX);
        cunei_trace_close(&trace);

        if (rc != -EBADMSG || !strstr(error.text, expected))
            print_error("%s: got %d, \"%s\"\n", wrongs[i].name, rc, error.text);
        assert_int_equal(rc, -EBADMSG);
        assert_int_equal(events, 7 + 11);
        assert_non_null(strstr(error.text, expected));
        assert_non_null(strstr(error.text, "; 1024 bytes at 1 place cannot be read"));
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

/* A packet with nothing but a stack and an event of a class. */
static int read_class(uint32_t number, const struct cunei_field *wrong)
{
    uint64_t events = 0;

    fixture_write_file(fixture_path(&fixture, "s0"), "", 0);
    fixture_packet_begin(&fixture, 0, 0, 1000);
    if (number == CUNEI_CLASS_STACK)
        fixture.packet->content_bits = 8 * sizeof(struct cunei_packet);
    fixture_put_class(&fixture, 1001, number, wrong);
    fixture_append(&fixture);
    open_trace();
    int rc = read_stream(0, &events, 0, UINT64_MAX);
    cunei_trace_close(&trace);
    return rc;
}

static void every_field_of_every_class_is_checked(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CUNEI_CLASS_COUNT; i++) {
        const struct cunei_event_class *class = cunei_event_class(i);
        if (!class || class->stream != CUNEI_STREAM_EVENTS)
            continue;
        if (read_class(i, NULL) != 0)
            fail_msg("a valid %s is refused: %s", class->name, error.text);
        for (const struct cunei_field *field = class->fields; field->name; field++) {
            if (field->kind >= CUNEI_FIELD_FUNCTION && read_class(i, field) == 0)
                fail_msg("an invalid %s of %s passes", field->name, class->name);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_kind_of_event_passes_the_check),
        TEST(every_field_of_every_class_is_checked),
        TEST(times_may_span_the_wrap_of_their_bits),
        TEST(a_wrong_packet_is_passed_and_what_is_around_it_is_whole),
        TEST(a_packet_of_another_stream_is_refused),
        TEST(a_file_cut_short_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
