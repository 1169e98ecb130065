// SPDX-License-Identifier: MIT
/*
 * A recording that keeps its last packets in a ring: readers of the running process, of
 * snapshots and of what it leaves see each thread's last events, in order.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/units.h"
#include "rt/clock.h"
#include "rt/recorder.h"
#include "rt/state.h"
#include "scratch.h"
#include "trace/directory/process_folder.h"
#include "trace/recovery/recover.h"
#include "trace/recovery/snapshot.h"
#include "wire/ring.h"

#define WRITERS 3
#define GIB     (1024 * CUNEI_MIB)

static int set_up(void **state)
{
    struct scratch *scratch = scratch_new();

    scratch->keep = (struct cunei_keep){.size = 4 * CUNEI_MIB};
    scratch_start(scratch);
    *state = scratch;
    return 0;
}

/* The path of a file in the folder of the process. */
static const char *path_in_folder(const struct scratch *scratch, const char *name)
{
    static char path[512];

    DIR *folders = opendir(scratch->directory);
    assert_non_null(folders);
    for (struct dirent *entry; (entry = readdir(folders));) {
        if (entry->d_name[0] != '.')
            (void)snprintf(path, sizeof(path), "%s/%s/%s", scratch->directory,
                           entry->d_name, name);
    }
    (void)closedir(folders);
    return path;
}

/* What was read of a trace. */
struct sight {
    uint64_t events;
    uint64_t gaps;  /* packets that are missing between two others of a stream */
    uint64_t begin; /* the first tick of all */
    bool has_begin;
};

/* Of one packet: the number of its first event, mod SCRATCH_FUNCTIONS, and behind it.
 */
static void look_at_packet(const struct scratch *scratch,
                           const struct cunei_trace_packet *packet, uint32_t *next,
                           bool is_known, struct sight *sight)
{
    for (size_t at = 0; at < packet->word_count;
         at += cunei_event_words(&packet->words[at], packet->word_count - at)) {
        uint32_t class = cunei_record_class(packet->words[at]);
        uint64_t time =
            cunei_record_time(packet->words[at], packet->head->timestamp_begin);
        if (class < CUNEI_FUNCTION_FIRST)
            continue;
        uint32_t number = class - scratch->first;
        if (is_known && number != *next)
            fail_msg("got event %u, wanted %u", number, *next);
        *next = (number + 1) % SCRATCH_FUNCTIONS;
        is_known = true;
        sight->events++;
        if (!sight->has_begin || time < sight->begin)
            sight->begin = time;
        sight->has_begin = true;
    }
}

static void look_at_stream(const struct scratch *scratch,
                           const struct cunei_trace_process *process,
                           const struct cunei_trace_stream *stream, struct sight *sight)
{
    struct cunei_trace_reader *reader =
        cunei_trace_reader_open(process, stream, 0, UINT64_MAX);
    struct cunei_trace_packet packet;
    uint64_t sequence = 0;
    uint32_t next = 0, thread = 0;
    int rc;

    assert_non_null(reader);
    while ((rc = cunei_trace_reader_next(reader, &packet)) > 0) {
        bool follows = thread && packet.head->sequence == sequence + 1;
        sight->gaps += thread && !follows;
        look_at_packet(scratch, &packet, &next,
                       follows && thread == packet.head->thread, sight);
        sequence = packet.head->sequence;
        thread = packet.head->thread;
    }
    if (rc < 0)
        fail_msg("%s", cunei_trace_reader_error(reader)->text);
    cunei_trace_reader_close(reader);
}

static void look_at(const struct scratch *scratch, const struct cunei_trace *trace,
                    struct sight *sight)
{
    *sight = (struct sight){0};
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        for (size_t j = 0; j < process->stream_count; j++) {
            if (process->streams[j].stream_class == CUNEI_STREAM_EVENTS)
                look_at_stream(scratch, process, &process->streams[j], sight);
        }
    }
}

struct writing {
    struct scratch *scratch;
    uint64_t count; /* 0: until done */
    atomic_bool done;
};

static void *write_events(void *argument)
{
    struct writing *writing = argument;

    for (uint64_t i = 0;
         writing->count ? i < writing->count : !atomic_load(&writing->done); i++)
        scratch_put(writing->scratch, i);
    return NULL;
}

static void write_in_threads(struct scratch *scratch, uint64_t count)
{
    struct writing writing = {.scratch = scratch, .count = count};
    pthread_t threads[WRITERS];

    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_events, &writing), 0);
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void a_ring_that_is_not_full_holds_everything(void **state)
{
    static uint64_t counts[16];

    write_in_threads(*state, 50000);

    assert_int_equal(scratch_count(*state, counts, 16), WRITERS * 50000);
    assert_int_equal(cunei_recorder_stop(), 0);
    assert_int_equal(scratch_count(*state, counts, 16), WRITERS * 50000);
}

static void a_full_ring_holds_the_last_events_and_knows_since_when(void **state)
{
    struct cunei_trace trace;
    struct sight sight;

    write_in_threads(*state, 1000000);
    assert_int_equal(cunei_recorder_stop(), 0);

    scratch_open(*state, &trace);
    look_at(*state, &trace, &sight);
    assert_in_range(sight.events, 3 * CUNEI_MIB / 8, 4 * CUNEI_MIB / 8);
    assert_int_equal(sight.gaps, 0);
    /* What is complete begins behind the beginning of the oldest packet. */
    assert_true(trace.processes[0].complete_from > 0);
    assert_true(sight.begin <= trace.processes[0].complete_from + SCRATCH_FREQUENCY);
    cunei_trace_close(&trace);
}

static void readers_are_never_wrong_while_threads_write(void **state)
{
    struct writing writing = {.scratch = *state};
    pthread_t threads[WRITERS];
    uint64_t events = 0;

    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_events, &writing), 0);
    for (unsigned i = 0; i < 20 || events == 0; i++) {
        struct cunei_trace trace;
        struct sight sight;
        scratch_open(*state, &trace);
        look_at(*state, &trace, &sight);
        events += sight.events;
        assert_int_equal(sight.gaps, 0);
        cunei_trace_close(&trace);
    }
    atomic_store(&writing.done, true);
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* A snapshot of the scratch in a scratch of its own. */
static void snapshot(const struct scratch *scratch, struct scratch *copy,
                     uint64_t last_ns, struct cunei_snapshot *result)
{
    struct cunei_clock_pair now = cunei_clock_pair();
    const struct cunei_snapshot_options options = {
        .counter = now.tick, .wall_ns = now.wall_ns, .last_ns = last_ns};
    struct cunei_trace_error error;

    scratch_make(copy);
    copy->first = scratch->first;
    int fd = open(copy->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    int rc = cunei_trace_snapshot(scratch->directory, fd, &options, result, &error);
    close(fd);
    if (rc < 0)
        fail_msg("%s (%d)", error.text, rc);
}

static void a_snapshot_holds_what_was_written_before_it_and_nothing_later(void **state)
{
    struct scratch *scratch = *state, copy;
    struct cunei_snapshot result;
    struct cunei_trace trace;
    struct sight sight;

    for (uint64_t i = 0; i < 100000; i++)
        scratch_put(scratch, i);
    snapshot(scratch, &copy, 0, &result);
    for (uint64_t i = 100000; i < 200000; i++)
        scratch_put(scratch, i);

    scratch_open(&copy, &trace);
    look_at(scratch, &trace, &sight);
    assert_int_equal(sight.events, 100000);
    assert_int_equal(trace.processes[0].state, CUNEI_TRACE_SNAPSHOT);
    assert_false(trace.processes[0].has_live);
    assert_int_equal(result.running, 1);
    assert_int_equal(result.complete_ns, 0);
    cunei_trace_close(&trace);
    scratch_remove(&copy);
}

static void snapshots_of_writing_threads_are_whole_traces(void **state)
{
    struct writing writing = {.scratch = *state};
    pthread_t threads[WRITERS];

    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_events, &writing), 0);
    for (unsigned i = 0; i < 5; i++) {
        struct scratch copy;
        struct cunei_snapshot result;
        struct cunei_trace trace;
        struct sight sight;
        snapshot(*state, &copy, i % 2 ? CUNEI_NS_PER_MS : 0, &result);
        scratch_open(&copy, &trace);
        look_at(*state, &trace, &sight);
        assert_int_equal(result.damaged, 0);
        assert_int_equal(sight.gaps, 0);
        cunei_trace_close(&trace);
        scratch_remove(&copy);
    }
    atomic_store(&writing.done, true);
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* In a child: write so many events, and die. */
static void die_writing(const struct scratch *scratch, uint64_t count)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct scratch own = *scratch;
        scratch_start(&own);
        for (uint64_t i = 0; i < count; i++)
            scratch_put(&own, i);
        (void)kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int set_up_dead(void **state)
{
    struct scratch *scratch = scratch_new();

    scratch->keep = (struct cunei_keep){.size = 4 * CUNEI_MIB};
    scratch->first = CUNEI_FUNCTION_FIRST;
    die_writing(scratch, 700001);
    *state = scratch;
    return 0;
}

static struct cunei_trace_recovery recover(const struct scratch *scratch)
{
    const struct cunei_trace_recover_options options = {0};
    struct cunei_trace_recovery recovery;
    struct cunei_trace_error error;
    char folder[512];

    (void)snprintf(folder, sizeof(folder), "%s", path_in_folder(scratch, ""));
    folder[strlen(folder) - 1] = '\0';
    if (cunei_trace_recover(folder, &options, &recovery, &error) < 0)
        fail_msg("%s", error.text);
    return recovery;
}

static struct sight open_and_look(const struct scratch *scratch)
{
    struct cunei_trace trace;
    struct sight sight;

    scratch_open(scratch, &trace);
    look_at(scratch, &trace, &sight);
    cunei_trace_close(&trace);
    return sight;
}

static void recovery_makes_files_of_a_dead_process_s_ring(void **state)
{
    struct sight before = open_and_look(*state);
    struct cunei_trace_recovery recovery = recover(*state);
    struct sight after = open_and_look(*state);

    assert_int_equal(recovery.outcome, CUNEI_RECOVER_DONE);
    assert_int_equal(before.events, after.events);
    assert_int_equal(before.gaps + after.gaps, 0);
    assert_true(before.events > 3 * CUNEI_MIB / 8);
    assert_int_equal(access(path_in_folder(*state, CUNEI_RING_NAME), F_OK), -1);
    assert_int_equal(access(path_in_folder(*state, CUNEI_LIVE_NAME), F_OK), -1);
    assert_int_equal(recover(*state).outcome, CUNEI_RECOVER_NOTHING);
}

static void a_file_of_an_interrupted_recovery_is_not_read(void **state)
{
    struct sight before = open_and_look(*state);

    FILE *file = fopen(path_in_folder(*state, "s0"), "we");
    assert_non_null(file);
    assert_int_equal(fputs("half a packet", file) < 0, 0);
    assert_int_equal(fclose(file), 0);
    struct sight beside = open_and_look(*state);
    (void)recover(*state);
    struct sight after = open_and_look(*state);

    assert_int_equal(before.events, beside.events);
    assert_int_equal(before.events, after.events);
}

static void a_ring_in_memory_goes_with_its_trace(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_trace trace;
    char path[256];

    (void)cunei_recorder_stop();
    scratch_remove(scratch);
    scratch_make(scratch);
    scratch->keep = (struct cunei_keep){.size = CUNEI_MIB, .in_memory = true};
    scratch_start(scratch);
    scratch_put(scratch, 0);
    scratch_open(scratch, &trace);
    assert_true(trace.processes[0].has_ring);
    cunei_trace_close(&trace);
    FILE *file = fopen(path_in_folder(scratch, CUNEI_RING_NAME), "re");
    assert_non_null(file);
    while (fgets(path, sizeof(path), file))
        continue;
    (void)fclose(file);
    path[strcspn(path, "\n")] = '\0';
    assert_int_equal(access(path + strlen("path "), F_OK), 0);
    assert_int_equal(cunei_recorder_stop(), 0);
    assert_int_equal(recover(scratch).outcome, CUNEI_RECOVER_DONE);

    assert_int_equal(access(path + strlen("path "), F_OK), -1);
    assert_int_equal(open_and_look(scratch).events, 1);
}

static void a_ring_for_which_there_is_no_room_leaves_nothing_behind(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_process process = {0};
    struct stat status;

    (void)cunei_recorder_stop();
    scratch_remove(scratch);
    scratch_make(scratch);
    const struct cunei_recorder_options options = {
        .directory = scratch->directory,
        .frequency = SCRATCH_FREQUENCY,
        .keep = {.size = CUNEI_RING_SIZE_MAX, .in_memory = true},
    };
    int rc = cunei_recorder_start(&options, &process);
    cunei_process_fini(&process);

    assert_true(rc < 0);
    assert_int_equal(stat(scratch->directory, &status), 0);
    assert_int_equal(status.st_nlink, 2); /* no folder in it */
}

/* Bytes that this process has read so far. */
static uint64_t count_read(void)
{
    static const char name[] = "rchar: ";
    char line[64] = "";

    FILE *file = fopen("/proc/self/io", "re");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    (void)fclose(file);
    assert_memory_equal(line, name, strlen(name));
    return strtoull(line + strlen(name), NULL, 10);
}

/* Make the ring one of 16 GiB, all of it holes, that claims to be full of packets. */
static void claim_holes(int fd)
{
    const uint64_t count = 16 * GIB / CUNEI_RING_BLOCK_SIZE;
    static struct cunei_ring_block packet[CUNEI_RING_PACKET_BLOCKS];
    struct cunei_ring head;

    assert_int_equal(pread(fd, &head, sizeof(head), 0), sizeof(head));
    head.block_count = count;
    head.next = count;
    head.data_offset = cunei_ring_data_offset(count);
    assert_int_equal(pwrite(fd, &head, sizeof(head), 0), sizeof(head));
    assert_int_equal(ftruncate(fd, (off_t)head.data_offset), 0);
    for (uint64_t i = 0; i < count; i += CUNEI_RING_PACKET_BLOCKS) {
        off_t at = (off_t)(CUNEI_RING_BLOCK_SIZE + i * sizeof(packet[0]));
        for (size_t j = 0; j < CUNEI_RING_PACKET_BLOCKS; j++)
            packet[j] = (struct cunei_ring_block){cunei_ring_claim(i, CUNEI_RING_WHOLE),
                                                  UINT64_C(1) << 40};
        assert_int_equal(pwrite(fd, packet, sizeof(packet), at), sizeof(packet));
    }
    assert_int_equal(
        ftruncate(fd, (off_t)(head.data_offset + count * CUNEI_RING_BLOCK_SIZE)), 0);
}

static void holes_in_a_ring_are_not_read(void **state)
{
    int fd = open(path_in_folder(*state, CUNEI_RING_NAME), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    claim_holes(fd);
    if (lseek(fd, CUNEI_RING_BLOCK_SIZE, SEEK_HOLE) < 0)
        skip(); /* the file system does not know them */
    close(fd);
    uint64_t before = count_read();

    (void)open_and_look(*state);

    assert_true(count_read() - before < GIB);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, scratch_tear_down)
#define DEAD(name) cmocka_unit_test_setup_teardown(name, set_up_dead, scratch_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_ring_that_is_not_full_holds_everything),
        TEST(a_full_ring_holds_the_last_events_and_knows_since_when),
        TEST(readers_are_never_wrong_while_threads_write),
        TEST(a_snapshot_holds_what_was_written_before_it_and_nothing_later),
        TEST(snapshots_of_writing_threads_are_whole_traces),
        TEST(a_ring_in_memory_goes_with_its_trace),
        TEST(a_ring_for_which_there_is_no_room_leaves_nothing_behind),
        DEAD(recovery_makes_files_of_a_dead_process_s_ring),
        DEAD(a_file_of_an_interrupted_recovery_is_not_read),
        DEAD(holes_in_a_ring_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
