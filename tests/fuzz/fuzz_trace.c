// SPDX-License-Identifier: MIT
/*
 * A whole trace: stream files, definitions and a live file, read, merged, recovered and
 * read again.
 *
 * An input is a row of pieces: a byte that says where the piece goes, two bytes of its
 * length, its bytes.  Files are put together from them behind a preamble that is always
 * the same, so that the inputs stay small.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "fixture.h"
#include "fuzz.h"
#include "trace/directory/merge_by_time.h"
#include "trace/directory/trace.h"
#include "trace/packet/stream_split.h"
#include "trace/recovery/recover.h"
#include "trigger/firing.h"
#include "trigger/triggers.h"
#include "trigger/watch.h"

enum place {
    PLACE_METADATA,
    PLACE_EVENTS,      /* s0 */
    PLACE_DEFINITIONS, /* s1 */
    PLACE_LIVE,        /* its head and slots */
    PLACE_TAIL,
    PLACE_BUFFERS, /* four places: two of stream 0, two of stream 1 */
    PLACE_COUNT = PLACE_BUFFERS + 4,
};

static struct fixture fixture;
static uint64_t preamble_size;

static void prepare(void)
{
    if (fixture.packet) {
        fixture_cut_file(fixture_path(&fixture, CUNEI_METADATA_NAME), preamble_size);
        return;
    }
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 0);
    fixture_init(&fixture);
    preamble_size = fixture_file_size(fixture_path(&fixture, CUNEI_METADATA_NAME));
}

static void finish(void)
{
    fixture_fini(&fixture);
}

static void remove_files(void)
{
    static const char *const names[] = {"s0", "s1", CUNEI_LIVE_NAME};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)unlink(fixture_path(&fixture, names[i]));
}

static void put_live(uint64_t offset, const uint8_t *data, size_t size)
{
    int fd = open(fixture_path(&fixture, CUNEI_LIVE_NAME),
                  O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    FUZZ_CHECK(fd >= 0 && pwrite(fd, data, size, (off_t)offset) == (ssize_t)size);
    close(fd);
}

static void put_piece(enum place place, const uint8_t *data, size_t size)
{
    switch (place) {
    case PLACE_METADATA:
        fixture_append_file(fixture_path(&fixture, CUNEI_METADATA_NAME), data, size);
        break;
    case PLACE_EVENTS:
        fixture_append_file(fixture_path(&fixture, "s0"), data, size);
        break;
    case PLACE_DEFINITIONS:
        fixture_append_file(fixture_path(&fixture, "s1"), data, size);
        break;
    case PLACE_LIVE:
        put_live(0, data, size);
        break;
    case PLACE_TAIL:
        put_live(CUNEI_LIVE_TAIL_OFFSET, data, size);
        break;
    default:
        put_live(CUNEI_LIVE_HEAD_SIZE +
                     (uint64_t)(place - PLACE_BUFFERS) * CUNEI_PACKET_SIZE,
                 data, size);
        /* A slot counts only if the file has room for it. */
        put_live(CUNEI_LIVE_HEAD_SIZE + UINT64_C(4) * CUNEI_PACKET_SIZE - 1,
                 (const uint8_t *)"", 1);
        break;
    }
}

static void put_pieces(const uint8_t *data, size_t size)
{
    while (size >= 3) {
        size_t length = data[1] | (size_t)data[2] << 8;
        if (length > size - 3)
            length = size - 3;
        put_piece((enum place)(data[0] % PLACE_COUNT), data + 3, length);
        data += 3 + length;
        size -= 3 + length;
    }
}

/* What a trace holds. */
struct content {
    int64_t events; /* -1: it cannot be opened */
    uint64_t packets;
    uint64_t streams;
    bool is_whole;
};

static uint64_t read_streams(const struct cunei_trace_process *process,
                             struct content *content)
{
    uint64_t count = 0;

    for (size_t i = 0; i < process->stream_count; i++) {
        struct cunei_trace_reader *reader =
            cunei_trace_reader_open(process, &process->streams[i], 0, UINT64_MAX);
        struct cunei_trace_packet packet;
        int rc = 0;
        FUZZ_CHECK(reader);
        while (rc == 0 && (rc = cunei_trace_reader_next(reader, &packet)) > 0) {
            size_t at = 0;
            for (; at < packet.word_count; count++)
                at += cunei_event_words(&packet.words[at], packet.word_count - at);
            FUZZ_CHECK(at == packet.word_count);
            content->packets++;
            rc = 0;
        }
        FUZZ_CHECK(rc == 0 || cunei_trace_reader_error(reader)->text[0]);
        content->is_whole &= rc == 0;
        cunei_trace_reader_close(reader);
    }
    return count;
}

static void split_streams(const struct cunei_trace_process *process)
{
    for (size_t i = 0; i < process->stream_count; i++) {
        uint64_t *offsets = NULL;
        size_t count = 0;
        FUZZ_CHECK(
            cunei_trace_split(process, &process->streams[i], 1, &offsets, &count) == 0);
        free(offsets);
    }
}

static uint64_t merge_streams(const struct cunei_trace *trace)
{
    struct cunei_trace_merge merge;
    struct cunei_trace_event event;
    uint64_t count = 0;

    FUZZ_CHECK(cunei_trace_merge_open(&merge, trace, NULL, NULL) == 0);
    while (cunei_trace_merge_next(&merge, &event) > 0) {
        FUZZ_CHECK(event.class < CUNEI_FUNCTION_FIRST ||
                   cunei_trace_function(event.process, event.class));
        count++;
    }
    cunei_trace_merge_close(&merge);
    return count;
}

/* All that can be done to a trace. */
static struct content read_trace(void)
{
    struct content content = {.events = -1, .is_whole = true};
    struct cunei_trace trace;
    struct cunei_trace_error error;

    if (cunei_trace_open(&trace, fixture.directory, &error) < 0) {
        FUZZ_CHECK(error.text[0]);
        return content;
    }
    uint64_t count = read_streams(&trace.processes[0], &content);
    FUZZ_CHECK(merge_streams(&trace) == count);
    split_streams(&trace.processes[0]);
    content.events = (int64_t)count;
    content.streams = trace.processes[0].stream_count;
    cunei_trace_close(&trace);
    return content;
}

static void check_firing(void *context, const struct cunei_trigger_firing *firing)
{
    const struct cunei_cause *cause = firing->cause;

    (void)context;
    FUZZ_CHECK(cause->what[0] && cause->trigger[0] && cause->function &&
               cause->thread_name && firing->process->path);
}

static void check_name(void *context, size_t trigger, const char *name)
{
    (void)context;
    FUZZ_CHECK(trigger < CUNEI_TRIGGERS_MAX && name);
}

/* Triggers that look at all there is. */
static void watch_triggers(void)
{
    static const char *const texts[] = {"exception:*", "exception:x", "slow:*>0ns",
                                        "lag>0ns",     "mark:*",      "mark:x",
                                        "exit!=0",     "crash"};
    const struct cunei_trigger_listener listener = {check_firing, check_name, NULL};
    struct cunei_triggers triggers = {0};
    struct cunei_trigger_watch *watch = NULL;
    struct cunei_trace_error error;
    struct cunei_buffer reason = {0};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        FUZZ_CHECK(cunei_triggers_add(&triggers, texts[i], &reason) == 0);
    if (cunei_trigger_watch_open(&watch, fixture.directory, &triggers, &listener,
                                 &error) == 0) {
        while (cunei_trigger_watch_poll(watch) == 2)
            cunei_trigger_watch_look(watch, UINT64_MAX / 2);
        FUZZ_CHECK(cunei_trigger_watch_finish(watch) == 0);
    }
    cunei_trigger_watch_close(watch);
    cunei_triggers_fini(&triggers);
}

/*
 * Recovery keeps all events.  In front of a stream that lost events before its first
 * packet it writes an empty one, whose only event is the stack, for readers that count
 * losses from packet to packet.
 */
static void check_recovered(const struct content *before, const struct content *after)
{
    uint64_t added = after->packets - before->packets;

    FUZZ_CHECK(after->is_whole);
    FUZZ_CHECK(after->packets >= before->packets && added <= after->streams);
    FUZZ_CHECK(after->events == before->events + (int64_t)added);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cunei_trace_recovery recovery;
    struct cunei_trace_recover_options options = {0};
    struct cunei_trace_error error;

    bool is_first = !fixture.packet;
    prepare();
    if (is_first)
        (void)atexit(finish);
    fixture_describe(&fixture, size % 2 == 0);
    put_pieces(data, size);

    struct content before = read_trace();
    watch_triggers();
    int rc = cunei_trace_recover(fixture.folder, &options, &recovery, &error);
    FUZZ_CHECK(rc == 0 || error.text[0]);
    struct content after = read_trace();
    if (before.events >= 0 && before.is_whole && rc == 0)
        check_recovered(&before, &after);
    remove_files();
    return 0;
}
