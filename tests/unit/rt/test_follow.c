// SPDX-License-Identifier: MIT
/*
 * Following: threads record, and a reader takes in what is new meanwhile.  It gets each
 * event once, and its sums are those of the trace as it is then.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/analyzer.h"
#include "analysis/follow.h"
#include "rt/clock.h"
#include "rt/recorder.h"
#include "rt/state.h"
#include "same_analysis.h"
#include "scratch.h"
#include "trace/follow/follow.h"
#include "trace/packet/packet_part.h"

#define WRITERS     4
#define EVENTS      200000
#define THREADS_MAX 4096

static uint64_t counts[THREADS_MAX];

static void *write_events(void *argument)
{
    for (uint64_t i = 0; i < EVENTS; i++)
        scratch_put(argument, i);
    return NULL;
}

/* Each thread's events come in order, from number 0, and nothing twice. */
static int count_part(void *context, const struct cunei_trace_part *part)
{
    const struct scratch *scratch = context;

    if (part->head->stream_class != CUNEI_STREAM_EVENTS)
        return 0;
    uint64_t *count = &counts[part->head->thread];
    for (size_t at = 0; at < part->word_count;
         at += cunei_event_words(&part->words[at], part->word_count - at)) {
        uint32_t class = cunei_record_class(part->words[at]);
        if (class == CUNEI_CLASS_STACK)
            continue;
        uint32_t wanted = scratch->first + (uint32_t)(*count % SCRATCH_FUNCTIONS);
        if (class != wanted)
            fail_msg("event %lu of thread %u: got class %u, wanted %u",
                     (unsigned long)*count, part->head->thread, class, wanted);
        ++*count;
    }
    return 0;
}

static struct cunei_trace_follow *follow_trace(const struct scratch *scratch)
{
    struct cunei_trace_follow *follow = NULL;
    struct cunei_trace_error error;

    memset(counts, 0, sizeof(counts));
    int rc = cunei_trace_follow_open(&follow, scratch->directory, NULL, &error);
    if (rc < 0)
        fail_msg("%s (%d)", error.text, rc);
    return follow;
}

static uint64_t total(void)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < THREADS_MAX; i++)
        sum += counts[i];
    return sum;
}

static void no_event_is_missed_or_handed_out_twice(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_trace_follow *follow = follow_trace(scratch);
    pthread_t writers[WRITERS];
    int rc;

    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_events, scratch), 0);
    while (total() < (uint64_t)WRITERS * EVENTS)
        assert_true(cunei_trace_follow_poll(follow, count_part, scratch) > 0);
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(writers[i], NULL), 0);
    assert_int_equal(cunei_recorder_stop(), 0);

    while ((rc = cunei_trace_follow_poll(follow, count_part, scratch)) > 0)
        continue;
    assert_int_equal(rc, 0);
    assert_int_equal(total(), (uint64_t)WRITERS * EVENTS);
    assert_int_equal(cunei_trace_follow_trace(follow)->damage_count, 0);
    assert_int_equal(cunei_trace_follow_missed(follow), 0);
    cunei_trace_follow_close(follow);
}

/* Open functions, as the hook `stack` reports them when a packet begins. */
static _Thread_local uint32_t open[64];
static _Thread_local size_t depth;

static size_t list_open(bool top_is_open, uint32_t *functions, size_t max,
                        size_t *omitted)
{
    (void)top_is_open;
    *omitted = 0;
    size_t count = depth < max ? depth : max;
    for (size_t i = 0; i < count; i++)
        functions[i] = open[depth - 1 - i];
    return count;
}

/* Begin anew, with a ring of so many bytes. */
static void restart_with_ring(struct scratch *scratch, uint64_t size)
{
    assert_int_equal(cunei_recorder_stop(), 0);
    scratch_remove(scratch);
    scratch_make(scratch);
    scratch->keep.size = size;
    scratch->stack = list_open;
    scratch_start(scratch);
}

static void a_ring_is_followed_as_files_are(void **state)
{
    struct scratch *scratch = *state;
    pthread_t writers[WRITERS];

    restart_with_ring(scratch, UINT64_C(64) << 20);
    struct cunei_trace_follow *follow = follow_trace(scratch);
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_events, scratch), 0);
    while (total() < (uint64_t)WRITERS * EVENTS)
        assert_true(cunei_trace_follow_poll(follow, count_part, scratch) > 0);
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(writers[i], NULL), 0);
    assert_int_equal(cunei_recorder_stop(), 0);
    while (cunei_trace_follow_poll(follow, count_part, scratch) > 0)
        continue;

    assert_int_equal(total(), (uint64_t)WRITERS * EVENTS);
    assert_int_equal(cunei_trace_follow_trace(follow)->damage_count, 0);
    assert_int_equal(cunei_trace_follow_missed(follow), 0);
    cunei_trace_follow_close(follow);
}

static void threads_that_come_and_go_hand_their_stream_on(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_trace_follow *follow = follow_trace(scratch);
    pthread_t writer;

    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(pthread_create(&writer, NULL, write_events, scratch), 0);
        assert_true(cunei_trace_follow_poll(follow, count_part, scratch) > 0);
        assert_int_equal(pthread_join(writer, NULL), 0);
        assert_true(cunei_trace_follow_poll(follow, count_part, scratch) > 0);
    }
    assert_int_equal(cunei_recorder_stop(), 0);
    while (cunei_trace_follow_poll(follow, count_part, scratch) > 0)
        continue;

    for (size_t i = 1; i <= 20; i++)
        assert_int_equal(counts[i], EVENTS);
    cunei_trace_follow_close(follow);
}

static void *write_ten(void *argument)
{
    for (uint64_t i = 0; i < 10; i++)
        scratch_put(argument, i);
    return NULL;
}

/* Packets of short threads are in the live file long after they have ended. */
static void packets_that_wait_for_the_file_come_once(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_trace_follow *follow = follow_trace(scratch);
    uint64_t wanted = 0;
    pthread_t thread;

    for (int i = 0; i < 2500; i++) {
        bool is_long = i % 500 == 499;
        assert_int_equal(
            pthread_create(&thread, NULL, is_long ? write_events : write_ten, scratch),
            0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        wanted += is_long ? EVENTS : 10;
        if (i % 30 > 0)
            continue;
        assert_true(cunei_trace_follow_poll(follow, count_part, scratch) > 0);
        assert_int_equal(total(), wanted);
    }
    assert_int_equal(cunei_recorder_stop(), 0);
    while (cunei_trace_follow_poll(follow, count_part, scratch) > 0)
        continue;

    assert_int_equal(total(), wanted);
    assert_int_equal(cunei_trace_follow_trace(follow)->damage_count, 0);
    cunei_trace_follow_close(follow);
}

static void a_writer_that_is_killed_ends_with_its_last_event(void **state)
{
    struct scratch *scratch = *state;
    int ends[2], status = 0;
    char byte = 0;

    assert_int_equal(cunei_recorder_stop(), 0);
    scratch_remove(scratch);
    assert_int_equal(pipe(ends), 0);
    scratch_make(scratch);
    pid_t child = fork();
    if (child == 0) {
        scratch_start(scratch);
        write_events(scratch);
        (void)!write(ends[1], &byte, 1);
        (void)pause();
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    struct scratch *known = scratch;
    known->first = CUNEI_FUNCTION_FIRST;
    struct cunei_trace_follow *follow = follow_trace(known);
    assert_true(cunei_trace_follow_poll(follow, count_part, known) > 0);
    assert_int_equal(total(), EVENTS);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);

    while (cunei_trace_follow_poll(follow, count_part, known) > 0)
        continue;
    assert_int_equal(total(), EVENTS);
    assert_int_equal(cunei_trace_follow_trace(follow)->processes[0].state,
                     CUNEI_TRACE_KILLED);
    cunei_trace_follow_close(follow);
    close(ends[0]);
    close(ends[1]);
}

/* Threads that call functions, and wait for each other at both ends of a round. */
struct round {
    struct scratch *scratch;
    pthread_barrier_t begin, end;
    atomic_bool is_over;
    atomic_uint serial;
};

static void put(uint32_t function, enum cunei_phase phase)
{
    struct cunei_stream *stream = cunei_stream_own;
    uint64_t now = cunei_clock_read();

    if (!cunei_stream_has_room(stream, now, 1))
        stream = cunei_recorder_room(&now, 1, false);
    if (stream)
        cunei_stream_put(stream, now, cunei_record(now, function, phase));
}

static void leave_all(void)
{
    for (; depth > 0; depth--)
        put(open[depth - 1], CUNEI_PHASE_LEAVE);
}

/* Calls, yields and resumptions that nest, at random; the stack stays open. */
static void call_at_random(const struct scratch *scratch, unsigned *seed)
{
    for (unsigned i = 0; i < 20000; i++) {
        bool is_entry = depth == 0 || (depth < 60 && rand_r(seed) % 2 == 0);
        bool is_generator = rand_r(seed) % 8 == 0;
        if (is_entry) {
            uint32_t function = scratch->first + (uint32_t)rand_r(seed) % 17;
            put(function, is_generator ? CUNEI_PHASE_RESUME : CUNEI_PHASE_ENTER);
            open[depth++] = function;
        } else {
            put(open[depth - 1], is_generator ? CUNEI_PHASE_YIELD : CUNEI_PHASE_LEAVE);
            depth--;
        }
    }
}

static void *take_rounds(void *argument)
{
    struct round *round = argument;
    unsigned seed = atomic_fetch_add(&round->serial, 1);

    for (;;) {
        (void)pthread_barrier_wait(&round->begin);
        if (atomic_load(&round->is_over))
            break;
        call_at_random(round->scratch, &seed);
        (void)pthread_barrier_wait(&round->end);
    }
    leave_all();
    return NULL;
}

static const struct cunei_analysis_options wanted = {.tree = true, .edges = true};

static void check_sum(const struct scratch *scratch,
                      struct cunei_analysis_follow *follow)
{
    struct cunei_analysis sum, whole;
    struct cunei_trace trace;

    scratch_open(scratch, &trace);
    assert_int_equal(cunei_analyze(&whole, &trace, &wanted), 0);
    assert_int_equal(cunei_analysis_follow_sum(follow, &sum), 0);
    assert_same_analysis(&sum, &whole, cunei_analysis_follow_is_exact(follow));
    cunei_analysis_fini(&sum);
    cunei_analysis_fini(&whole);
    cunei_trace_close(&trace);
}

static void a_sum_is_that_of_the_trace_as_it_is_then(void **state)
{
    struct scratch *scratch = *state;
    struct round round = {.scratch = scratch};
    struct cunei_analysis_follow *follow = NULL;
    struct cunei_trace_error error;
    pthread_t writers[WRITERS];

    assert_int_equal(cunei_recorder_stop(), 0);
    scratch_remove(scratch);
    scratch_make(scratch);
    scratch->stack = list_open;
    scratch_start(scratch);
    assert_int_equal(
        cunei_analysis_follow_open(&follow, scratch->directory, &wanted, &error), 0);
    (void)pthread_barrier_init(&round.begin, NULL, WRITERS + 1);
    (void)pthread_barrier_init(&round.end, NULL, WRITERS + 1);
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, take_rounds, &round), 0);

    for (unsigned i = 0; i < 10; i++) {
        (void)pthread_barrier_wait(&round.begin);
        for (unsigned j = 0; j < i; j++)
            assert_true(cunei_analysis_follow_poll(follow) > 0); /* at any time */
        (void)pthread_barrier_wait(&round.end);
        while (cunei_analysis_follow_poll(follow) == 2)
            continue;
        check_sum(scratch, follow);
    }
    atomic_store(&round.is_over, true);
    (void)pthread_barrier_wait(&round.begin);
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(writers[i], NULL), 0);
    assert_int_equal(cunei_recorder_stop(), 0);
    while (cunei_analysis_follow_poll(follow) > 0)
        continue;
    check_sum(scratch, follow);
    cunei_analysis_follow_close(follow);
    (void)pthread_barrier_destroy(&round.begin);
    (void)pthread_barrier_destroy(&round.end);
}

static void a_ring_before_the_first_event_is_followed(void **state)
{
    struct scratch *scratch = *state;

    restart_with_ring(scratch, UINT64_C(1) << 20);
    struct cunei_trace_follow *follow = follow_trace(scratch);
    (void)alarm(60); /* a poll that does not end fails the test */
    assert_int_equal(cunei_trace_follow_poll(follow, count_part, scratch), 1);
    (void)alarm(0);
    scratch_put(scratch, 0);
    assert_int_equal(cunei_trace_follow_poll(follow, count_part, scratch), 1);

    assert_int_equal(total(), 1);
    cunei_trace_follow_close(follow);
}

static void what_a_ring_has_overwritten_is_missed_and_the_rest_is_right(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_analysis_follow *follow = NULL;
    struct cunei_analysis sum;
    struct cunei_trace_error error;
    unsigned seed = 7;
    uint64_t calls = 0;

    restart_with_ring(scratch, UINT64_C(1) << 20);
    assert_int_equal(
        cunei_analysis_follow_open(&follow, scratch->directory, &wanted, &error), 0);
    for (unsigned i = 0; i < 100; i++) {
        call_at_random(scratch, &seed);
        /* Now and then too late: a round of the ring has passed. */
        if (i % 20 < 5)
            assert_true(cunei_analysis_follow_poll(follow) > 0);
    }
    leave_all();
    assert_int_equal(cunei_recorder_stop(), 0);
    while (cunei_analysis_follow_poll(follow) > 0)
        continue;

    assert_true(cunei_analysis_follow_missed(follow) > 0);
    assert_int_equal(cunei_analysis_follow_sum(follow, &sum), 0);
    for (uint32_t i = 0; i < sum.functions.count; i++)
        calls += sum.facts[i].calls;
    assert_int_equal(sum.missing_packets, cunei_analysis_follow_missed(follow));
    assert_int_equal(sum.calls, calls);
    assert_true(sum.events > 100000 && sum.events < UINT64_C(100) * 20000);
    assert_int_equal(sum.orphans, 0);
    assert_int_equal(sum.unclosed, 0);
    assert_int_equal(sum.appeared, 0);
    cunei_analysis_fini(&sum);
    cunei_analysis_follow_close(follow);
}

static void functions_may_come_at_any_time(void **state)
{
    const uint32_t many = CUNEI_FUNCTION_CLASS_END - CUNEI_FUNCTION_FIRST + 500;
    struct scratch *scratch = *state;
    struct cunei_analysis_follow *follow = NULL;
    struct cunei_trace_error error;

    assert_int_equal(
        cunei_analysis_follow_open(&follow, scratch->directory, &wanted, &error), 0);
    for (uint32_t i = SCRATCH_FUNCTIONS; i < many; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "f%u", i);
        uint32_t id = scratch_define(name);
        if (id < CUNEI_FUNCTION_CLASS_END) {
            put(id, CUNEI_PHASE_ENTER);
            put(id, CUNEI_PHASE_LEAVE);
        }
        if (i % 1000 == 0) {
            while (cunei_analysis_follow_poll(follow) == 2)
                continue;
            if (i % 5000 == 0)
                check_sum(scratch, follow);
        }
    }
    assert_int_equal(cunei_recorder_stop(), 0);
    while (cunei_analysis_follow_poll(follow) > 0)
        continue;
    check_sum(scratch, follow);
    assert_true(cunei_analysis_follow_trace(follow)->processes[0].function_count >=
                many);
    cunei_analysis_follow_close(follow);
}

static void a_function_has_the_same_index_in_each_sum(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_analysis_follow *follow = NULL;
    struct cunei_analysis first, second;
    struct cunei_trace_error error;

    assert_int_equal(
        cunei_analysis_follow_open(&follow, scratch->directory, &wanted, &error), 0);
    put(scratch->first + 9, CUNEI_PHASE_ENTER);
    assert_int_equal(cunei_analysis_follow_poll(follow), 1);
    assert_int_equal(cunei_analysis_follow_sum(follow, &first), 0);
    put(scratch->first + 3, CUNEI_PHASE_ENTER);
    assert_int_equal(cunei_analysis_follow_poll(follow), 1);
    assert_int_equal(cunei_analysis_follow_sum(follow, &second), 0);

    assert_int_equal(first.functions.count, 1);
    assert_string_equal(first.functions.items[0].qualname, "f9");
    assert_int_equal(second.functions.count, 2);
    assert_string_equal(second.functions.items[0].qualname, "f9");
    assert_string_equal(second.functions.items[1].qualname, "f3");
    assert_int_equal(second.facts[1].calls, 1);
    cunei_analysis_fini(&first);
    cunei_analysis_fini(&second);
    cunei_analysis_follow_close(follow);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(no_event_is_missed_or_handed_out_twice),
        TEST(a_ring_is_followed_as_files_are),
        TEST(a_ring_before_the_first_event_is_followed),
        TEST(what_a_ring_has_overwritten_is_missed_and_the_rest_is_right),
        TEST(threads_that_come_and_go_hand_their_stream_on),
        TEST(packets_that_wait_for_the_file_come_once),
        TEST(a_writer_that_is_killed_ends_with_its_last_event),
        TEST(a_sum_is_that_of_the_trace_as_it_is_then),
        TEST(functions_may_come_at_any_time),
        TEST(a_function_has_the_same_index_in_each_sum),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
