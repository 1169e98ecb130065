// SPDX-License-Identifier: MIT
/* No space: what cannot be written is counted, exactly, and the rest is whole. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rt/recorder.h"
#include "rt/space.h"
#include "scratch.h"
#include "trace/recovery/recover.h"
#include "wire/event.h"

#define EVENTS      200000
#define THREADS_MAX 16
#define OTHER_USER  65534

static int set_up(void **state)
{
    *state = scratch_new();
    return 0;
}

static void limit_files(rlim_t size)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int tear_down(void **state)
{
    limit_files(RLIM_INFINITY);
    return scratch_tear_down(state);
}

/* A folder of a process in the directory. */
static struct cunei_folder make_folder(const struct scratch *scratch)
{
    const struct cunei_file_id any = {0};
    struct cunei_folder folder;

    assert_int_equal(cunei_folder_open(&folder, scratch->directory, &any), 0);
    return folder;
}

static void all_processes_of_a_trace_share_its_limit(void **state)
{
    struct cunei_space first, second;
    struct cunei_folder folder = make_folder(*state), other = make_folder(*state);

    cunei_space_open(&first, &folder, 100);
    cunei_space_open(&second, &other, 100);

    assert_int_equal(cunei_space_take(&first, &folder, 60), 0);
    assert_int_equal(cunei_space_take(&second, &other, 40), 0);
    assert_int_equal(cunei_space_take(&first, &folder, 1), -E2BIG);
    assert_int_equal(cunei_space_take(&second, &other, 1), -E2BIG);
    cunei_space_close(&first);
    cunei_space_close(&second);
    cunei_folder_close(&folder);
    cunei_folder_close(&other);
}

/* Make the counter as another user's. */
static void make_foreign_counter(const struct scratch *scratch)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", scratch->directory, CUNEI_SPACE_NAME);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fchown(fd, OTHER_USER, OTHER_USER), 0);
    close(fd);
}

/* Its owner could cut it short under our mapping, which would be fatal. */
static void a_counter_of_another_user_is_not_mapped(void **state)
{
    struct cunei_folder folder = make_folder(*state);
    struct cunei_space space;

    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    make_foreign_counter(*state);

    cunei_space_open(&space, &folder, 100);

    assert_null(space.mapped);
    assert_ptr_equal(space.used, &space.own);
    cunei_space_close(&space);
    cunei_folder_close(&folder);
}

/* As vfat does, for example: our folder has that owner as well. */
static void a_file_system_may_give_all_files_to_one_user(void **state)
{
    struct cunei_folder folder = make_folder(*state);
    struct cunei_space space;

    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    make_foreign_counter(*state);
    folder.owner = OTHER_USER;

    cunei_space_open(&space, &folder, 100);

    assert_non_null(space.mapped);
    cunei_space_close(&space);
    cunei_folder_close(&folder);
}

static void without_a_limit_nothing_is_left_in_the_directory(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_space space;
    char path[128];
    struct cunei_folder folder = make_folder(scratch);

    cunei_space_open(&space, &folder, 0);
    assert_int_equal(cunei_space_take(&space, &folder, UINT64_C(1) << 40), 0);
    cunei_space_close(&space);
    cunei_folder_close(&folder);

    (void)snprintf(path, sizeof(path), "%s/%s", scratch->directory, CUNEI_SPACE_NAME);
    assert_int_equal(access(path, F_OK), -1);
}

static void put_events(struct scratch *scratch, uint64_t from)
{
    for (uint64_t i = from; i < EVENTS; i++)
        scratch_put(scratch, i);
}

/* Open the trace and hand out what its only process says of itself. */
static const struct cunei_process *describe(const struct scratch *scratch,
                                            struct cunei_trace *trace)
{
    scratch_open(scratch, trace);
    assert_int_equal(trace->process_count, 1);
    return &trace->processes[0].description;
}

static uint64_t size_of_stream(const struct cunei_trace *trace)
{
    struct stat status;

    assert_int_equal(stat(trace->processes[0].streams[0].path, &status), 0);
    return (uint64_t)status.st_size;
}

static void beyond_max_size_events_are_counted_and_not_written(void **state)
{
    static uint64_t counts[THREADS_MAX];
    struct scratch *scratch = *state;
    struct cunei_trace trace;

    scratch->max_bytes = 600000;
    scratch_start(scratch);
    put_events(scratch, 0);
    assert_int_equal(cunei_recorder_stop(), 0);

    uint64_t count = scratch_count(scratch, counts, THREADS_MAX);
    const struct cunei_process *process = describe(scratch, &trace);
    assert_true(count > 60000);
    assert_int_equal(count + process->lost, EVENTS);
    assert_int_equal(process->lost_no_space, process->lost);
    assert_true(process->full);
    assert_int_equal(process->stop_errno, 0);
    assert_int_equal(trace.processes[0].state, CUNEI_TRACE_ENDED);
    assert_in_range(size_of_stream(&trace), 1, 600000);
    cunei_trace_close(&trace);
}

/* The number that any CTF reader shows. */
static uint64_t last_discarded(const struct cunei_trace *trace)
{
    const struct cunei_trace_process *process = &trace->processes[0];
    struct cunei_trace_packet packet;
    uint64_t discarded = 0;

    struct cunei_trace_reader *reader =
        cunei_trace_reader_open(process, &process->streams[0], 0, UINT64_MAX);
    assert_non_null(reader);
    while (cunei_trace_reader_next(reader, &packet) > 0)
        discarded = packet.head->events_discarded;
    cunei_trace_reader_close(reader);
    return discarded;
}

static void the_stream_itself_says_how_much_was_lost(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_trace trace;

    scratch->max_bytes = 300000;
    scratch_start(scratch);
    put_events(scratch, 0);
    assert_int_equal(cunei_recorder_stop(), 0);

    const struct cunei_process *process = describe(scratch, &trace);
    assert_int_equal(last_discarded(&trace), process->lost);
    cunei_trace_close(&trace);
}

static void *put_events_of_thread(void *argument)
{
    put_events(argument, 0);
    return NULL;
}

static void losses_of_threads_that_have_ended_are_reported_as_well(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_trace trace;
    pthread_t thread;

    scratch->max_bytes = 300000;
    scratch_start(scratch);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&thread, NULL, put_events_of_thread, scratch),
                         0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    assert_int_equal(cunei_recorder_stop(), 0);

    const struct cunei_process *process = describe(scratch, &trace);
    assert_int_equal(trace.processes[0].stream_count, 1);
    assert_int_equal(last_discarded(&trace), process->lost);
    cunei_trace_close(&trace);
}

static void a_limit_of_file_sizes_stops_recording_without_a_signal(void **state)
{
    static uint64_t counts[THREADS_MAX];
    struct scratch *scratch = *state;
    struct cunei_trace trace;

    scratch_start(scratch);
    scratch_put(scratch, 0); /* makes its place in the live file, which is larger */
    limit_files(700000);
    put_events(scratch, 1);
    (void)cunei_recorder_stop();
    limit_files(RLIM_INFINITY);

    uint64_t count = scratch_count(scratch, counts, THREADS_MAX);
    const struct cunei_process *process = describe(scratch, &trace);
    assert_int_equal(count + process->lost, EVENTS);
    assert_true(process->full);
    assert_int_equal(process->stop_errno, EFBIG);
    assert_int_equal(trace.processes[0].state, CUNEI_TRACE_ENDED);
    cunei_trace_close(&trace);
}

/* Not a byte can be written any more: the live file, made before, knows all. */
static void what_cannot_be_written_at_all_is_in_the_live_file(void **state)
{
    static uint64_t counts[THREADS_MAX];
    const struct cunei_trace_recover_options options = {0};
    struct cunei_trace_recovery recovery;
    struct cunei_trace_error error;
    struct scratch *scratch = *state;
    struct cunei_trace trace;

    scratch_start(scratch);
    scratch_put(scratch, 0);
    limit_files(0);
    put_events(scratch, 1);
    assert_int_equal(cunei_recorder_stop(), -EFBIG);
    const struct cunei_process *process = describe(scratch, &trace);
    uint64_t lost = process->lost;
    assert_true(process->full);
    assert_int_equal(trace.processes[0].state, CUNEI_TRACE_ENDED);
    int rc = cunei_trace_recover(trace.processes[0].path, &options, &recovery, &error);
    assert_int_equal(rc, -EFBIG);
    limit_files(RLIM_INFINITY);
    rc = cunei_trace_recover(trace.processes[0].path, &options, &recovery, &error);
    assert_int_equal(rc, 0);
    cunei_trace_close(&trace);

    assert_int_equal(scratch_count(scratch, counts, THREADS_MAX) + lost, EVENTS);
    process = describe(scratch, &trace);
    assert_int_equal(process->lost, lost);
    assert_true(process->full);
    assert_int_equal(trace.processes[0].state, CUNEI_TRACE_ENDED);
    cunei_trace_close(&trace);
}

static void definitions_that_found_no_space_are_written_later(void **state)
{
    enum {
        CLASSES = 20000,
        LONG = 4000
    };
    struct scratch *scratch = *state;
    struct cunei_trace trace;
    static char name[LONG + 1];
    uint32_t id = 0, defined = SCRATCH_FUNCTIONS;

    scratch_start(scratch);
    for (; defined < CLASSES + 1; defined++) {
        (void)snprintf(name, sizeof(name), "g%u", defined);
        assert_int_not_equal(scratch_define(name), 0);
    }
    /* Long names until their packet is full and cannot be written, then short ones. */
    limit_files(1);
    memset(name, 'x', LONG);
    do {
        (void)snprintf(name + LONG - 10, 11, "%010u", defined++);
        id = scratch_define(name);
    } while (id);
    assert_int_not_equal(scratch_define("h"), 0);
    limit_files(RLIM_INFINITY);
    assert_int_not_equal(scratch_define(name), 0);
    assert_int_equal(cunei_recorder_stop(), 0);

    scratch_open(scratch, &trace);
    assert_int_equal(trace.processes[0].function_count, defined + 1);
    assert_int_equal(trace.processes[0].dense_count, defined + 1);
    cunei_trace_close(&trace);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(all_processes_of_a_trace_share_its_limit),
        TEST(a_counter_of_another_user_is_not_mapped),
        TEST(a_file_system_may_give_all_files_to_one_user),
        TEST(without_a_limit_nothing_is_left_in_the_directory),
        TEST(beyond_max_size_events_are_counted_and_not_written),
        TEST(the_stream_itself_says_how_much_was_lost),
        TEST(losses_of_threads_that_have_ended_are_reported_as_well),
        TEST(a_limit_of_file_sizes_stops_recording_without_a_signal),
        TEST(what_cannot_be_written_at_all_is_in_the_live_file),
        TEST(definitions_that_found_no_space_are_written_later),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
