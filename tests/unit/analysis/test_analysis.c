// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/analyzer.h"
#include "analysis/process_tree.h"
#include "fixture.h"

#define PACKETS 64u
#define CALLS   500u

static struct fixture fixture;
static struct cunei_trace trace;
static struct cunei_analysis analysis;

static int set_up(void **state)
{
    (void)state;
    fixture_init(&fixture);
    analysis = (struct cunei_analysis){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cunei_analysis_fini(&analysis);
    cunei_trace_close(&trace);
    fixture_fini(&fixture);
    return 0;
}

static void write_calls(void)
{
    for (uint64_t i = 0; i < PACKETS; i++)
        fixture_append_calls(&fixture, i, 1000 + i * 10 * CALLS, CALLS);
    fixture_describe(&fixture, true);
}

static int make_survey(const struct cunei_analysis_options *options)
{
    struct cunei_trace_error error = {0};

    assert_int_equal(cunei_trace_open(&trace, fixture.directory, &error), 0);
    return cunei_analyze(&analysis, &trace, options);
}

static void check_calls(uint64_t times)
{
    assert_int_equal(analysis.functions.count, 1);
    assert_string_equal(analysis.functions.items[0].qualname, "f");
    assert_int_equal(analysis.facts[0].calls, times * PACKETS * CALLS);
    assert_int_equal(analysis.facts[0].total_ns, times * PACKETS * CALLS);
    assert_int_equal(analysis.facts[0].max_ns, 1);
    assert_int_equal(analysis.damage_count, 0);
}

static void one_worker_reads_it_all(void **state)
{
    (void)state;
    const struct cunei_analysis_options options = {.worker_count = 1};
    write_calls();

    assert_int_equal(make_survey(&options), 0);

    check_calls(1);
    assert_int_equal(analysis.events, PACKETS * (1 + 2 * CALLS));
    assert_int_equal(analysis.thread_count, 1);
}

static void many_workers_read_the_same(void **state)
{
    (void)state;
    const struct cunei_analysis_options options = {
        .worker_count = 4, .piece_bytes = 1, .tree = true, .edges = true};
    write_calls();

    assert_int_equal(make_survey(&options), 0);

    check_calls(1);
    assert_int_equal(analysis.thread_count, 1);
    assert_int_equal(analysis.unclosed + analysis.appeared + analysis.orphans, 0);
}

static void processes_add_up(void **state)
{
    (void)state;
    const struct cunei_analysis_options options = {.worker_count = 3, .piece_bytes = 1};
    write_calls();
    fixture_add_process(&fixture, 4712);
    write_calls();

    assert_int_equal(make_survey(&options), 0);

    check_calls(2);
    assert_int_equal(analysis.process_count, 2);
    assert_int_equal(analysis.thread_count, 2);
}

static void one_process_can_be_chosen(void **state)
{
    (void)state;
    static const char *const words[] = {"4712"};
    const struct cunei_analysis_options options = {.processes = {words, 1}};
    write_calls();
    fixture_add_process(&fixture, 4712);
    write_calls();

    assert_int_equal(make_survey(&options), 0);

    check_calls(1);
    assert_int_equal(analysis.process_count, 1);
}

static void a_process_that_is_not_there_is_reported(void **state)
{
    (void)state;
    static const char *const words[] = {"1"};
    const struct cunei_analysis_options options = {.processes = {words, 1}};
    write_calls();

    assert_int_equal(make_survey(&options), -ESRCH);
}

static void damage_is_passed_and_reported(void **state)
{
    (void)state;
    static const uint64_t nonsense = UINT64_MAX;
    const struct cunei_analysis_options options = {.worker_count = 1};
    write_calls();
    fixture_packet_begin(&fixture, 0, PACKETS, 100 + PACKETS * 10 * CALLS + 1000);
    fixture_put_words(&fixture, 100 + PACKETS * 10 * CALLS + 1001, &nonsense, 1);
    fixture_append(&fixture);
    fixture_append_calls(&fixture, PACKETS + 1, 100 + PACKETS * 10 * CALLS + 2000, 3);

    assert_int_equal(make_survey(&options), 0);

    assert_int_equal(analysis.damage_count, 1);
    assert_int_equal(analysis.missing_packets, 1);
    assert_int_equal(analysis.facts[0].calls, PACKETS * CALLS + 3);
}

/* The trace of a process that was killed at --max-size may not name that any more. */
static void packets_whose_events_were_counted_were_dropped(void **state)
{
    (void)state;
    const struct cunei_analysis_options options = {.worker_count = 1};
    write_calls();
    uint64_t begin = 100 + PACKETS * 10 * CALLS + 1000;
    fixture_packet_begin(&fixture, 0, PACKETS + 15, begin);
    fixture.packet->events_discarded = 900;
    fixture_put(&fixture, begin, 1024, CUNEI_PHASE_ENTER);
    fixture_put(&fixture, begin + 1, 1024, CUNEI_PHASE_LEAVE);
    fixture_append(&fixture);

    assert_int_equal(make_survey(&options), 0);

    assert_int_equal(analysis.dropped_packets, 15);
    assert_int_equal(analysis.missing_packets, 0);
}

static void a_cost_that_one_process_does_not_know_is_unknown(void **state)
{
    (void)state;
    const struct cunei_analysis_options options = {.worker_count = 1};
    write_calls();

    assert_int_equal(make_survey(&options), 0);
    trace.processes[0].description.event_cost_ps = 1000;
    cunei_analysis_fini(&analysis);
    assert_int_equal(cunei_analyze(&analysis, &trace, &options), 0);
    assert_float_equal(analysis.overhead.floor_ns, analysis.cost_units, 0.5);
    assert_true(analysis.cost_units > (double)analysis.events);
    assert_true(analysis.cost_ns > analysis.events);
    cunei_analysis_fini(&analysis);
    cunei_trace_close(&trace);

    fixture_add_process(&fixture, 4712);
    write_calls();
    assert_int_equal(make_survey(&options), 0);
    trace.processes[0].description.event_cost_ps = 1000;
    trace.processes[1].description.event_cost_ps = 0;
    cunei_analysis_fini(&analysis);
    assert_int_equal(cunei_analyze(&analysis, &trace, &options), 0);

    assert_true(analysis.processes[0].cost_ns > 0);
    assert_int_equal(analysis.cost_ns, 0);
}

/* A packet with a step of a task, an exception and a collection. */
static void write_others(void)
{
    const uint64_t words[] = {
        cunei_record(1010, CUNEI_CLASS_TASK, CUNEI_PHASE_ENTER),
        7,
        UINT64_C(8) << 32,
        0x312d6b736154, /* Task-1 */
        cunei_record(1010, 1024, CUNEI_PHASE_ENTER),
        cunei_record(1020, CUNEI_CLASS_EXCEPTION, CUNEI_PHASE_ENTER),
        UINT64_C(12) << 32 | 1025,
        0,
        UINT64_C(8) << 32,
        0x726f727245, /* Error */
        cunei_record(1030, CUNEI_CLASS_GC, CUNEI_PHASE_ENTER),
        0,
        2,
        cunei_record(1035, CUNEI_CLASS_GC, CUNEI_PHASE_LEAVE),
        4,
        2,
        cunei_record(1040, 1024, CUNEI_PHASE_LEAVE),
    };

    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture_put_words(&fixture, 1040, words, sizeof(words) / sizeof(words[0]));
    fixture_append(&fixture);
    fixture_describe(&fixture, true);
}

static void events_other_than_calls_add_up_over_processes(void **state)
{
    (void)state;
    const struct cunei_analysis_options options = {.worker_count = 1};
    write_others();
    fixture_add_process(&fixture, 4712);
    write_others();

    assert_int_equal(make_survey(&options), 0);

    assert_int_equal(analysis.functions.count, 2); /* g only as what raised */
    assert_int_equal(analysis.task_count, 2);
    assert_string_equal(analysis.tasks[0].name, "Task-1");
    assert_int_equal(analysis.tasks[0].run_ns, 30);
    assert_int_equal(analysis.tasks[1].process, 1);
    assert_int_equal(analysis.exceptions.count, 2);
    assert_int_equal(analysis.exceptions.items[1].count, 2);
    assert_string_equal(
        analysis.functions.items[analysis.exceptions.items[1].slot - 1].qualname, "g");
    assert_int_equal(analysis.collections.count[2], 2);
    assert_int_equal(analysis.collections.pause, 10);
    assert_int_equal(analysis.collections.pause_max, 5);
}

/* As a child that is forked and leaves at once: a stack, and no event of its own. */
static void open_functions_have_names_without_events(void **state)
{
    (void)state;
    const struct cunei_analysis_options options = {.worker_count = 1};
    const uint64_t words[] = {
        cunei_record(1000, CUNEI_CLASS_STACK, CUNEI_PHASE_ENTER),
        UINT64_C(2) << 32,
        UINT64_C(1025) << 32 | 1024,
    };
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture.packet->content_bits = sizeof(struct cunei_packet) * 8; /* another stack */
    fixture_put_words(&fixture, 1000, words, sizeof(words) / sizeof(words[0]));
    fixture_append(&fixture);
    fixture_describe(&fixture, true);

    assert_int_equal(make_survey(&options), 0);

    assert_int_equal(analysis.thread_count, 1);
    assert_int_equal(analysis.threads[0].open_count, 2);
    assert_int_equal(analysis.functions.count, 2);
    assert_string_equal(analysis.functions.items[analysis.threads[0].open[0]].qualname,
                        "f");
    assert_string_equal(analysis.functions.items[analysis.threads[0].open[1]].qualname,
                        "g");
    assert_int_equal(analysis.facts[1].calls, 0);
}

/* Analyze again, after the descriptions were changed. */
static void analyze_again(void)
{
    const struct cunei_analysis_options options = {.worker_count = 1};

    cunei_analysis_fini(&analysis);
    assert_int_equal(cunei_analyze(&analysis, &trace, &options), 0);
}

static void parents_are_found_by_folder_or_by_pid(void **state)
{
    (void)state;
    const struct cunei_analysis_options options = {.worker_count = 1};
    char folder[] = "host-4711-0";
    write_calls();
    for (uint32_t pid = 4712; pid < 4715; pid++) {
        fixture_add_process(&fixture, pid);
        write_calls();
    }
    assert_int_equal(make_survey(&options), 0);

    trace.processes[1].description.parent_folder = folder;
    trace.processes[2].description.parent = 4712;
    trace.processes[3].description.parent = 4715;
    analyze_again();

    assert_int_equal(analysis.processes[0].parent, SIZE_MAX);
    assert_int_equal(analysis.processes[1].parent, 0);
    assert_int_equal(analysis.processes[2].parent, 1);
    assert_int_equal(analysis.processes[3].parent, SIZE_MAX);
    trace.processes[1].description.parent_folder = NULL;
}

static void a_process_that_is_over_has_no_more_children(void **state)
{
    (void)state;
    const struct cunei_analysis_options options = {.worker_count = 1};
    write_calls();
    fixture_add_process(&fixture, 4712);
    write_calls();
    assert_int_equal(make_survey(&options), 0);

    trace.processes[1].description.parent = 4711;
    trace.processes[1].description.start_ns += 3600 * UINT64_C(1000000000);
    trace.processes[1].metadata.offset_s += 3600;
    analyze_again();

    assert_int_equal(analysis.processes[1].parent, SIZE_MAX);
}

static void no_process_ends_before_it_starts(void **state)
{
    (void)state;
    const struct cunei_analysis_options options = {.worker_count = 1};
    write_calls();
    fixture_add_process(&fixture, 4712);
    fixture_describe(&fixture, false); /* killed before its first event */
    assert_int_equal(make_survey(&options), 0);
    uint64_t start_ns = trace.processes[1].description.start_ns;

    assert_true(trace.processes[1].state == CUNEI_TRACE_KILLED);
    assert_int_equal(cunei_process_tree_start_ns(&analysis.processes[1]), start_ns);
    assert_int_equal(cunei_process_tree_end_ns(&analysis.processes[1]), start_ns);
    assert_int_equal(cunei_process_tree_wall_ns(&analysis.processes[1]), 0);

    trace.processes[0].description.end_ns = 0; /* killed after its last event */
    trace.processes[0].description.start_ns += 3600 * UINT64_C(1000000000);
    analyze_again();
    assert_true(cunei_process_tree_start_ns(&analysis.processes[0]) <=
                cunei_process_tree_end_ns(&analysis.processes[0]));
}

static void cpu_times_are_known_up_to_the_last_full_packet(void **state)
{
    (void)state;
    const struct cunei_analysis_options options = {.worker_count = 1};
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture.packet->cpu_end_ns = 40;
    fixture_put(&fixture, 1000, 1024, CUNEI_PHASE_ENTER);
    fixture_put(&fixture, 1100, 1024, CUNEI_PHASE_LEAVE);
    fixture_append(&fixture);
    fixture_append_calls(&fixture, 1, 2000, 10); /* without a CPU time at its end */
    fixture_describe(&fixture, false);

    assert_int_equal(make_survey(&options), 0);

    assert_true(analysis.threads[0].has_cpu && analysis.threads[0].is_cpu_partial);
    assert_int_equal(analysis.threads[0].known_ns, 100);
    assert_int_equal(analysis.threads[0].cpu_ns, 40);
    assert_int_equal(analysis.threads[0].waiting_ns, 60);
    assert_true(analysis.processes[0].is_cpu_partial);
    assert_int_equal(analysis.processes[0].cpu_ns, 40);

    /* The launcher saw the end of the process, not of its threads. */
    trace.processes[0].description.cpu_ns = 70;
    trace.processes[0].description.end_ns = analysis.processes[0].end_ns;
    analyze_again();
    assert_false(analysis.processes[0].is_cpu_partial);
    assert_int_equal(analysis.processes[0].cpu_ns, 70);
    assert_true(analysis.threads[0].is_cpu_partial);
}

struct watch {
    uint64_t last, total;
    unsigned calls;
};

static void watch_progress(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
    struct watch *watch = context;

    assert_true(done_bytes >= watch->last);
    watch->last = done_bytes;
    watch->total = total_bytes;
    watch->calls++;
}

static void progress_reaches_its_end(void **state)
{
    (void)state;
    struct watch watch = {0};
    const struct cunei_analysis_options options = {
        .worker_count = 1, .progress = watch_progress, .progress_context = &watch};
    write_calls();

    assert_int_equal(make_survey(&options), 0);

    assert_int_equal(watch.calls, PACKETS);
    assert_int_equal(watch.last, watch.total);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(one_worker_reads_it_all),
        TEST(many_workers_read_the_same),
        TEST(processes_add_up),
        TEST(one_process_can_be_chosen),
        TEST(a_process_that_is_not_there_is_reported),
        TEST(damage_is_passed_and_reported),
        TEST(packets_whose_events_were_counted_were_dropped),
        TEST(a_cost_that_one_process_does_not_know_is_unknown),
        TEST(events_other_than_calls_add_up_over_processes),
        TEST(open_functions_have_names_without_events),
        TEST(parents_are_found_by_folder_or_by_pid),
        TEST(a_process_that_is_over_has_no_more_children),
        TEST(no_process_ends_before_it_starts),
        TEST(cpu_times_are_known_up_to_the_last_full_packet),
        TEST(progress_reaches_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
