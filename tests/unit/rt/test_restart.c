// SPDX-License-Identifier: MIT
/*
 * Recordings that end and begin while threads are at work, as under an interpreter
 * without a GIL: whoever ends one has stopped the other threads, each of them at a
 * point where it may be stopped.  Such points are where the interpreter is called, so
 * also in the hooks of the recorder.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "rt/clock.h"
#include "rt/recorder.h"
#include "scratch.h"

#define WRITERS     3
#define RECORDINGS  40
#define THREADS_MAX 4096

/* Held for reading by a thread that runs, for writing by the thread that has stopped
 * them all. */
static pthread_rwlock_t world = PTHREAD_RWLOCK_INITIALIZER;

static void stop_point(void)
{
    (void)pthread_rwlock_unlock(&world);
    (void)sched_yield();
    (void)pthread_rwlock_rdlock(&world);
}

/* What the hook `stack` does besides; NULL: nothing. */
static void (*when_asked)(void);

static size_t ask_for_stack(bool top_is_open, uint32_t *functions, size_t max,
                            size_t *omitted)
{
    (void)top_is_open;
    (void)max;
    if (when_asked)
        when_asked();
    functions[0] = functions[1] = CUNEI_FUNCTION_FIRST;
    *omitted = 0;
    return 2;
}

static void ask_for_name(char name[CUNEI_PACKET_THREAD_NAME])
{
    if (when_asked)
        when_asked();
    memcpy(name, "writer", sizeof("writer"));
}

static void start(struct scratch *scratch)
{
    scratch_make(scratch);
    scratch->stack = ask_for_stack;
    scratch->name = ask_for_name;
    scratch_start(scratch);
}

static uint64_t count_and_remove(struct scratch *scratch)
{
    static uint64_t counts[THREADS_MAX];
    uint64_t count = scratch_count(scratch, counts, THREADS_MAX);

    scratch_remove(scratch);
    return count;
}

static bool has_room(void)
{
    uint64_t now = cunei_clock_read();
    return cunei_recorder_room(&now, 0, false) != NULL;
}

static struct scratch *begun;

static void end_and_begin(void)
{
    when_asked = NULL;
    assert_int_equal(cunei_recorder_stop(), 0);
    start(begun);
}

static void *end_and_begin_there(void *unused)
{
    end_and_begin();
    return unused;
}

static void an_event_of_a_recording_that_ended_goes_into_no_other(void **state)
{
    struct scratch first, second;
    pthread_t other;
    (void)state;

    begun = &second;
    start(&first);
    scratch_put(&first, 0);
    uint32_t before = cunei_recorder_begin_event();
    assert_int_equal(pthread_create(&other, NULL, end_and_begin_there, NULL), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_false(has_room());
    assert_int_equal(scratch_define("late"), 0);
    cunei_recorder_lose(CUNEI_LIVE_LOST_NO_FUNCTION);
    cunei_recorder_end_event(before);
    scratch_put(&second, 0);
    assert_int_equal(cunei_recorder_stop(), 0);

    assert_int_equal(count_and_remove(&first), 1);
    assert_int_equal(count_and_remove(&second), 1);
}

/* Its stack was asked for in the recording before, whose ids are not those of this. */
static void a_packet_is_not_begun_in_another_recording(void **state)
{
    struct scratch first, second;
    (void)state;

    begun = &second;
    start(&first);
    when_asked = end_and_begin;
    assert_false(has_room());
    scratch_put(&second, 0);
    assert_int_equal(cunei_recorder_stop(), 0);

    assert_int_equal(count_and_remove(&first), 0);
    assert_int_equal(count_and_remove(&second), 1);
}

static struct scratch *asked_in;
static uint64_t next_number;

static void put_next(void)
{
    scratch_put(asked_in, next_number++);
}

static void put_three(void)
{
    when_asked = NULL;
    for (int i = 0; i < 3; i++)
        put_next();
}

static void put_into_a_new_packet(void)
{
    cunei_recorder_renew();
    put_three();
}

/*
 * As a collection of garbage does that begins where the stack or the name is asked for.
 * The event in hand has read its clock by then, and is after those all the same.
 */
static void events_while_a_packet_begins_come_before_it(void **state)
{
    static void (*const cases[])(void) = {put_three, put_into_a_new_packet};
    struct scratch scratch;
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        asked_in = &scratch;
        next_number = 0;
        start(&scratch);
        for (int k = 0; k < 2; k++) { /* the first also asks for the name */
            uint64_t now = cunei_clock_read();
            when_asked = cases[i];
            cunei_recorder_renew();
            struct cunei_stream *stream = cunei_recorder_room(&now, 1, false);
            assert_non_null(stream);
            assert_null(when_asked);
            assert_true(now >= stream->last);
            put_next();
        }
        assert_int_equal(cunei_recorder_stop(), 0);

        assert_int_equal(count_and_remove(&scratch), 8);
    }
}

/* A thread that writes into whichever recording is on. */
struct writer {
    pthread_t thread;
    struct scratch *scratch; /* of the recording that is on */
    uint64_t written;        /* in it */
    atomic_bool *done;
};

static void *write_on(void *argument)
{
    struct writer *writer = argument;

    (void)pthread_rwlock_rdlock(&world);
    while (!atomic_load_explicit(writer->done, memory_order_relaxed)) {
        /* In the middle of an event, the recording may end. */
        uint32_t before = cunei_recorder_begin_event();
        uint64_t number = writer->written++;
        scratch_put(writer->scratch, number);
        cunei_recorder_end_event(before);
        if (number % 64 == 63)
            stop_point();
    }
    (void)pthread_rwlock_unlock(&world);
    return NULL;
}

/*
 * Events that were in hand when their recording ended are in none: of each thread, at
 * most one is missing, and it is the last.  The reader checks that none is before it.
 */
static void threads_write_while_recordings_end_and_begin(void **state)
{
    static struct scratch scratches[RECORDINGS];
    struct writer writers[WRITERS];
    atomic_bool done = false;
    (void)state;

    when_asked = stop_point;
    start(&scratches[0]);
    for (size_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.scratch = &scratches[0], .done = &done};
        assert_int_equal(
            pthread_create(&writers[i].thread, NULL, write_on, &writers[i]), 0);
    }
    for (size_t round = 0; round < RECORDINGS; round++) {
        uint64_t written = 0;
        (void)pthread_rwlock_wrlock(&world);
        while (round % 4 == 0 && writers[0].written < 100000) {
            (void)pthread_rwlock_unlock(&world);
            (void)sched_yield();
            (void)pthread_rwlock_wrlock(&world);
        }
        assert_int_equal(cunei_recorder_stop(), 0);
        if (round + 1 < RECORDINGS)
            start(&scratches[round + 1]);
        else
            atomic_store(&done, true);
        for (size_t i = 0; i < WRITERS; i++) {
            written += writers[i].written;
            writers[i].written = 0;
            writers[i].scratch = &scratches[(round + 1) % RECORDINGS];
        }
        (void)pthread_rwlock_unlock(&world);
        uint64_t count = count_and_remove(&scratches[round]);
        assert_in_range(count, written - (written < WRITERS ? written : WRITERS),
                        written);
    }
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
}

/* These threads end by themselves. */
static void *write_and_end(void *argument)
{
    struct writer *writer = argument;

    (void)pthread_rwlock_rdlock(&world);
    scratch_put(writer->scratch, 0);
    (void)pthread_rwlock_unlock(&world);
    return NULL;
}

static void threads_end_while_recordings_end_and_begin(void **state)
{
    struct scratch scratch;
    struct writer writers[8];
    (void)state;

    when_asked = NULL;
    for (size_t round = 0; round < RECORDINGS; round++) {
        start(&scratch);
        for (size_t i = 0; i < 8; i++) {
            writers[i] = (struct writer){.scratch = &scratch};
            assert_int_equal(
                pthread_create(&writers[i].thread, NULL, write_and_end, &writers[i]),
                0);
        }
        (void)pthread_rwlock_wrlock(&world);
        assert_int_equal(cunei_recorder_stop(), 0);
        (void)pthread_rwlock_unlock(&world);
        for (size_t i = 0; i < 8; i++)
            assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
        assert_in_range(count_and_remove(&scratch), 0, 8);
    }
}

/* Forks and pokes need no thread to be stopped. */
static void threads_write_while_others_fork_and_poke(void **state)
{
    struct scratch scratch;
    struct writer writers[WRITERS];
    atomic_bool done = false;
    uint64_t written = 0;
    int status = 0;
    (void)state;

    when_asked = NULL;
    start(&scratch);
    for (size_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.scratch = &scratch, .done = &done};
        assert_int_equal(
            pthread_create(&writers[i].thread, NULL, write_on, &writers[i]), 0);
    }
    for (size_t round = 0; round < RECORDINGS; round++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(cunei_recorder_is_on() || has_room());
        cunei_recorder_poke();
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
    atomic_store(&done, true);
    for (size_t i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
        written += writers[i].written;
    }
    assert_int_equal(cunei_recorder_stop(), 0);

    assert_int_equal(count_and_remove(&scratch), written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_of_a_recording_that_ended_goes_into_no_other),
        cmocka_unit_test(a_packet_is_not_begun_in_another_recording),
        cmocka_unit_test(events_while_a_packet_begins_come_before_it),
        cmocka_unit_test(threads_write_while_recordings_end_and_begin),
        cmocka_unit_test(threads_end_while_recordings_end_and_begin),
        cmocka_unit_test(threads_write_while_others_fork_and_poke),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
