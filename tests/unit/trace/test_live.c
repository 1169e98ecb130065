// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "opened.h"

/* The time of every event of stream 0 but stacks; their number is returned. */
static size_t read_times(uint64_t *times, size_t max, int *rc)
{
    struct cunei_trace_reader *reader = cunei_trace_reader_open(
        &trace.processes[0], &trace.processes[0].streams[0], 0, UINT64_MAX);
    struct cunei_trace_packet packet;
    size_t count = 0;

    assert_non_null(reader);
    while ((*rc = cunei_trace_reader_next(reader, &packet)) > 0) {
        for (size_t at = 0; at < packet.word_count;
             at += cunei_event_words(&packet.words[at], packet.word_count - at)) {
            if (cunei_record_class(packet.words[at]) == CUNEI_CLASS_STACK)
                continue;
            if (count < max)
                times[count] =
                    cunei_record_time(packet.words[at], packet.head->timestamp_begin);
            count++;
        }
    }
    error = *cunei_trace_reader_error(reader);
    cunei_trace_reader_close(reader);
    return count;
}

static size_t count_stream_events(void)
{
    int rc = 0;
    size_t count = read_times(NULL, 0, &rc);
    assert_int_equal(rc, 0);
    return count;
}

static void *map_live(size_t size)
{
    int fd = open(fixture_path(&fixture, CUNEI_LIVE_NAME), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

static void packets_that_are_only_live_are_read_behind_the_file(void **state)
{
    (void)state;
    fixture_append_calls(&fixture, 0, 1000, 2);
    fixture_live_create(&fixture, 1, false);
    fixture_packet_begin(&fixture, 0, 2, 3000);
    fixture_put(&fixture, 3010, 1024, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);
    fixture_packet_begin(&fixture, 0, 1, 2000);
    fixture_put(&fixture, 2010, 1024, CUNEI_PHASE_ENTER);
    fixture_put(&fixture, 2011, 1024, CUNEI_PHASE_LEAVE);
    fixture_live_store(&fixture, 1);

    open_trace();

    uint64_t times[7];
    int rc = 0;
    assert_int_equal(trace.processes[0].state, CUNEI_TRACE_KILLED);
    assert_int_equal(read_times(times, 7, &rc), 7);
    assert_int_equal(rc, 0);
    assert_int_equal(times[4], 2010);
    assert_int_equal(times[6], 3010);
}

/* A closed packet with one event, `offset` bytes behind the beginning of buffer 1. */
static uint64_t queue_packet(uint64_t sequence, uint64_t offset)
{
    fixture_packet_begin(&fixture, 0, sequence, 1000 * sequence);
    fixture_put(&fixture, 1000 * sequence + 10, 1024, CUNEI_PHASE_ENTER);
    fixture.packet->packet_bits = fixture.packet->content_bits;
    fixture_live_store_at(&fixture, 1, offset);
    return offset + fixture.packet->content_bits / 8;
}

static void closed_packets_wait_one_behind_the_other(void **state)
{
    (void)state;
    uint64_t times[8], end = 0;
    int rc = 0;
    fixture_append_calls(&fixture, 0, 500, 1);
    fixture_live_create(&fixture, 1, false);
    fixture_packet_begin(&fixture, 0, 4, 4000);
    fixture_put(&fixture, 4010, 1024, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);
    for (uint64_t sequence = 1; sequence <= 3; sequence++)
        end = queue_packet(sequence, end);

    open_trace();

    assert_int_equal(trace.processes[0].streams[0].live.count, 4);
    assert_int_equal(read_times(times, 8, &rc), 2 + 4);
    for (uint64_t i = 1; i <= 4; i++)
        assert_int_equal(times[1 + i], 1000 * i + 10);
}

/* It would reach into the next stream, and is not one of the queue. */
static void a_packet_beyond_the_end_of_its_buffer_is_not_read(void **state)
{
    (void)state;
    fixture_live_create(&fixture, 2, false);
    uint64_t end = queue_packet(1, 0);
    fixture_packet_begin(&fixture, 0, 2, 2000);
    fixture_put(&fixture, 2010, 1024, CUNEI_PHASE_ENTER);
    fixture.packet->content_bits = 8 * CUNEI_PACKET_SIZE - 64;
    fixture.packet->packet_bits = fixture.packet->content_bits;
    fixture_live_store_at(&fixture, 1, end);

    open_trace();

    assert_int_equal(trace.processes[0].streams[0].live.count, 1);
}

static void a_packet_that_is_queued_twice_is_read_once(void **state)
{
    (void)state;
    int rc = 0;
    fixture_live_create(&fixture, 1, false);
    (void)queue_packet(2, queue_packet(1, queue_packet(2, 0)));
    fixture_live_store(&fixture, 0);

    open_trace();

    assert_int_equal(trace.processes[0].streams[0].live.count, 2);
    assert_int_equal(read_times(NULL, 0, &rc), 2);
}

static void an_open_packet_ends_with_its_last_event(void **state)
{
    (void)state;
    fixture_live_create(&fixture, 1, false);
    fixture_packet_begin(&fixture, 0, 0, 2000);
    fixture_put(&fixture, 2010, 1024, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);

    open_trace();

    const struct cunei_packet *packet = trace.processes[0].streams[0].live.items[0];
    assert_int_equal(packet->timestamp_end, 2010);
    assert_int_equal(packet->packet_bits, packet->content_bits);
}

static void a_packet_that_is_in_the_file_already_is_not_read_twice(void **state)
{
    (void)state;
    fixture_append_calls(&fixture, 0, 1000, 2);
    fixture_live_create(&fixture, 1, false);
    fixture_live_store(&fixture, 0);

    open_trace();

    assert_int_equal(count_stream_events(), 4);
    assert_int_equal(trace.processes[0].streams[0].live.count, 0);
}

static void a_packet_torn_in_the_file_comes_from_the_live_file(void **state)
{
    (void)state;
    fixture_append_calls(&fixture, 0, 1000, 2);
    fixture_append_calls(&fixture, 1, 2000, 3);
    fixture_live_create(&fixture, 1, false);
    fixture_live_store(&fixture, 1);
    fixture_cut_file(fixture_path(&fixture, "s0"), 400);

    open_trace();

    assert_int_equal(count_stream_events(), 4 + 6);
    assert_int_equal(trace.processes[0].streams[0].torn, 200);
}

static void a_buffer_without_events_or_magic_holds_no_packet(void **state)
{
    (void)state;
    fixture_live_create(&fixture, 1, false);
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture.packet->content_bits = 8 * sizeof(struct cunei_packet);
    fixture_live_store(&fixture, 0);
    fixture_packet_begin(&fixture, 0, 1, 2000);
    fixture.packet->magic = 0;
    fixture_live_store(&fixture, 1);

    open_trace();

    assert_int_equal(trace.processes[0].stream_count, 1);
    assert_int_equal(count_stream_events(), 0);
}

static void functions_may_be_defined_in_a_live_packet(void **state)
{
    (void)state;
    fixture_live_create(&fixture, 2, false);
    fixture_packet_begin(&fixture, 1, 0, 1000);
    fixture_put_define(&fixture, 1000, CUNEI_FUNCTION_CLASS_END, "far");
    fixture_live_store(&fixture, 0);
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture_put_call(&fixture, 1001, CUNEI_FUNCTION_CLASS_END, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);

    open_trace();

    assert_int_equal(count_stream_events(), 1);
    assert_string_equal(
        cunei_trace_function(&trace.processes[0], CUNEI_FUNCTION_CLASS_END)->qualname,
        "far");
}

static void the_live_files_counters_are_the_descriptions(void **state)
{
    (void)state;
    fixture_live_create(&fixture, 1, false);
    fixture_live_count(&fixture, CUNEI_LIVE_LOST, 7);
    fixture_live_count(&fixture, CUNEI_LIVE_LOST_NO_SPACE, 5);

    open_trace();

    assert_int_equal(trace.processes[0].description.lost, 7);
    assert_int_equal(trace.processes[0].description.lost_no_space, 5);
}

static void a_live_file_that_ends_early_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    fixture_live_create(&fixture, 3, false);
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture_put(&fixture, 1001, 1024, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);
    fixture_cut_file(fixture_path(&fixture, CUNEI_LIVE_NAME),
                     CUNEI_LIVE_HEAD_SIZE + CUNEI_LIVE_STREAM_SIZE);

    open_trace();
    assert_int_equal(trace.processes[0].stream_count, 1);
    assert_int_equal(count_stream_events(), 1);
    cunei_trace_close(&trace);

    static const uint64_t sizes[] = {CUNEI_LIVE_HEAD_SIZE + 160, CUNEI_LIVE_HEAD_SIZE,
                                     sizeof(struct cunei_live), 100, 0};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        fixture_cut_file(fixture_path(&fixture, CUNEI_LIVE_NAME), sizes[i]);
        open_trace();
        assert_int_equal(trace.processes[0].stream_count, 0);
        assert_int_equal(trace.processes[0].state, CUNEI_TRACE_KILLED);
        cunei_trace_close(&trace);
    }
}

static void a_live_file_of_another_trace_is_left_alone(void **state)
{
    (void)state;
    fixture.metadata.uuid[0] ^= 1;
    fixture_live_create(&fixture, 1, false);
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture_put(&fixture, 1001, 1024, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);

    open_trace();

    assert_int_equal(trace.processes[0].stream_count, 0);
}

static void damage_in_a_live_packet_is_reported_behind_the_file(void **state)
{
    (void)state;
    int rc = 0;
    fixture_append_calls(&fixture, 0, 1000, 2);
    fixture_live_create(&fixture, 1, false);
    fixture_packet_begin(&fixture, 0, 1, 2000);
    fixture_put(&fixture, 2010, 5000, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);

    open_trace();

    assert_int_equal(read_times(NULL, 0, &rc), 4);
    assert_int_equal(rc, -EBADMSG);
    assert_non_null(strstr(error.text, ".live' is damaged in the packets of stream 0"));
}

static void a_process_runs_while_it_maps_its_live_file(void **state)
{
    (void)state;
    fixture_live_create(&fixture, 1, true);

    open_trace();
    assert_int_equal(trace.processes[0].state, CUNEI_TRACE_KILLED);
    cunei_trace_close(&trace);

    void *memory = map_live(CUNEI_LIVE_HEAD_SIZE);
    open_trace();
    assert_int_equal(trace.processes[0].state, CUNEI_TRACE_RUNNING);
    munmap(memory, CUNEI_LIVE_HEAD_SIZE);
}

static void a_process_of_another_machine_may_be_running(void **state)
{
    (void)state;
    fixture_live_create(&fixture, 1, false);
    int fd = open(fixture_path(&fixture, "metadata"), O_RDWR | O_CLOEXEC);
    char text[8192] = "";
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    char *host = strstr(text, "hostname = \"");
    assert_non_null(host);
    /* The name is made another of the same length, so that nothing else moves. */
    host[strlen("hostname = \"")] ^= 1;
    assert_true(pwrite(fd, text, strlen(text), 0) > 0);
    close(fd);

    open_trace();

    assert_int_equal(trace.processes[0].state, CUNEI_TRACE_RUNNING);
}

#define PACKETS     UINT64_C(60)
#define PER_PACKET  3000
#define PACKET_STEP 100000
#define EVENTS      (PACKETS * PER_PACKET)

/* What the runtime library does, in short: two buffers in turn, each to the file. */
static void *write_packets(void *memory)
{
    char *slot = (char *)memory + CUNEI_LIVE_HEAD_SIZE;

    for (uint64_t i = 0; i < PACKETS; i++) {
        struct cunei_packet *packet = (void *)(slot + (i % 2) * CUNEI_PACKET_SIZE);
        _Atomic uint64_t *words = (_Atomic uint64_t *)(void *)packet;
        uint64_t begin = 1 + i * PACKET_STEP;
        atomic_store_explicit(&packet->magic, 0, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        fixture_packet_begin(&fixture, 0, i, begin);
        fixture.packet->magic = 0;
        const uint64_t *head = (const uint64_t *)(const void *)fixture.packet;
        size_t at = (size_t)(fixture.packet->content_bits / 64);
        for (size_t j = 0; j < at; j++)
            atomic_store_explicit(&words[j], head[j], memory_order_relaxed);
        atomic_store_explicit(&packet->magic, CUNEI_PACKET_MAGIC, memory_order_release);
        fixture.packet->magic = CUNEI_PACKET_MAGIC;
        for (uint64_t j = 1; j <= PER_PACKET; j++, at++) {
            fixture_put(&fixture, begin + j, 1024, CUNEI_PHASE_ENTER);
            atomic_store_explicit(&words[at], head[at], memory_order_relaxed);
            atomic_store_explicit(&packet->content_bits, 64 * (at + 1),
                                  memory_order_release);
        }
        fixture_append(&fixture);
    }
    return NULL;
}

/* Whether these are the first `count` events, without a gap or one twice. */
static bool is_beginning(const uint64_t *times, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (times[i] != 1 + i / PER_PACKET * PACKET_STEP + 1 + i % PER_PACKET)
            return false;
    }
    return true;
}

static void a_reader_beside_the_writer_misses_and_doubles_nothing(void **state)
{
    (void)state;
    static uint64_t times[EVENTS];
    size_t size = CUNEI_LIVE_HEAD_SIZE + CUNEI_LIVE_STREAM_SIZE;
    size_t count = 0, before = 0, wrong = 0, reads = 0;
    pthread_t thread;
    fixture_live_create(&fixture, 1, true);
    void *memory = map_live(size);
    struct fixture reading = fixture; /* its paths are the writer's to change */
    assert_int_equal(pthread_create(&thread, NULL, write_packets, memory), 0);

    for (; count < EVENTS; reads++) {
        int rc = 0;
        assert_int_equal(cunei_trace_open(&trace, reading.directory, &error), 0);
        count = trace.processes[0].stream_count ? read_times(times, EVENTS, &rc) : 0;
        wrong += rc != 0 || count < before || !is_beginning(times, count) ||
                 trace.processes[0].state != CUNEI_TRACE_RUNNING;
        before = count;
        cunei_trace_close(&trace);
    }
    pthread_join(thread, NULL);
    munmap(memory, size);

    assert_int_equal(wrong, 0);
    assert_true(reads > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(packets_that_are_only_live_are_read_behind_the_file),
        TEST(closed_packets_wait_one_behind_the_other),
        TEST(a_packet_beyond_the_end_of_its_buffer_is_not_read),
        TEST(a_packet_that_is_queued_twice_is_read_once),
        TEST(an_open_packet_ends_with_its_last_event),
        TEST(a_packet_that_is_in_the_file_already_is_not_read_twice),
        TEST(a_packet_torn_in_the_file_comes_from_the_live_file),
        TEST(a_buffer_without_events_or_magic_holds_no_packet),
        TEST(functions_may_be_defined_in_a_live_packet),
        TEST(the_live_files_counters_are_the_descriptions),
        TEST(a_live_file_that_ends_early_is_read_as_far_as_it_goes),
        TEST(a_live_file_of_another_trace_is_left_alone),
        TEST(damage_in_a_live_packet_is_reported_behind_the_file),
        TEST(a_process_runs_while_it_maps_its_live_file),
        TEST(a_process_of_another_machine_may_be_running),
        TEST(a_reader_beside_the_writer_misses_and_doubles_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
