// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/facts/call_edges.h"
#include "model/profile/profile.h"
#include "model/profile/profile_budget.h"

enum {
    MAIN = CUNEI_FUNCTION_FIRST,
    LEAF
};

#define WORDS (sizeof(struct cunei_sample) / sizeof(uint64_t))

struct text {
    uint64_t words[64];
    size_t count;
};

static void put_sample(struct text *text, enum cunei_phase phase, uint32_t caller,
                       uint64_t calls, uint64_t error)
{
    const struct cunei_sample sample = {
        .record = cunei_record(50, CUNEI_CLASS_SAMPLE, phase),
        .function = LEAF,
        .caller = caller,
        .calls = calls,
        .resumes = 2 * calls,
        .span = caller,
        .self = 3 * calls,
        .total = 3 * calls,
        .calls_error = error,
        .bias = 10000,
    };

    memcpy(text->words + text->count, &sample, sizeof(sample));
    text->count += WORDS;
}

/* A thread in MAIN that calls LEAF once; then LEAF is demoted. */
static void read_text(struct cunei_profile *profile)
{
    const struct cunei_packet packet = {.thread = 1, .vtid = 1};
    struct cunei_piece span = {0};
    struct text text = {
        .words = {cunei_record(0, CUNEI_CLASS_STACK, 0), 0,
                  cunei_record(1, MAIN, CUNEI_PHASE_ENTER),
                  cunei_record(2, LEAF, CUNEI_PHASE_ENTER),
                  cunei_record(4, LEAF, CUNEI_PHASE_LEAVE),
                  cunei_record(5, CUNEI_CLASS_DEMOTE, CUNEI_PHASE_ENTER),
                  LEAF | (uint64_t)CUNEI_LEVEL_OFF << 32},
        .count = 7,
    };

    put_sample(&text, CUNEI_PHASE_LEAVE, MAIN, 8, 0);
    put_sample(&text, CUNEI_PHASE_ENTER, 0, 10, 3);
    put_sample(&text, CUNEI_PHASE_ENTER, 0, 10, 4);
    text.words[text.count++] = cunei_record(100, MAIN, CUNEI_PHASE_LEAVE);
    assert_int_equal(
        cunei_profile_read(profile, &span, &packet, text.words, text.count), 0);
    assert_int_equal(cunei_profile_seal(profile, &span), 0);
    cunei_piece_fini(&span);
}

static const struct cunei_profile_options options = {
    .function_count = 2, .frequency = 1000000000, .edges = true};

static void samples_add_up_and_so_do_their_squares(void **state)
{
    struct cunei_profile profile;
    (void)state;
    assert_int_equal(cunei_profile_init(&profile, &options), 0);

    read_text(&profile);

    const struct cunei_budget_estimate *leaf = &profile.guesses.items[2];
    assert_int_equal(profile.functions[2].calls, 1);
    assert_int_equal(leaf->calls, 20);
    assert_int_equal(leaf->self, 60);
    assert_int_equal(leaf->demotions, 1);
    /* Two of (the root of 9 + 16, and a hundredth of 20). */
    assert_true(cunei_budget_estimate_calls_width(leaf) > 10.39);
    assert_true(cunei_budget_estimate_calls_width(leaf) < 10.41);
    cunei_profile_fini(&profile);
}

static void a_caller_gives_the_time_back(void **state)
{
    struct cunei_profile profile;
    (void)state;
    assert_int_equal(cunei_profile_init(&profile, &options), 0);

    read_text(&profile);

    assert_int_equal(profile.guesses.items[1].hidden, 24);
    assert_int_equal(profile.guesses.items[1].samples, 0);
    uint32_t edge = cunei_edges_find(profile.edges, 1, 2);
    assert_int_equal(profile.edges->items[edge].calls, 9);
    assert_int_equal(profile.edges->items[edge].resumes, 16);
    cunei_profile_fini(&profile);
}

static void profiles_with_and_without_add_up(void **state)
{
    struct cunei_profile one, two;
    (void)state;
    assert_int_equal(cunei_profile_init(&one, &options), 0);
    assert_int_equal(cunei_profile_init(&two, &options), 0);
    read_text(&two);

    assert_int_equal(cunei_profile_add(&one, &two), 0);
    assert_int_equal(cunei_profile_add(&one, &two), 0);

    assert_int_equal(one.guesses.items[2].calls, 40);
    assert_int_equal(one.guesses.items[2].samples, 4);
    cunei_profile_fini(&one);
    cunei_profile_fini(&two);
}

/* From 50 to 100 nothing was reported: of two samples over 40 ticks, 20 each. */
static void a_function_that_is_demoted_at_the_end_is_estimated_until_then(void **state)
{
    struct cunei_profile profile;
    (void)state;
    assert_int_equal(cunei_profile_init(&profile, &options), 0);
    read_text(&profile);
    struct cunei_budget_estimate *leaf = &profile.guesses.items[2];
    leaf->span = 40;

    cunei_profile_budget_close(&profile, 100);

    /* Up to 40 ticks of these 50 may have been run in, at half a call each. */
    assert_int_equal(leaf->calls, 30);
    assert_true(leaf->calls_variance > 124.9 && leaf->calls_variance < 125.1);
    cunei_profile_fini(&profile);
}

static void a_function_that_is_recorded_again_at_the_end_needs_no_estimate(void **state)
{
    const uint64_t leave[] = {cunei_record(60, CUNEI_CLASS_DEMOTE, CUNEI_PHASE_LEAVE),
                              LEAF};
    struct cunei_profile profile;
    (void)state;
    assert_int_equal(cunei_profile_init(&profile, &options), 0);
    read_text(&profile);
    struct cunei_budget_estimate *leaf = &profile.guesses.items[2];
    leaf->span = 40;

    assert_int_equal(cunei_profile_budget_read(&profile, leave, 60), 0);
    cunei_profile_budget_close(&profile, 100);

    assert_int_equal(leaf->calls, 20);
    cunei_profile_fini(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_add_up_and_so_do_their_squares),
        cmocka_unit_test(a_caller_gives_the_time_back),
        cmocka_unit_test(profiles_with_and_without_add_up),
        cmocka_unit_test(a_function_that_is_demoted_at_the_end_is_estimated_until_then),
        cmocka_unit_test(
            a_function_that_is_recorded_again_at_the_end_needs_no_estimate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
