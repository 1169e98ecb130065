// SPDX-License-Identifier: MIT
/*
 * A dead process's ring with arbitrary bytes: it is read, copied by a snapshot and made
 * into files by recovery, and all three show the same.
 *
 * The input is pieces: a place, two bytes of a length, so many bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fixture.h"
#include "fuzz.h"
#include "trace/directory/trace.h"
#include "trace/recovery/recover.h"
#include "trace/recovery/snapshot.h"
#include "wire/ring.h"

#define BLOCKS UINT64_C(80)

enum place {
    PLACE_PACKET, /* a packet in order, as the bytes say, in its blocks */
    PLACE_TABLE,  /* bytes over the head and the table … */
    PLACE_DATA,   /* … and over the blocks, behind two bytes of a place */
    PLACE_COUNT,
};

static struct fixture fixture;
static char copies[64];

static void write_ring(uint64_t offset, const void *bytes, size_t size)
{
    int fd = open(fixture_path(&fixture, CUNEI_RING_NAME),
                  O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    FUZZ_CHECK(fd >= 0 && pwrite(fd, bytes, size, (off_t)offset) == (ssize_t)size);
    close(fd);
}

static void make_ring(void)
{
    const uint64_t data = cunei_ring_data_offset(BLOCKS);
    struct cunei_ring head = {
        .magic = CUNEI_RING_MAGIC,
        .version = CUNEI_WIRE_VERSION,
        .block_size = CUNEI_RING_BLOCK_SIZE,
        .block_count = BLOCKS,
        .data_offset = data,
    };

    memcpy(head.uuid, fixture.metadata.uuid, sizeof(head.uuid));
    write_ring(0, &head, sizeof(head));
    write_ring(data + BLOCKS * CUNEI_RING_BLOCK_SIZE - 1, "", 1);
}

static void put_block(uint64_t position, uint64_t at, uint64_t end)
{
    const struct cunei_ring_block block = {
        .claim = cunei_ring_claim(position, CUNEI_RING_WHOLE), .end = end};

    write_ring(CUNEI_RING_BLOCK_SIZE + at % BLOCKS * sizeof(block), &block,
               sizeof(block));
}

/* Bytes: position, stream, sequence, begin, hundreds of calls. */
static void put_packet(const uint8_t *data, size_t size)
{
    uint64_t offset = cunei_ring_data_offset(BLOCKS);

    if (size < 5)
        return;
    fixture_packet_begin(&fixture, data[1] % 4, data[2], UINT64_C(1000) * data[3]);
    for (unsigned i = 0; i < 100u * data[4]; i++)
        fixture_put(&fixture, UINT64_C(1000) * data[3] + i / 64, CUNEI_FUNCTION_FIRST,
                    i % 2 ? CUNEI_PHASE_LEAVE : CUNEI_PHASE_ENTER);
    struct cunei_packet *packet = fixture.packet;
    packet->timestamp_end = fixture.last;
    packet->packet_bits = packet->content_bits;
    uint64_t count = cunei_ring_blocks(packet->packet_bits / 8);
    for (uint64_t i = 0; i < count; i++) {
        put_block(data[0], data[0] + i, packet->timestamp_end);
        write_ring(offset + (data[0] + i) % BLOCKS * CUNEI_RING_BLOCK_SIZE,
                   (const char *)packet + i * CUNEI_RING_BLOCK_SIZE,
                   CUNEI_RING_BLOCK_SIZE);
    }
}

static void put_piece(enum place place, const uint8_t *data, size_t size)
{
    uint64_t table = cunei_ring_data_offset(BLOCKS);

    if (place == PLACE_PACKET)
        put_packet(data, size);
    if (place == PLACE_PACKET || size < 3)
        return;
    uint64_t at = data[0] | (uint64_t)data[1] << 8;
    if (place == PLACE_TABLE)
        write_ring(at * 8 % table, data + 2, size - 2);
    else
        write_ring(table + at * 8 % (BLOCKS * CUNEI_RING_BLOCK_SIZE), data + 2,
                   size - 2);
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

/* Its events; -1: it cannot be opened, or is damaged. */
static int64_t count_events(const char *path)
{
    struct cunei_trace trace;
    struct cunei_trace_error error;
    int64_t count = 0;
    int rc = cunei_trace_open(&trace, path, &error);

    if (rc < 0)
        return -1;
    for (size_t i = 0; i < trace.processes[0].stream_count; i++) {
        struct cunei_trace_packet packet;
        struct cunei_trace_reader *reader = cunei_trace_reader_open(
            &trace.processes[0], &trace.processes[0].streams[i], 0, UINT64_MAX);
        FUZZ_CHECK(reader);
        while ((rc = cunei_trace_reader_next(reader, &packet)) > 0)
            count += (int64_t)packet.event_count;
        cunei_trace_reader_close(reader);
        count = rc < 0 ? INT64_MIN : count;
    }
    cunei_trace_close(&trace);
    return count < 0 ? -1 : count;
}

/* The files of a snapshot, by their names. */
static void remove_copy(void)
{
    static const char *const names[] = {"metadata", ".process", "s0", "s1", "s2", "s3"};
    const char *folder = strrchr(fixture.folder, '/');
    char path[256];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s%s/%s", copies, folder, names[i]);
        (void)unlink(path);
    }
    (void)snprintf(path, sizeof(path), "%s%s", copies, folder);
    (void)rmdir(path);
}

static int64_t count_in_snapshot(void)
{
    const struct cunei_snapshot_options options = {.counter = 1, .wall_ns = 1};
    struct cunei_snapshot snapshot;
    struct cunei_trace_error error = {0};

    int fd = open(copies, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    FUZZ_CHECK(fd >= 0);
    int rc = cunei_trace_snapshot(fixture.directory, fd, &options, &snapshot, &error);
    close(fd);
    FUZZ_CHECK(rc == 0 || error.text[0]);
    int64_t count = rc < 0 ? -1 : count_events(copies);
    remove_copy();
    return count;
}

static void finish(void)
{
    fixture_fini(&fixture);
    (void)rmdir(copies);
}

static void prepare(void)
{
    if (fixture.packet)
        return;
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 0);
    fixture_init(&fixture);
    (void)snprintf(copies, sizeof(copies), "/tmp/cunei-copies-XXXXXX");
    FUZZ_CHECK(mkdtemp(copies));
    (void)atexit(finish);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const files[] = {"s0", "s1", "s2", "s3", CUNEI_RING_NAME};
    const struct cunei_trace_recover_options options = {0};
    struct cunei_trace_recovery recovery;
    struct cunei_trace_error error;

    prepare();
    fixture_describe(&fixture, false);
    make_ring();
    put_pieces(data, size);

    int64_t before = count_events(fixture.directory);
    int64_t copied = count_in_snapshot();
    int rc = cunei_trace_recover(fixture.folder, &options, &recovery, &error);
    int64_t after = count_events(fixture.directory);
    FUZZ_CHECK(rc == 0 || error.text[0]);
    FUZZ_CHECK(before < 0 || (copied == before && (rc < 0 || after == before)));
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        (void)unlink(fixture_path(&fixture, files[i]));
    return 0;
}
