// SPDX-License-Identifier: MIT
/* User events, invented. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "model/user/user_reader.h"
#include "packets.h"
#include "text/typed_value.h"

enum {
    LOAD = G,
    BYTES = H,
    DECODE = H + 1,
};

static const struct cunei_function functions[FUNCTION_COUNT] = {
    {F, 1, "app", "f", "/x/app.py", 0},
    {LOAD, 0, "", "load", CUNEI_REGION_FILE, 0},
    {BYTES, 0, "", "bytes", CUNEI_COUNTER_FILE, 0},
    {DECODE, 0, "", "decode", CUNEI_TOKENS_FILE, 0},
};
static const uint8_t kinds[FUNCTION_COUNT] = {
    [1] = CUNEI_DEFINITION_REGION,
    [2] = CUNEI_DEFINITION_COUNTER,
    [3] = CUNEI_DEFINITION_TOKENS,
};

static struct tape tape;
static struct cunei_user_facts facts;
static struct cunei_text_set tags;

static int set_up(void **state)
{
    (void)state;
    tape = (struct tape){0};
    tags = (struct cunei_text_set){.max = 8};
    cunei_user_facts_init(&facts);
    tape_packet(&tape, 1, 100);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tape_fini(&tape);
    cunei_user_facts_fini(&facts);
    cunei_text_set_fini(&tags);
    return 0;
}

/* A tick is a nanosecond. */
static void read_tape(void)
{
    const struct cunei_user_reader_options options = {
        .facts = &facts,
        .functions = functions,
        .function_count = FUNCTION_COUNT,
        .kinds = {kinds, FUNCTION_COUNT},
        .tags = &tags,
        .wall = {.scale = cunei_tick_scale(1000000000)},
    };
    struct cunei_user_reader *reader = cunei_user_reader_new(&options);

    assert_non_null(reader);
    for (size_t i = 0; i < tape.count; i++)
        assert_int_equal(cunei_user_reader_read(reader, &tape.packets[i]->head,
                                                tape.packets[i]->words,
                                                tape.packets[i]->count),
                         0);
    assert_int_equal(cunei_user_reader_end(reader), 0);
    cunei_user_reader_free(reader);
    assert_int_equal(cunei_user_facts_finish(&facts), 0);
}

/* An event of a name and a text, or a number. */
static void put_value(uint32_t class, uint32_t target, const char *name,
                      const char *text, uint64_t number, uint64_t time)
{
    char whole[256];

    (void)snprintf(whole, sizeof(whole), text ? "%s=%s" : "%s", name, text);
    tape_put(&tape, cunei_record(time, class, 0));
    tape_put(&tape, number);
    tape_put(&tape, (text ? CUNEI_VALUE_TEXT : CUNEI_VALUE_INT) | (uint64_t)strlen(name)
                                                                      << 32);
    tape_put(&tape, target | (uint64_t)tape_text_size(whole) << 32);
    tape_text(&tape, whole);
}

static void put_count(int phase, uint64_t value, uint64_t total, uint32_t kind,
                      uint64_t time)
{
    tape_put(&tape, cunei_record(time, CUNEI_CLASS_COUNTER, (uint32_t)phase));
    tape_put(&tape, value);
    tape_put(&tape, total);
    tape_put(&tape, BYTES | (uint64_t)kind << 32);
}

static void put_token(int phase, uint64_t stream, uint32_t count, uint64_t time)
{
    tape_put(&tape, cunei_record(time, CUNEI_CLASS_TOKEN, (uint32_t)phase));
    tape_put(&tape, stream);
    tape_put(&tape, DECODE | (uint64_t)count << 32);
}

static uint64_t bits_of(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

static void a_region_lasts_from_its_begin_to_its_end(void **state)
{
    (void)state;
    tape_enter(&tape, F, 110);
    for (uint64_t i = 1; i <= 3; i++) {
        tape_enter(&tape, LOAD, 100 * i + 20);
        tape_leave(&tape, LOAD, 100 * i + 20 + 10 * i);
    }
    tape_leave(&tape, F, 900);
    read_tape();

    assert_int_equal(facts.region_names.count, 1);
    assert_string_equal(facts.region_names.items[0], "load");
    assert_int_equal(facts.regions[0].count, 3);
    assert_int_equal(facts.regions[0].total_ns, 60);
    assert_int_equal(facts.regions[0].max_ns, 30);
    assert_int_equal(cunei_histogram_count(&facts.regions[0].histogram), 3);
}

static void a_quantile_lies_between_the_shortest_and_the_longest(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 2; i++) {
        tape_enter(&tape, LOAD, 100000 * i);
        tape_leave(&tape, LOAD, 100000 * i + 3070 + i); /* in a bucket from 2944 on */
    }
    put_token(CUNEI_PHASE_ENTER, 1, 0, 300000);
    for (uint64_t i = 0; i < 3; i++)
        put_token(CUNEI_PHASE_RESUME, 1, 1, 300000 + 3071 * i);
    read_tape();

    assert_int_equal(cunei_user_facts_region_quantile(&facts.regions[0], 0.5), 3071);
    assert_int_equal(cunei_user_facts_region_quantile(&facts.regions[0], 0.99), 3072);
    assert_int_equal(cunei_user_facts_tokens_quantile(&facts.tokens[0], 0.5), 3071);
}

static void a_region_in_another_of_its_name_counts_once(void **state)
{
    (void)state;
    tape_enter(&tape, LOAD, 110);
    tape_enter(&tape, LOAD, 120);
    tape_leave(&tape, LOAD, 150);
    tape_leave(&tape, LOAD, 210);
    read_tape();

    assert_int_equal(facts.regions[0].count, 2);
    assert_int_equal(facts.regions[0].total_ns, 100);
    assert_int_equal(facts.regions[0].max_ns, 100);
}

/* The function that it was begun in may be long over. */
static void a_region_may_end_in_another_function(void **state)
{
    (void)state;
    tape_enter(&tape, F, 110);
    tape_enter(&tape, LOAD, 120);
    tape_leave(&tape, F, 130);
    tape_enter(&tape, F, 140);
    tape_leave(&tape, LOAD, 150);
    tape_leave(&tape, F, 160);
    read_tape();

    assert_int_equal(facts.regions[0].total_ns, 30);
    assert_int_equal(cunei_histogram_count(&facts.regions[0].histogram), 1);
}

/* Each task has its own, whatever the order in which they continue. */
static void time_suspended_is_not_time_inside(void **state)
{
    (void)state;
    for (uint64_t task = 1; task <= 2; task++) {
        tape_step(&tape, task, "", F, CUNEI_PHASE_ENTER, 100 * task);
        tape_event(&tape, LOAD, CUNEI_PHASE_ENTER, 100 * task);
        put_value(CUNEI_CLASS_PARAMETER, LOAD, "size", NULL, task, 100 * task);
        tape_event(&tape, LOAD, CUNEI_PHASE_YIELD, 100 * task + 10);
        tape_event(&tape, F, CUNEI_PHASE_YIELD, 100 * task + 10);
    }
    for (uint64_t task = 1; task <= 2; task++) {
        tape_step(&tape, task, "", F, CUNEI_PHASE_RESUME, 1000 * task);
        tape_event(&tape, LOAD, CUNEI_PHASE_RESUME, 1000 * task);
        tape_event(&tape, LOAD, CUNEI_PHASE_LEAVE, 1000 * task + 20 * task);
        tape_event(&tape, F, CUNEI_PHASE_LEAVE, 1000 * task + 50);
    }
    read_tape();

    assert_int_equal(facts.regions[0].count, 2);
    assert_int_equal(facts.regions[0].resumes, 2);
    assert_int_equal(facts.regions[0].total_ns, 80);
    assert_int_equal(facts.regions[0].max_ns, 50);
    assert_int_equal(facts.parameter_keys.count, 2);
    assert_string_equal(facts.parameters[0].text, "1");
    assert_int_equal(facts.parameters[0].total_ns, 30);
    assert_int_equal(facts.parameters[1].total_ns, 50);
}

static void a_tagged_function_is_a_region(void **state)
{
    static const char name[] = "step";
    const uint32_t function = F;
    char key[16] = "";

    (void)state;
    memcpy(key, &function, sizeof(function));
    memcpy(key + sizeof(function), name, sizeof(name));
    assert_int_equal(
        cunei_text_set_add(&tags, key, sizeof(function) + sizeof(name) - 1), 0);
    tape_enter(&tape, F, 110);
    tape_leave(&tape, F, 140);
    read_tape();

    assert_string_equal(facts.region_names.items[0], "step");
    assert_int_equal(facts.regions[0].count, 1);
    assert_int_equal(facts.regions[0].total_ns, 30);
}

static void open_calls_end_at_the_end(void **state)
{
    (void)state;
    tape_enter(&tape, LOAD, 110);
    tape_enter(&tape, F, 150);
    read_tape();

    assert_int_equal(facts.regions[0].total_ns, 40);
    assert_int_equal(facts.regions[0].max_ns, 40);
}

static void too_many_values_are_one(void **state)
{
    (void)state;
    tape_enter(&tape, F, 110);
    for (uint64_t i = 0; i < 50; i++) {
        for (uint64_t j = 0; j < 30; j++) {
            tape_enter(&tape, LOAD, 110 + 30 * i + j);
            put_value(CUNEI_CLASS_PARAMETER, LOAD, "n", NULL, 30 * i + j,
                      110 + 30 * i + j);
            tape_leave(&tape, LOAD, 110 + 30 * i + j);
        }
        tape_packet(&tape, 1, 110 + 30 * i + 30);
    }
    read_tape();

    assert_int_equal(facts.regions[0].count, 1500);
    assert_true(cunei_user_facts_values(&facts, &facts.parameters[0]) >
                CUNEI_VALUES_MAX);
    assert_int_equal(facts.parameter_keys.count, CUNEI_VALUES_MAX + 2);
}

static void counters_know_their_numbers(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 100; i++)
        put_count(CUNEI_PHASE_RESUME, i, i * (i + 1) / 2, 0, 100 + i);
    read_tape();
    const struct cunei_counter_facts *bytes = &facts.counters[0];

    assert_string_equal(facts.counter_names.items[0], "bytes");
    assert_int_equal(bytes->count, 100);
    assert_true(cunei_user_facts_sum(bytes) == 5050);
    assert_int_equal(bytes->whole_min, 1);
    assert_int_equal(bytes->whole_max, 100);
    assert_true(cunei_user_facts_mean(bytes) == 50.5);
    assert_true(cunei_distribution_quantile(&bytes->spread, 0.5) == 50);
    assert_true(cunei_distribution_quantile(&bytes->spread, 0.99) == 99);
    assert_false(bytes->is_double);
}

static void nan_is_counted_apart(void **state)
{
    const uint32_t doubles = CUNEI_COUNTER_VALUE_DOUBLE | CUNEI_COUNTER_TOTAL_DOUBLE;

    (void)state;
    put_count(CUNEI_PHASE_ENTER, bits_of(NAN), bits_of(NAN), doubles, 110);
    put_count(CUNEI_PHASE_ENTER, bits_of(-2.5), bits_of(-2.5), doubles, 120);
    put_count(CUNEI_PHASE_ENTER, bits_of(INFINITY), bits_of(INFINITY), doubles, 130);
    put_count(CUNEI_PHASE_ENTER, INT64_MAX, INT64_MAX, 0, 140);
    read_tape();
    const struct cunei_counter_facts *bytes = &facts.counters[0];

    assert_int_equal(bytes->count, 4);
    assert_int_equal(bytes->nan, 1);
    assert_true(bytes->min == -2.5);
    assert_true(isinf(bytes->max));
    assert_true(isinf(cunei_user_facts_sum(bytes)));
}

static void a_course_is_the_same_whatever_comes_first(void **state)
{
    struct cunei_time_series one = {0}, two = {0};

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        cunei_time_series_add(&one, 5000 + i * 777, (double)i);
        cunei_time_series_add(&two, 5000 + (999 - i) * 777, (double)(999 - i));
    }
    assert_int_equal(one.shift, two.shift);
    assert_int_equal(one.first, two.first);
    assert_int_equal(one.count, two.count);
    assert_memory_equal(one.counts, two.counts, one.count * sizeof(*one.counts));
}

static const char *mark_name(size_t index)
{
    return facts.mark_texts.items[facts.marks[index].name];
}

static const char *mark_json(size_t index, char text[64])
{
    const struct cunei_mark_facts *mark = &facts.marks[index];
    const struct cunei_typed_value value = {mark->kind, mark->value,
                                            facts.mark_texts.items[mark->text],
                                            facts.mark_texts.sizes[mark->text]};
    struct cunei_buffer json = {0};

    cunei_typed_value_format(&value, true, &json);
    (void)snprintf(text, 64, "%s", json.data);
    cunei_buffer_fini(&json);
    return text;
}

/* More text than is kept: what finds no place is still counted, and has its time. */
static void texts_of_marks_are_bounded(void **state)
{
    static uint64_t
        words[(sizeof(struct cunei_user_value) + CUNEI_VALUE_MAX) / sizeof(uint64_t)];
    struct cunei_user_value *event = (void *)words;
    const struct cunei_mark_facts where = {.time_ns = 1};
    uint32_t room = CUNEI_MARK_BYTES_MAX / CUNEI_VALUE_MAX;

    (void)state;
    event->length = event->name_length = CUNEI_VALUE_MAX;
    memset(event->text, 'x', CUNEI_VALUE_MAX);
    for (uint32_t i = 0; i < room + 100; i++) {
        (void)snprintf(event->text, 16, "%08u", i);
        event->text[8] = 'x';
        assert_int_equal(cunei_user_facts_mark(&facts, event, &where), 0);
    }

    assert_int_equal(facts.mark_count, room + 100);
    assert_int_equal(strlen(mark_name(0)), CUNEI_VALUE_MAX);
    assert_string_equal(mark_name(room + 99), "…");
    assert_in_range(facts.mark_texts.bytes, 1, CUNEI_MARK_BYTES_MAX);
}

static void marks_come_in_the_order_of_time(void **state)
{
    char text[64];

    (void)state;
    put_value(CUNEI_CLASS_MARK, 0, "later", "a=b", 0, 200);
    tape_packet(&tape, 2, 150);
    put_value(CUNEI_CLASS_MARK, 0, "sooner", NULL, 7, 160);
    put_value(CUNEI_CLASS_METADATA, 0, "model", "one", 0, 170);
    put_value(CUNEI_CLASS_METADATA, 0, "model", "two", 0, 180);
    read_tape();

    assert_int_equal(facts.mark_count, 2);
    assert_string_equal(mark_name(0), "sooner");
    assert_string_equal(mark_json(0, text), "7");
    assert_string_equal(mark_name(1), "later");
    assert_string_equal(mark_json(1, text), "\"a=b\"");
    assert_int_equal(facts.metadata_keys.count, 1);
    assert_string_equal(facts.metadata[0].text, "two");
}

/* It began on one thread, its tokens come from another. */
static void tokens_are_timed_by_stream(void **state)
{
    (void)state;
    put_token(CUNEI_PHASE_ENTER, 1, 0, 100);
    tape_packet(&tape, 2, 300);
    put_token(CUNEI_PHASE_RESUME, 1, 1, 300);
    put_token(CUNEI_PHASE_RESUME, 1, 1, 350);
    put_token(CUNEI_PHASE_RESUME, 1, 2, 450);
    put_token(CUNEI_PHASE_RESUME, 1, 1, 600);
    put_token(CUNEI_PHASE_LEAVE, 1, 0, 900);
    read_tape();
    const struct cunei_tokens_facts *tokens = &facts.tokens[0];

    assert_int_equal(tokens->count, 5);
    assert_true(tokens->has_first && tokens->has_ended);
    assert_int_equal(tokens->first_ns, 200);
    assert_true(fabs(tokens->per_s - 1e7) < 1);
    assert_int_equal(tokens->max_ns, 150);
    assert_int_equal(cunei_histogram_count(&tokens->histogram), 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_region_lasts_from_its_begin_to_its_end),
        TEST(a_quantile_lies_between_the_shortest_and_the_longest),
        TEST(a_region_in_another_of_its_name_counts_once),
        TEST(a_region_may_end_in_another_function),
        TEST(time_suspended_is_not_time_inside),
        TEST(a_tagged_function_is_a_region),
        TEST(open_calls_end_at_the_end),
        TEST(too_many_values_are_one),
        TEST(counters_know_their_numbers),
        TEST(nan_is_counted_apart),
        TEST(a_course_is_the_same_whatever_comes_first),
        TEST(texts_of_marks_are_bounded),
        TEST(marks_come_in_the_order_of_time),
        TEST(tokens_are_timed_by_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
