// SPDX-License-Identifier: MIT
/* Pairs of caller and callee count what cProfile's subentries do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/facts/call_edges.h"
#include "model/profile/profile.h"
#include "packets.h"

static const struct cunei_profile_options options = {
    .function_count = FUNCTION_COUNT,
    .frequency = 1000000000,
    .edges = true,
};

static void read_tape(struct cunei_profile *profile, struct tape *tape)
{
    struct cunei_piece span = {0};

    assert_int_equal(cunei_profile_init(profile, &options), 0);
    for (size_t i = 0; i < tape->count; i++)
        assert_int_equal(cunei_profile_read(profile, &span, &tape->packets[i]->head,
                                            tape->packets[i]->words,
                                            tape->packets[i]->count),
                         0);
    assert_int_equal(cunei_profile_seal(profile, &span), 0);
    cunei_piece_fini(&span);
    tape_fini(tape);
}

/* A function's slot; 0 if there is no function. */
static uint32_t slot(uint32_t function)
{
    return function ? function - CUNEI_FUNCTION_FIRST + 1 : 0;
}

static void expect_edge(struct cunei_profile *profile, uint32_t caller, uint32_t callee,
                        struct cunei_edge wanted)
{
    uint32_t index = cunei_edges_find(profile->edges, slot(caller), slot(callee));
    const struct cunei_edge *edge = &profile->edges->items[index];

    assert_int_equal(edge->calls, wanted.calls);
    assert_int_equal(edge->resumes, wanted.resumes);
    assert_int_equal(edge->recursive, wanted.recursive);
    assert_int_equal(edge->self, wanted.self);
    assert_int_equal(edge->inclusive, wanted.inclusive);
    assert_int_equal(edge->total, wanted.total);
}

/* f calls g, which calls f, which calls g. */
static void functions_that_call_each_other_are_pairs_by_themselves(void **state)
{
    struct tape tape = {0};
    struct cunei_profile profile;

    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 100);
    tape_enter(&tape, G, 110);
    tape_enter(&tape, F, 130);
    tape_enter(&tape, G, 160);
    tape_leave(&tape, G, 200);
    tape_leave(&tape, F, 210);
    tape_leave(&tape, G, 230);
    tape_leave(&tape, F, 300);
    read_tape(&profile, &tape);

    expect_edge(
        &profile, 0, F,
        (struct cunei_edge){.calls = 1, .self = 80, .inclusive = 200, .total = 200});
    expect_edge(
        &profile, F, G,
        (struct cunei_edge){
            .calls = 2, .recursive = 1, .self = 80, .inclusive = 120, .total = 120});
    /* Its callee was open: it is nothing new to that one's total. */
    expect_edge(&profile, G, F,
                (struct cunei_edge){.calls = 1, .self = 40, .inclusive = 80});
    cunei_profile_fini(&profile);
}

static void resumptions_are_entries_of_a_pair(void **state)
{
    struct tape tape = {0};
    struct cunei_profile profile;

    (void)state;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, F, 100);
    tape_enter(&tape, G, 110);
    tape_event(&tape, G, CUNEI_PHASE_YIELD, 120);
    tape_event(&tape, G, CUNEI_PHASE_RESUME, 150);
    tape_event(&tape, G, CUNEI_PHASE_RESUME, 160); /* another one, that it calls */
    tape_event(&tape, G, CUNEI_PHASE_YIELD, 180);
    tape_event(&tape, G, CUNEI_PHASE_YIELD, 190);
    tape_leave(&tape, F, 200);
    read_tape(&profile, &tape);

    expect_edge(
        &profile, F, G,
        (struct cunei_edge){
            .calls = 1, .resumes = 1, .self = 30, .inclusive = 50, .total = 50});
    expect_edge(&profile, G, G,
                (struct cunei_edge){.resumes = 1, .self = 20, .inclusive = 20});
    assert_int_equal(profile.functions[slot(G)].nested, 1);
    cunei_profile_fini(&profile);
}

static void an_open_call_counts_up_to_the_end(void **state)
{
    struct tape tape = {0};
    struct cunei_profile profile;

    (void)state;
    tape.open[tape.depth++] = F;
    tape_packet(&tape, 1, 100);
    tape_enter(&tape, G, 110);
    tape_enter(&tape, G, 120);
    tape_enter(&tape, G, 140);
    read_tape(&profile, &tape);

    expect_edge(&profile, 0, F,
                (struct cunei_edge){.self = 10, .inclusive = 40, .total = 40});
    expect_edge(
        &profile, F, G,
        (struct cunei_edge){.calls = 1, .self = 10, .inclusive = 30, .total = 30});
    expect_edge(
        &profile, G, G,
        (struct cunei_edge){.calls = 2, .recursive = 1, .self = 20, .inclusive = 20});
    cunei_profile_fini(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_that_call_each_other_are_pairs_by_themselves),
        cmocka_unit_test(resumptions_are_entries_of_a_pair),
        cmocka_unit_test(an_open_call_counts_up_to_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
