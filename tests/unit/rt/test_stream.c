// SPDX-License-Identifier: MIT
/*
 * Streams: threads write, readers look at files and mapping meanwhile, and neither is
 * ever wrong.  Runs under the address and the thread sanitizer as well.
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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "rt/clock.h"
#include "rt/recorder.h"
#include "rt/state.h"
#include "scratch.h"

#define WRITERS     4
#define EVENTS      100000
#define THREADS_MAX 4096

static void *write_events(void *argument)
{
    for (uint64_t i = 0; i < EVENTS; i++)
        scratch_put(argument, i);
    return NULL;
}

static void every_event_is_there_once_while_threads_write_and_after(void **state)
{
    static uint64_t counts[THREADS_MAX];
    struct scratch *scratch = *state;
    pthread_t writers[WRITERS];
    uint64_t before = 0, count = 0;

    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_events, scratch), 0);
    while (before < (uint64_t)WRITERS * EVENTS) {
        count = scratch_count(scratch, counts, THREADS_MAX);
        assert_true(count >= before);
        before = count;
    }
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(writers[i], NULL), 0);
    assert_int_equal(cunei_recorder_stop(), 0);

    assert_int_equal(scratch_count(scratch, counts, THREADS_MAX), WRITERS * EVENTS);
    for (size_t i = 1; i <= WRITERS; i++)
        assert_int_equal(counts[i], EVENTS);
}

/* What one look into the mapping shares with the thread that writes it. */
struct look {
    struct scratch *scratch;
    _Atomic(struct cunei_packet *) buffers; /* two of them */
    atomic_bool done;                       /* the reader has seen enough */
};

static void *write_and_show(void *argument)
{
    struct look *look = argument;

    for (uint64_t i = 0; !atomic_load(&look->done); i++) {
        scratch_put(look->scratch, i);
        if (i == 0)
            atomic_store(&look->buffers, cunei_stream_own->slot->buffers);
    }
    return NULL;
}

static uint64_t load(const void *memory, size_t offset)
{
    const _Atomic uint64_t *word = (const void *)((const char *)memory + offset);
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* Check the events of a packet as far as they are published; 0: it was replaced. */
static size_t check_packet(const struct look *look, struct cunei_packet *packet)
{
    if (atomic_load_explicit(&packet->magic, memory_order_acquire) !=
        CUNEI_PACKET_MAGIC)
        return 0;
    uint64_t sequence = load(packet, offsetof(struct cunei_packet, sequence));
    uint64_t begin = load(packet, offsetof(struct cunei_packet, timestamp_begin));
    uint64_t bits = atomic_load_explicit(&packet->content_bits, memory_order_acquire);
    uint64_t last = begin;
    uint32_t class = 0, before = 0;
    const char *wrong = NULL;

    if (bits % 64 != 0 || bits < 8 * sizeof(*packet) || bits > CUNEI_PACKET_BITS)
        wrong = "an impossible size";
    /* Two words of stack come first. */
    for (size_t at = sizeof(*packet) + 16; !wrong && at < bits / 8; at += 8) {
        uint64_t record = load(packet, at);
        uint64_t time = cunei_record_time(record, begin);
        class = cunei_record_class(record) - look->scratch->first;
        if (time < last || time - begin > CUNEI_SPAN_MAX)
            wrong = "a time steps back";
        if (before && class != before % SCRATCH_FUNCTIONS)
            wrong = "an event is missing";
        last = time;
        before = class + 1;
    }
    /* Words that were replaced meanwhile prove nothing. */
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&packet->magic, memory_order_acquire) !=
            CUNEI_PACKET_MAGIC ||
        load(packet, offsetof(struct cunei_packet, sequence)) != sequence)
        return 0;
    if (wrong)
        fail_msg("%s in packet %lu", wrong, (unsigned long)sequence);
    return (size_t)(bits / 64);
}

static void a_packet_is_valid_at_every_instant(void **state)
{
    enum {
        WORDS = 10000000
    };
    struct look look = {.scratch = *state};
    pthread_t writer;
    size_t words = 0;

    assert_int_equal(pthread_create(&writer, NULL, write_and_show, &look), 0);
    while (words < WORDS) {
        struct cunei_packet *first = atomic_load(&look.buffers);
        if (!first)
            continue;
        words += check_packet(&look, first);
        words += check_packet(&look, (void *)((char *)first + CUNEI_PACKET_SIZE));
    }
    atomic_store(&look.done, true);
    assert_int_equal(pthread_join(writer, NULL), 0);
}

static void *write_few(void *argument)
{
    for (uint64_t i = 0; i < 3; i++)
        scratch_put(argument, i);
    return NULL;
}

static void threads_hand_their_slots_on(void **state)
{
    static uint64_t counts[THREADS_MAX];
    struct scratch *scratch = *state;
    struct cunei_trace trace;
    pthread_t threads[8];
    enum {
        ROUNDS = 100
    };

    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < 8; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, write_few, scratch), 0);
        for (size_t i = 0; i < 8; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(cunei_recorder_stop(), 0);

    assert_int_equal(scratch_count(scratch, counts, THREADS_MAX), ROUNDS * 8 * 3);
    for (size_t i = 1; i <= (size_t)ROUNDS * 8; i++)
        assert_int_equal(counts[i], 3);
    scratch_open(scratch, &trace);
    assert_in_range(trace.processes[0].stream_count, 1, 8);
    cunei_trace_close(&trace);
}

/* One event at a tick of the caller's choice. */
static void *write_at(void *argument)
{
    uint64_t now = *(const uint64_t *)argument;
    struct cunei_stream *stream = cunei_recorder_room(&now, 1, false);

    assert_non_null(stream);
    cunei_stream_put(stream, now,
                     cunei_record(now, CUNEI_FUNCTION_FIRST, CUNEI_PHASE_ENTER));
    return NULL;
}

static void a_thread_whose_clock_is_behind_does_not_step_back_in_its_slot(void **state)
{
    static uint64_t counts[THREADS_MAX];
    uint64_t early = cunei_clock_read(), late = early + 1000000;
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, write_at, &late), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, write_at, &early), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(cunei_recorder_stop(), 0);

    assert_int_equal(scratch_count(*state, counts, THREADS_MAX), 2);
}

/*
 * A forked child reads its clock before its recording starts.  Between the two the
 * counter may pass a multiple of 2⁴⁰, which is then tick 0 of the trace.
 */
static void an_event_from_before_tick_0_is_readable(void **state)
{
    static uint64_t counts[THREADS_MAX];
    uint64_t before = (cunei_clock_read() & ~CUNEI_TIME_MASK) - 1;

    write_at(&before);
    assert_int_equal(cunei_recorder_stop(), 0);

    assert_int_equal(scratch_count(*state, counts, THREADS_MAX), 1);
}

static bool maps_a_live_file(void)
{
    char line[512];
    bool found = false;

    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    while (!found && fgets(line, sizeof(line), maps))
        found = strstr(line, CUNEI_LIVE_NAME) != NULL;
    (void)fclose(maps);
    return found;
}

/* 0, or which of its expectations failed. */
static int act_as_child(struct scratch *scratch)
{
    uint64_t now = cunei_clock_read();

    if (maps_a_live_file())
        return 1;
    if (cunei_recorder_is_on() || cunei_recorder_room(&now, 1, false))
        return 2;
    if (scratch_define("child") != 0)
        return 3;
    scratch_put(scratch, 0);
    cunei_recorder_lose(CUNEI_LIVE_LOST_NO_STREAM);
    return 0;
}

static void a_forked_child_leaves_the_recording_alone(void **state)
{
    static uint64_t counts[THREADS_MAX];
    struct scratch *scratch = *state;
    struct cunei_trace trace;
    int status = 0;

    scratch_put(scratch, 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(act_as_child(scratch));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    scratch_put(scratch, 1);
    assert_int_equal(cunei_recorder_stop(), 0);

    assert_int_equal(status, 0);
    assert_int_equal(scratch_count(scratch, counts, THREADS_MAX), 2);
    scratch_open(scratch, &trace);
    assert_int_equal(trace.processes[0].description.lost, 0);
    assert_int_equal(trace.processes[0].function_count, SCRATCH_FUNCTIONS);
    cunei_trace_close(&trace);
}

/* Like vfork: the runtime library does not notice it. */
static void a_copy_of_the_process_leaves_the_recording_alone(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_trace trace;
    int status = 0;

    scratch_put(scratch, 0);
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0) {
        uint64_t now = cunei_clock_read();
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_STREAM);
        _exit(cunei_recorder_room(&now, 1, false) || scratch_define("child") != 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(cunei_recorder_stop(), 0);

    assert_int_equal(status, 0);
    scratch_open(scratch, &trace);
    assert_int_equal(trace.processes[0].description.lost, 0);
    assert_int_equal(trace.processes[0].function_count, SCRATCH_FUNCTIONS);
    cunei_trace_close(&trace);
}

/* A child may record on its own account; its thread's CPU time is the child's. */
static int record_as_child(struct scratch *scratch)
{
    static uint64_t counts[THREADS_MAX];
    struct scratch own;
    struct cunei_trace trace;
    struct cunei_trace_packet packet;
    (void)scratch;

    scratch_make(&own);
    scratch_start(&own);
    scratch_put(&own, 0);
    if (cunei_recorder_stop() != 0 || scratch_count(&own, counts, THREADS_MAX) != 1)
        return 1;
    scratch_open(&own, &trace);
    struct cunei_trace_process *process = &trace.processes[0];
    struct cunei_trace_reader *reader =
        cunei_trace_reader_open(process, &process->streams[0], 0, UINT64_MAX);
    if (!reader || cunei_trace_reader_next(reader, &packet) != 1)
        return 2;
    uint64_t cpu_ns = cunei_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    bool good = packet.head->vtid == (uint32_t)getpid() &&
                packet.head->cpu_begin_ns > 0 &&
                packet.head->cpu_begin_ns <= packet.head->cpu_end_ns &&
                packet.head->cpu_end_ns <= cpu_ns;
    cunei_trace_reader_close(reader);
    cunei_trace_close(&trace);
    scratch_remove(&own);
    return good ? 0 : 3;
}

static void a_forked_child_may_record_on_its_own(void **state)
{
    int status = 0;

    scratch_put(*state, 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(record_as_child(*state));
    assert_int_equal(waitpid(pid, &status, 0), pid);

    assert_int_equal(WEXITSTATUS(status), 0);
}

/* What the hook `poked` has done; a thread's own count shows whether it was called. */
static atomic_uint calls;
static _Thread_local unsigned own_calls;

/* It writes, as a hook may: the event after it is not to be later, nor lost. */
static void count_call(bool top_is_open)
{
    uint64_t now = cunei_clock_read();
    struct cunei_stream *stream = cunei_recorder_room(&now, 2, top_is_open);

    assert_non_null(stream);
    cunei_stream_store(stream, 0, cunei_record(now, CUNEI_CLASS_UNWIND, 0));
    cunei_stream_store(stream, 1, 0);
    cunei_stream_publish(stream, now, 2);
    own_calls++;
    atomic_fetch_add(&calls, 1);
}

static int set_up_with_hook(void **state)
{
    struct scratch *scratch = scratch_new();

    scratch->poked = count_call;
    scratch_start(scratch);
    atomic_store(&calls, 0);
    own_calls = 0;
    *state = scratch;
    return 0;
}

static void a_poked_thread_looks_around_at_its_next_event(void **state)
{
    static uint64_t counts[THREADS_MAX];
    struct scratch *scratch = *state;

    scratch_put(scratch, 0);
    assert_int_equal(own_calls, 1); /* it has begun a packet */
    scratch_put(scratch, 1);
    assert_int_equal(own_calls, 1);
    cunei_recorder_poke();
    cunei_recorder_poke();
    assert_int_equal(own_calls, 1);
    scratch_put(scratch, 2);
    scratch_put(scratch, 3);
    assert_int_equal(own_calls, 2);
    assert_int_equal(cunei_recorder_stop(), 0);

    assert_int_equal(scratch_count(scratch, counts, THREADS_MAX), 4);
}

static void a_poke_does_not_end_a_packet(void **state)
{
    struct scratch *scratch = *state;

    scratch_put(scratch, 0);
    const struct cunei_packet *packet = cunei_stream_own->packet;
    cunei_recorder_poke();
    scratch_put(scratch, 1);

    assert_int_equal(own_calls, 2);
    assert_ptr_equal(cunei_stream_own->packet, packet);
    assert_true(cunei_stream_own->deadline - cunei_stream_own->last >
                CUNEI_SPAN_MAX / 2);
}

/* A thread that writes, and shows how often it was poked. */
struct pokes {
    struct scratch *scratch;
    atomic_uint seen;
    atomic_bool done;
};

static void *write_and_count(void *argument)
{
    struct pokes *pokes = argument;

    for (uint64_t i = 0; !atomic_load(&pokes->done); i++) {
        scratch_put(pokes->scratch, i);
        atomic_store(&pokes->seen, own_calls);
    }
    return NULL;
}

static void threads_are_notified_of_every_poke_while_they_write(void **state)
{
    static uint64_t counts[THREADS_MAX];
    struct pokes pokes[2] = {{.scratch = *state}, {.scratch = *state}};
    pthread_t writers[2];
    enum {
        POKES = 300
    };

    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_and_count, &pokes[i]),
                         0);
    for (size_t poke = 0; poke < POKES; poke++) {
        unsigned before[2] = {atomic_load(&pokes[0].seen), atomic_load(&pokes[1].seen)};
        cunei_recorder_poke();
        for (size_t i = 0; i < 2; i++) {
            while (atomic_load(&pokes[i].seen) == before[i])
                (void)sched_yield();
        }
    }
    for (size_t i = 0; i < 2; i++) {
        atomic_store(&pokes[i].done, true);
        assert_int_equal(pthread_join(writers[i], NULL), 0);
    }
    assert_int_equal(cunei_recorder_stop(), 0);

    assert_true(atomic_load(&calls) >= 2 * POKES);
    assert_true(scratch_count(*state, counts, THREADS_MAX) > 0);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)
#define HOOKED(name) \
    cmocka_unit_test_setup_teardown(name, set_up_with_hook, scratch_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(every_event_is_there_once_while_threads_write_and_after),
        TEST(a_packet_is_valid_at_every_instant),
        TEST(threads_hand_their_slots_on),
        TEST(a_thread_whose_clock_is_behind_does_not_step_back_in_its_slot),
        TEST(an_event_from_before_tick_0_is_readable),
        TEST(a_forked_child_leaves_the_recording_alone),
        TEST(a_copy_of_the_process_leaves_the_recording_alone),
        TEST(a_forked_child_may_record_on_its_own),
        HOOKED(a_poked_thread_looks_around_at_its_next_event),
        HOOKED(a_poke_does_not_end_a_packet),
        HOOKED(threads_are_notified_of_every_poke_while_they_write),
    };
#undef HOOKED
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
