// SPDX-License-Identifier: MIT
/*
 * Packets of threads that ended wait in the live file, share a write, and are never
 * missed: by a reader meanwhile, after a write that failed, or behind a full packet.
 */
#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "rt/recorder.h"
#include "scratch.h"
#include "trace/recovery/recover.h"

#define THREADS_MAX 8192
#define FEW         3
#define MANY        100000 /* events: more than three packets */

static uint64_t counts[THREADS_MAX];

static void *write_few(void *scratch)
{
    for (uint64_t i = 0; i < FEW; i++)
        scratch_put(scratch, i);
    return NULL;
}

static void *write_many(void *scratch)
{
    for (uint64_t i = 0; i < MANY; i++)
        scratch_put(scratch, i);
    return NULL;
}

/* One thread after another, so that they have one slot. */
static void run_threads(struct scratch *scratch, void *(*body)(void *), size_t count)
{
    pthread_t thread;

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pthread_create(&thread, NULL, body, scratch), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
}

static uint64_t count_all(const struct scratch *scratch)
{
    memset(counts, 0, sizeof(counts));
    return scratch_count(scratch, counts, THREADS_MAX);
}

/* The size of the file of stream 0, or 0: there is none. */
static uint64_t file_size(const struct scratch *scratch)
{
    char pattern[128];
    struct stat status;
    glob_t found;

    (void)snprintf(pattern, sizeof(pattern), "%s/*/s0", scratch->directory);
    bool is_there =
        glob(pattern, 0, NULL, &found) == 0 && stat(found.gl_pathv[0], &status) == 0;
    globfree(&found);
    return is_there ? (uint64_t)status.st_size : 0;
}

static void short_threads_share_a_write(void **state)
{
    struct scratch *scratch = *state;

    run_threads(scratch, write_few, 1000);

    assert_int_equal(file_size(scratch), 0);
    assert_int_equal(count_all(scratch), 1000 * FEW);
    run_threads(scratch, write_few, 1000);
    assert_in_range(file_size(scratch), 1, 2 * CUNEI_PACKET_SIZE);
    assert_int_equal(count_all(scratch), 2000 * FEW);
    assert_int_equal(cunei_recorder_stop(), 0);
    assert_int_equal(count_all(scratch), 2000 * FEW);
}

static void a_queue_precedes_the_full_packets_of_the_next_thread(void **state)
{
    struct scratch *scratch = *state;

    for (int i = 0; i < 5; i++) {
        run_threads(scratch, write_few, 10);
        run_threads(scratch, write_many, 1);
    }

    assert_int_equal(count_all(scratch), 5 * (10 * FEW + MANY));
    run_threads(scratch, write_few, 10);
    assert_int_equal(count_all(scratch), 5 * (10 * FEW + MANY) + 10 * FEW);
    assert_int_equal(cunei_recorder_stop(), 0);
    assert_int_equal(count_all(scratch), 5 * (10 * FEW + MANY) + 10 * FEW);
}

/* A thread starts after the one before it has ended, so only the last may be growing.
 */
static void check_that_all_but_the_last_are_whole(void)
{
    size_t last = THREADS_MAX - 1;

    while (last > 0 && counts[last] == 0)
        last--;
    for (size_t i = 1; i < last; i++)
        assert_true(counts[i] == FEW || counts[i] == MANY);
}

static atomic_bool has_ended;

static void *start_threads(void *scratch)
{
    for (int i = 0; i < 50; i++) {
        run_threads(scratch, write_few, 100);
        run_threads(scratch, write_many, i % 10 == 0);
    }
    has_ended = true;
    return NULL;
}

static void a_reader_beside_threads_that_end_misses_nothing(void **state)
{
    struct scratch *scratch = *state;
    uint64_t before = 0, count = 0;
    pthread_t starter;
    has_ended = false;

    assert_int_equal(pthread_create(&starter, NULL, start_threads, scratch), 0);
    for (bool last = false; !last; before = count) {
        last = has_ended;
        count = count_all(scratch);
        assert_true(count >= before);
        check_that_all_but_the_last_are_whole();
    }
    assert_int_equal(pthread_join(starter, NULL), 0);

    assert_int_equal(count, 50 * 100 * FEW + 5 * MANY);
}

static void limit_files(rlim_t size, struct rlimit *before)
{
    assert_int_equal(getrlimit(RLIMIT_FSIZE, before), 0);
    struct rlimit limit = {.rlim_cur = size, .rlim_max = before->rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void recover(const struct scratch *scratch)
{
    const struct cunei_trace_recover_options options = {0};
    struct cunei_trace_recovery recovery;
    struct cunei_trace_error error;
    struct cunei_trace trace;
    char folder[256];

    scratch_open(scratch, &trace);
    (void)snprintf(folder, sizeof(folder), "%s", trace.processes[0].path);
    cunei_trace_close(&trace);
    assert_int_equal(cunei_trace_recover(folder, &options, &recovery, &error), 0);
}

static void a_queue_that_cannot_be_written_is_recovered(void **state)
{
    struct scratch *scratch = *state;
    struct rlimit before;
    run_threads(scratch, write_few, 100);
    limit_files(1000, &before);

    int rc = cunei_recorder_stop();

    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(rc, -EFBIG);
    assert_int_equal(count_all(scratch), 100 * FEW);
    recover(scratch);
    assert_int_equal(count_all(scratch), 100 * FEW);
    assert_true(file_size(scratch) > 0);
}

/* The full packets that could not be written are lost, and what waited before is not.
 */
static void a_queue_outlasts_packets_that_cannot_be_written(void **state)
{
    struct scratch *scratch = *state;
    struct rlimit before;
    run_threads(scratch, write_few, 100);
    limit_files(1000, &before);
    run_threads(scratch, write_many, 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);

    assert_int_equal(cunei_recorder_stop(), 0);

    assert_int_equal(count_all(scratch), 100 * FEW);
    struct cunei_trace trace;
    scratch_open(scratch, &trace);
    assert_int_equal(trace.processes[0].description.lost, MANY);
    cunei_trace_close(&trace);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(short_threads_share_a_write),
        TEST(a_queue_precedes_the_full_packets_of_the_next_thread),
        TEST(a_reader_beside_threads_that_end_misses_nothing),
        TEST(a_queue_that_cannot_be_written_is_recovered),
        TEST(a_queue_outlasts_packets_that_cannot_be_written),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
