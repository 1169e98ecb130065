// SPDX-License-Identifier: MIT
/* Renewals: packets that begin because events were switched off, or on again. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/clock.h"
#include "rt/recorder.h"
#include "scratch.h"

#define THREADS_MAX 16

static unsigned asked; /* how often for the stack */
static bool renews_when_asked;

static size_t ask_for_stack(bool top_is_open, uint32_t *functions, size_t max,
                            size_t *omitted)
{
    (void)top_is_open;
    (void)max;
    functions[0] = CUNEI_FUNCTION_FIRST;
    *omitted = 0;
    asked++;
    if (renews_when_asked) {
        renews_when_asked = false;
        cunei_recorder_renew();
    }
    return 1;
}

static unsigned alarms;

static void count_alarm(void)
{
    alarms++;
}

static int set_up(void **state)
{
    struct scratch *scratch = scratch_new();

    scratch->stack = ask_for_stack;
    scratch->alarmed = count_alarm;
    scratch_start(scratch);
    asked = alarms = 0;
    *state = scratch;
    return 0;
}

/* The packets of the only stream have these flags. */
static void check_flags(const struct scratch *scratch, const uint32_t *flags,
                        size_t count)
{
    struct cunei_trace trace;
    struct cunei_trace_packet packet;
    size_t seen = 0;

    scratch_open(scratch, &trace);
    const struct cunei_trace_process *process = &trace.processes[0];
    struct cunei_trace_reader *reader =
        cunei_trace_reader_open(process, &process->streams[0], 0, UINT64_MAX);
    assert_non_null(reader);
    for (; cunei_trace_reader_next(reader, &packet) > 0; seen++) {
        assert_true(seen < count);
        assert_int_equal(packet.head->flags, flags[seen]);
    }
    assert_int_equal(seen, count);
    cunei_trace_reader_close(reader);
    cunei_trace_close(&trace);
}

static void a_renewal_begins_a_packet_that_says_so(void **state)
{
    static uint64_t counts[THREADS_MAX];
    struct scratch *scratch = *state;
    uint64_t i = 0;

    scratch_put(scratch, i++);
    assert_int_equal(cunei_stream_own->packet->flags, 0);
    cunei_recorder_renew();
    cunei_recorder_renew();
    scratch_put(scratch, i++);
    assert_int_equal(cunei_stream_own->packet->flags, CUNEI_PACKET_RENEWED);
    while (cunei_stream_own->packet->sequence == 1)
        scratch_put(scratch, i++);
    assert_int_equal(cunei_stream_own->packet->flags, 0);
    cunei_recorder_poke();
    scratch_put(scratch, i++);
    assert_int_equal(cunei_stream_own->packet->sequence, 2);
    cunei_recorder_renew();
    scratch_put(scratch, i++);
    assert_int_equal(cunei_recorder_stop(), 0);

    assert_int_equal(scratch_count(scratch, counts, THREADS_MAX), i);
    check_flags(scratch,
                (uint32_t[]){0, CUNEI_PACKET_RENEWED, 0,
                             CUNEI_PACKET_RENEWED | CUNEI_PACKET_LAST},
                4);
}

static void while_it_lasts_each_event_begins_a_packet(void **state)
{
    static uint64_t counts[THREADS_MAX];
    struct scratch *scratch = *state;

    scratch_put(scratch, 0);
    cunei_recorder_keep_renewing();
    for (uint64_t i = 1; i < 4; i++) {
        scratch_put(scratch, i);
        assert_int_equal(cunei_stream_own->packet->sequence, i);
        assert_int_equal(cunei_stream_own->packet->flags, CUNEI_PACKET_RENEWED);
    }
    cunei_recorder_renew();
    for (uint64_t i = 4; i < 8; i++)
        scratch_put(scratch, i);
    assert_int_equal(cunei_stream_own->packet->sequence, 4);
    assert_int_equal(cunei_stream_own->packet->flags, CUNEI_PACKET_RENEWED);
    assert_int_equal(cunei_recorder_stop(), 0);

    assert_int_equal(scratch_count(scratch, counts, THREADS_MAX), 8);
}

/* A thread that waits after each event until it may write the next. */
struct turns {
    const struct scratch *scratch;
    pthread_barrier_t barrier;
    uint64_t sequences[2];
};

static void *write_in_turns(void *argument)
{
    struct turns *turns = argument;

    for (uint64_t i = 0; i < 2; i++) {
        (void)pthread_barrier_wait(&turns->barrier);
        scratch_put(turns->scratch, i);
        turns->sequences[i] = cunei_stream_own->packet->sequence;
        (void)pthread_barrier_wait(&turns->barrier);
    }
    return NULL;
}

static void a_renewal_is_noticed_by_the_next_event_of_another_thread(void **state)
{
    struct turns turns = {.scratch = *state};
    pthread_t writer;

    assert_int_equal(pthread_barrier_init(&turns.barrier, NULL, 2), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_in_turns, &turns), 0);
    (void)pthread_barrier_wait(&turns.barrier);
    (void)pthread_barrier_wait(&turns.barrier);
    cunei_recorder_renew();
    (void)pthread_barrier_wait(&turns.barrier);
    (void)pthread_barrier_wait(&turns.barrier);
    assert_int_equal(pthread_join(writer, NULL), 0);
    (void)pthread_barrier_destroy(&turns.barrier);

    assert_int_equal(turns.sequences[0], 0);
    assert_int_equal(turns.sequences[1], 1);
}

static void a_renewal_while_the_stack_is_asked_for_asks_for_it_anew(void **state)
{
    struct scratch *scratch = *state;

    scratch_put(scratch, 0);
    cunei_recorder_renew();
    renews_when_asked = true;
    scratch_put(scratch, 1);
    scratch_put(scratch, 2);

    assert_int_equal(asked, 3);
    assert_int_equal(cunei_stream_own->packet->sequence, 1);
}

/* An event that cannot act on it has seen it: the next ones do as well, where they are,
 * until it is set anew. */
static void an_alarm_goes_off_until_it_is_set_anew(void **state)
{
    struct scratch *scratch = *state;
    uint64_t i = 0;

    scratch_put(scratch, i++);
    cunei_recorder_set_alarm(cunei_clock_read());
    scratch_put(scratch, i++);
    assert_int_equal(alarms, 1);
    while (alarms < 3)
        scratch_put(scratch, i++);
    assert_int_equal(cunei_stream_own->packet->sequence, 0);
    cunei_recorder_set_alarm(0);
    while (cunei_stream_own->packet->sequence == 0)
        scratch_put(scratch, i++);
    assert_int_equal(alarms, 3);
}

static void another_recording_knows_nothing_of_it(void **state)
{
    struct scratch *scratch = *state;

    scratch_put(scratch, 0);
    cunei_recorder_keep_renewing();
    assert_int_equal(cunei_recorder_stop(), 0);
    scratch_remove(scratch);
    scratch_make(scratch);
    scratch_start(scratch);
    scratch_put(scratch, 0);
    scratch_put(scratch, 1);

    assert_int_equal(cunei_stream_own->packet->sequence, 0);
    assert_int_equal(cunei_stream_own->packet->flags, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, scratch_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_renewal_begins_a_packet_that_says_so),
        TEST(while_it_lasts_each_event_begins_a_packet),
        TEST(a_renewal_is_noticed_by_the_next_event_of_another_thread),
        TEST(a_renewal_while_the_stack_is_asked_for_asks_for_it_anew),
        TEST(an_alarm_goes_off_until_it_is_set_anew),
        TEST(another_recording_knows_nothing_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
