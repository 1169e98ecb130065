// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/filter_proposal.h"

/* A program of a second: one function does the work, one is tiny and called a lot. */
static const struct {
    const char *qualname, *file;
    uint64_t calls, resumes, self_ns;
} rows[] = {
    {"main", "/a.py", 1, 0, 100000000},
    {"work", "/a.py", 1000, 0, 800000000},
    {"tiny", "/a.py", 3000000, 0, 200000000},
    {"tiny", "/b.py", 500000, 500000, 60000000},
    {"small", "/a.py", 500000, 0, 100000000},
    {"once", "/a.py", 1, 0, 10},
    {"few", "/a.py", 30000, 0, 30000000},
    {"short", "/a.py", 30000, 0, 0},
    {"region", "<cunei region>", 4000000, 0, 10},
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

/* `floor_ns`: of its ten million events; 0: it is not known. */
static struct cunei_filter_proposal propose_of(double max_overhead, double floor_ns,
                                               uint64_t unwritten_tiny)
{
    struct cunei_function functions[ROW_COUNT];
    struct cunei_analysis_function facts[ROW_COUNT];
    struct cunei_analysis analysis = {
        .functions = {.items = functions, .count = ROW_COUNT},
        .facts = facts,
        .events = 10000000,
        .cost_ns = floor_ns > 0,
        .cost_units = 10000000,
        .overhead = {.floor_ns = floor_ns, .cpu_ns = 1400000000}};
    struct cunei_filter_proposal proposal = {.max_overhead = max_overhead,
                                             .event_cost_ns = 20};

    memset(facts, 0, sizeof(facts));
    for (size_t i = 0; i < ROW_COUNT; i++) {
        functions[i] = (struct cunei_function){
            .module = "app", .qualname = rows[i].qualname, .file = rows[i].file};
        facts[i].calls = rows[i].calls;
        facts[i].resumes = rows[i].resumes;
        facts[i].self_ns = rows[i].self_ns;
    }
    facts[2].calls += unwritten_tiny;
    facts[2].estimate.calls = unwritten_tiny;
    assert_int_equal(cunei_filter_proposal_make(&proposal, &analysis), 0);
    return proposal;
}

static struct cunei_filter_proposal propose(double max_overhead, double floor_ns)
{
    return propose_of(max_overhead, floor_ns, 0);
}

static void the_shortest_calls_go_until_what_is_left_is_cheap_enough(void **state)
{
    (void)state;
    struct cunei_filter_proposal proposal = propose(0.13, 200000000);

    assert_int_equal(proposal.run_ns, 1000000000);
    assert_int_equal(proposal.left_out_count, 1);
    assert_string_equal(proposal.functions[0].qualname, "tiny");
    assert_int_equal(proposal.functions[0].calls, 4000000);
    assert_int_equal(proposal.functions[0].cost_ns, 320000000);
    /* What is left is rarer, and costs more each: 63 ns an event instead of 40. */
    assert_in_range(proposal.saved_ns, 274285000, 274287000);
    assert_float_equal(proposal.all.usual, 0.4, 1e-6);
    assert_float_equal(proposal.left.usual, 0.12571, 1e-4);
    assert_true(proposal.left.least < 0.05 && proposal.left.most > 0.2);
    assert_int_equal(proposal.saved_events, 8000000);
    assert_int_equal(proposal.events, 2 * 4561002); /* the region has none */
    cunei_filter_proposal_fini(&proposal);
}

static void more_goes_where_less_is_allowed(void **state)
{
    (void)state;
    struct cunei_filter_proposal proposal = propose(0.05, 200000000);

    assert_int_equal(proposal.left_out_count, 2);
    assert_string_equal(proposal.functions[1].qualname, "small");
    cunei_filter_proposal_fini(&proposal);
}

static void what_costs_next_to_nothing_is_never_taken(void **state)
{
    (void)state;
    struct cunei_filter_proposal proposal = propose(0.001, 200000000);

    assert_int_equal(proposal.left_out_count, 2);
    assert_true(proposal.cost_ns - proposal.saved_ns > 1000000);
    cunei_filter_proposal_fini(&proposal);
}

static void what_saves_little_goes_if_that_is_enough(void **state)
{
    (void)state;
    struct cunei_filter_proposal without = propose(0.001, 200000000);
    double reached = without.left.usual;
    struct cunei_filter_proposal proposal = propose(reached - 0.0001, 200000000);

    assert_int_equal(without.left_out_count, 2);
    assert_int_equal(proposal.left_out_count, 3);
    assert_string_equal(proposal.functions[2].qualname, "short");
    assert_true(proposal.left.usual < reached - 0.0001);
    cunei_filter_proposal_fini(&without);
    cunei_filter_proposal_fini(&proposal);
}

static void nothing_goes_where_it_is_cheap_already(void **state)
{
    (void)state;
    struct cunei_filter_proposal proposal = propose(0.50, 200000000);

    assert_int_equal(proposal.left_out_count, 0);
    assert_int_equal(proposal.saved_ns, 0);
    cunei_filter_proposal_fini(&proposal);
}

/* Most of it are first calls, which no filter saves. */
static void nothing_goes_where_next_to_nothing_is_saved(void **state)
{
    struct cunei_function function = {
        .module = "__main__", .qualname = "<module>", .file = "<string>"};
    struct cunei_analysis_function facts = {.calls = 1, .self_ns = 100000};
    const struct cunei_analysis analysis = {
        .functions = {.items = &function, .count = 1},
        .facts = &facts,
        .events = 3,
        .cost_ns = 1,
        .cost_units = 123,
        .overhead = {.floor_ns = 30000, .write_ns = 400000, .cpu_ns = 1900000}};
    struct cunei_filter_proposal proposal = {.max_overhead = 0.05};
    (void)state;

    assert_int_equal(cunei_filter_proposal_make(&proposal, &analysis), 0);

    assert_true(proposal.all.usual > 0.05);
    assert_int_equal(proposal.left_out_count, 0);
    assert_int_equal(proposal.saved_ns, 0);
    assert_int_equal(proposal.saved_events, 0);
    cunei_filter_proposal_fini(&proposal);
}

static void a_cost_that_is_not_known_is_assumed(void **state)
{
    (void)state;
    struct cunei_filter_proposal proposal = propose(0.13, 0);

    assert_false(proposal.is_cost_known);
    assert_int_equal(proposal.cost_ns, 400000000);
    assert_int_equal(proposal.left_out_count, 1);
    cunei_filter_proposal_fini(&proposal);
}

static void what_a_budget_left_out_counts_as_if_it_had_been_recorded(void **state)
{
    (void)state;
    struct cunei_filter_proposal proposal = propose_of(0.13, 200000000, 10000000);

    assert_true(proposal.has_budget);
    assert_int_equal(proposal.events, 2 * 14561002);
    /* 600 ms in a loop. */
    assert_in_range(proposal.cost_ns, 857142000, 857143000);
    assert_int_equal(proposal.run_ns, 1000000000);
    assert_int_equal(proposal.left_out_count, 1);
    assert_int_equal(proposal.functions[0].events, 28000000);
    assert_int_equal(proposal.saved_events, 28000000);
    assert_float_equal(proposal.left.usual, 0.12571, 1e-4);
    cunei_filter_proposal_fini(&proposal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_calls_go_until_what_is_left_is_cheap_enough),
        cmocka_unit_test(more_goes_where_less_is_allowed),
        cmocka_unit_test(what_costs_next_to_nothing_is_never_taken),
        cmocka_unit_test(what_saves_little_goes_if_that_is_enough),
        cmocka_unit_test(nothing_goes_where_it_is_cheap_already),
        cmocka_unit_test(nothing_goes_where_next_to_nothing_is_saved),
        cmocka_unit_test(a_cost_that_is_not_known_is_assumed),
        cmocka_unit_test(what_a_budget_left_out_counts_as_if_it_had_been_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
