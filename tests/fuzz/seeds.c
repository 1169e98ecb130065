// SPDX-License-Identifier: MIT
/*
 * Writes the inputs that fuzzing starts from into <folder>/<target>/: what the library
 * itself makes, so that fuzzers need not find out what a packet is.
 */
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "fixture.h"
#include "fuzz.h"
#include "small_elf.h"
#include "wire/record_env.h"

static const char *folder;

static void save(const char *target, const char *name, const struct cunei_buffer *text)
{
    char path[512];

    FUZZ_CHECK(!text->failed);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, target);
    (void)mkdir(path, 0755);
    (void)snprintf(path, sizeof(path), "%s/%s/%s", folder, target, name);
    fixture_write_file(path, text->data, text->size);
}

static void put_file(struct cunei_buffer *out, const char *path, size_t max)
{
    char bytes[8192];

    FILE *file = fopen(path, "rbe");
    FUZZ_CHECK(file);
    size_t size = fread(bytes, 1, max < sizeof(bytes) ? max : sizeof(bytes), file);
    (void)fclose(file);
    cunei_buffer_append(out, bytes, size);
}

static void put_piece(struct cunei_buffer *out, uint8_t place, const void *bytes,
                      size_t size)
{
    const uint8_t head[] = {place, (uint8_t)size, (uint8_t)(size >> 8)};
    cunei_buffer_append(out, head, sizeof(head));
    cunei_buffer_append(out, bytes, size);
}

/* Packets in a row, as they are in a file, besides the pieces they are put into. */
static struct cunei_buffer packets;

static void put_packet(struct cunei_buffer *out, uint8_t place, struct fixture *fixture,
                       bool is_closed)
{
    struct cunei_packet *packet = fixture->packet;

    if (is_closed) {
        packet->timestamp_end = fixture->last;
        packet->packet_bits = packet->content_bits;
    }
    put_piece(out, place, packet, (size_t)(packet->content_bits / 8));
    if (is_closed && packet->stream == 0)
        cunei_buffer_append(&packets, packet, (size_t)(packet->content_bits / 8));
}

static void put_live(struct cunei_buffer *out, const struct fixture *fixture)
{
    struct cunei_buffer live = {0};
    struct cunei_live head = {.magic = CUNEI_LIVE_MAGIC,
                              .version = CUNEI_WIRE_VERSION,
                              .packet_size = CUNEI_PACKET_SIZE,
                              .pid = 4711,
                              .state = CUNEI_LIVE_RECORDING,
                              .stream_count = 2};
    const struct cunei_live_stream slots[] = {
        {.stream_class = CUNEI_STREAM_EVENTS},
        {.stream_class = CUNEI_STREAM_DEFINITIONS}};

    memcpy(head.uuid, fixture->metadata.uuid, 16);
    cunei_buffer_append(&live, &head, sizeof(head));
    cunei_buffer_append(&live, slots, sizeof(slots));
    put_piece(out, 3, live.data, live.size);
    cunei_buffer_fini(&live);
}

static void put_line(struct cunei_buffer *out, uint32_t id)
{
    struct cunei_function function = {id, 3, "m", "C.late", "/x/m.py", 0};
    cunei_metadata_format_function(&function, out);
}

static void put_tail(struct cunei_buffer *out)
{
    struct cunei_buffer lines = {0}, tail = {0};

    put_line(&lines, 1026);
    put_line(&lines, 1027);
    const uint64_t head[] = {3, lines.size};
    cunei_buffer_append(&tail, head, sizeof(head));
    cunei_buffer_append(&tail, lines.data, lines.size);
    put_piece(out, 4, tail.data, tail.size);
    cunei_buffer_fini(&lines);
    cunei_buffer_fini(&tail);
}

/* One event of each of the classes that are no calls, in order of their numbers. */
static void put_others(struct fixture *fixture, uint64_t time)
{
    const uint64_t words[] = {
        cunei_record(time, CUNEI_CLASS_TASK, CUNEI_PHASE_ENTER),
        7,
        UINT64_C(8) << 32,
        0x312d6b736154,
        cunei_record(time, 1024, CUNEI_PHASE_ENTER),
        cunei_record(time, CUNEI_CLASS_SWITCH, 0),
        2,
        UINT64_C(2) << 32 | 1,
        UINT64_C(1025) << 32 | 1024,
        cunei_record(time, 1025, CUNEI_PHASE_LEAVE),
        cunei_record(time, CUNEI_CLASS_SWITCH, 0),
        1,
        UINT64_C(2) << 32,
        UINT64_C(1024) << 32,
        cunei_record(time, CUNEI_CLASS_THREAD_NAME, 0),
        1,
        UINT64_C(8) << 32,
        0x656d616e,
        cunei_record(time, CUNEI_CLASS_EXCEPTION, CUNEI_PHASE_ENTER),
        UINT64_C(12) << 32 | 1024,
        0,
        UINT64_C(16) << 32,
        0x726f727245706161,
        0x72,
        cunei_record(time, CUNEI_CLASS_EXCEPTION, CUNEI_PHASE_LEAVE),
        UINT64_C(12) << 32 | 1024,
        UINT64_C(15) << 32 | 1025,
        UINT64_C(8) << 32 | 2,
        0x726f727245,
        cunei_record(time, CUNEI_CLASS_GC, CUNEI_PHASE_ENTER),
        0,
        2,
        cunei_record(time, CUNEI_CLASS_GC, CUNEI_PHASE_LEAVE),
        99,
        UINT64_C(1) << 32 | 2,
        cunei_record(time, CUNEI_CLASS_ARGUMENT, CUNEI_PHASE_ENTER),
        UINT64_C(1) << 32 | 1024,
        UINT64_C(8) << 32 | 4,
        0x313d656d616e,
        cunei_record(time, CUNEI_CLASS_MARK, CUNEI_PHASE_ENTER),
        0,
        UINT64_C(4) << 32 | CUNEI_VALUE_TEXT,
        UINT64_C(8) << 32,
        0x313d656d616e,
        cunei_record(time, CUNEI_CLASS_PARAMETER, CUNEI_PHASE_ENTER),
        7,
        UINT64_C(4) << 32 | CUNEI_VALUE_INT,
        UINT64_C(8) << 32 | 1024,
        0x656d616e,
        cunei_record(time, CUNEI_CLASS_TAG, CUNEI_PHASE_ENTER),
        0,
        UINT64_C(4) << 32,
        UINT64_C(8) << 32 | 1025,
        0x656d616e,
        cunei_record(time, CUNEI_CLASS_METADATA, CUNEI_PHASE_ENTER),
        UINT64_C(0x7ff8) << 48,
        UINT64_C(4) << 32 | CUNEI_VALUE_DOUBLE,
        UINT64_C(8) << 32,
        0x656d616e,
        cunei_record(time, CUNEI_CLASS_COUNTER, CUNEI_PHASE_RESUME),
        UINT64_C(0x3ff0) << 48,
        3,
        UINT64_C(1) << 32 | 1025,
        cunei_record(time, CUNEI_CLASS_TOKEN, CUNEI_PHASE_ENTER),
        1,
        1025,
        cunei_record(time, CUNEI_CLASS_TOKEN, CUNEI_PHASE_RESUME),
        1,
        UINT64_C(2) << 32 | 1025,
        cunei_record(time, CUNEI_CLASS_LINE, CUNEI_PHASE_ENTER),
        UINT64_C(1024) << 32 | 17,
        cunei_record(time, CUNEI_NEAR_FIRST + CUNEI_NEAR_ABOVE + 2, CUNEI_PHASE_ENTER),
        cunei_record(time, CUNEI_NEAR_FIRST + CUNEI_NEAR_ABOVE - 2, CUNEI_PHASE_YIELD),
        cunei_record(time, 1024, CUNEI_PHASE_YIELD),
        cunei_record(time, CUNEI_CLASS_TASK, CUNEI_PHASE_RESUME),
        7,
        0,
        cunei_record(time, 1024, CUNEI_PHASE_RESUME),
        cunei_record(time, CUNEI_CLASS_LINE, CUNEI_PHASE_RESUME),
        UINT64_C(1024) << 32 | 17,
    };

    fixture_put_words(fixture, time, words, sizeof(words) / sizeof(words[0]));
}

/* Three packets with every kind of event. */
static void put_events(struct cunei_buffer *out, struct fixture *fixture)
{
    const uint64_t stack[] = {cunei_record(2000, CUNEI_CLASS_STACK, 0),
                              UINT64_C(2) << 32, UINT64_C(1024) << 32};

    fixture_packet_begin(fixture, 0, 0, 1000);
    fixture_put(fixture, 1001, 1024, CUNEI_PHASE_ENTER);
    fixture_put(fixture, 1002, 1025, CUNEI_PHASE_RESUME);
    fixture_put(fixture, 1003, 1025, CUNEI_PHASE_YIELD);
    put_packet(out, 1, fixture, true);
    fixture_packet_begin(fixture, 0, 1, 2000);
    fixture->packet->content_bits = 8 * sizeof(struct cunei_packet);
    fixture_put_words(fixture, 2000, stack, 3);
    fixture_put_call(fixture, 2001, CUNEI_FUNCTION_CLASS_END, CUNEI_PHASE_ENTER);
    fixture_put_unwind(fixture, 2002, 1);
    fixture_put_call(fixture, 2002, CUNEI_FUNCTION_CLASS_END, CUNEI_PHASE_LEAVE);
    fixture_put(fixture, 2003, 1024, CUNEI_PHASE_LEAVE);
    put_packet(out, 1, fixture, true);
    fixture_packet_begin(fixture, 0, 2, 3000);
    put_others(fixture, 3001);
    fixture_put(fixture, 3002, 1024, CUNEI_PHASE_LEAVE);
    put_packet(out, 1, fixture, true);
}

/* User events in a packet, ids as fuzz_model and fuzz_export know them.
 */
#define REGION  1027u
#define COUNTER 1028u
#define TOKENS  1029u

/* A region that floats, one that a generator suspends, a counter, a stream of tokens.
 */
static void put_user_events(struct fixture *fixture, uint64_t time)
{
    const uint64_t words[] = {
        cunei_record(time, 1024, CUNEI_PHASE_ENTER),
        cunei_record(time, REGION, CUNEI_PHASE_ENTER),
        cunei_record(time, CUNEI_CLASS_PARAMETER, CUNEI_PHASE_ENTER),
        (uint64_t)-7,
        UINT64_C(4) << 32 | CUNEI_VALUE_INT,
        UINT64_C(8) << 32 | REGION,
        0x656d616e,
        cunei_record(time, 1024, CUNEI_PHASE_LEAVE),
        cunei_record(time, 1025, CUNEI_PHASE_ENTER),
        cunei_record(time, REGION, CUNEI_PHASE_LEAVE),
        cunei_record(time, REGION, CUNEI_PHASE_ENTER),
        cunei_record(time, REGION, CUNEI_PHASE_YIELD),
        cunei_record(time, 1025, CUNEI_PHASE_YIELD),
        cunei_record(time, CUNEI_CLASS_COUNTER, CUNEI_PHASE_ENTER),
        40,
        40,
        COUNTER,
        cunei_record(time, CUNEI_CLASS_COUNTER, CUNEI_PHASE_RESUME),
        UINT64_C(0x3ff0) << 48,
        UINT64_C(0x7ff0) << 48,
        UINT64_C(3) << 32 | COUNTER,
        cunei_record(time, CUNEI_CLASS_TOKEN, CUNEI_PHASE_ENTER),
        1,
        TOKENS,
        cunei_record(time, CUNEI_CLASS_TOKEN, CUNEI_PHASE_RESUME),
        1,
        UINT64_C(2) << 32 | TOKENS,
        cunei_record(time, CUNEI_CLASS_TOKEN, CUNEI_PHASE_LEAVE),
        1,
        TOKENS,
        cunei_record(time, 1025, CUNEI_PHASE_RESUME),
        cunei_record(time, REGION, CUNEI_PHASE_RESUME),
        cunei_record(time, REGION, CUNEI_PHASE_LEAVE),
        cunei_record(time, CUNEI_CLASS_MARK, CUNEI_PHASE_ENTER),
        0,
        UINT64_C(4) << 32 | CUNEI_VALUE_ERROR,
        UINT64_C(8) << 32,
        0x313d656d616e,
    };

    fixture_put_words(fixture, time, words, sizeof(words) / sizeof(words[0]));
}

/* A pause, a function that a budget demotes, a burst, and what it is taken to do. */
static void put_switched(struct fixture *fixture, uint64_t time)
{
    const uint64_t words[] = {
        cunei_record(time, CUNEI_CLASS_GAP, CUNEI_PHASE_ENTER),
        0,
        cunei_record(time, CUNEI_CLASS_GAP, CUNEI_PHASE_LEAVE),
        0,
        cunei_record(time, CUNEI_CLASS_DEMOTE, CUNEI_PHASE_ENTER),
        (uint64_t)CUNEI_LEVEL_COUNTED << 32 | 1024,
        cunei_record(time, CUNEI_CLASS_DEMOTE, CUNEI_PHASE_RESUME),
        0,
        cunei_record(time, 1024, CUNEI_PHASE_ENTER),
        cunei_record(time, 1024, CUNEI_PHASE_LEAVE),
        cunei_record(time, CUNEI_CLASS_DEMOTE, CUNEI_PHASE_YIELD),
        0,
        cunei_record(time, CUNEI_CLASS_SAMPLE, CUNEI_PHASE_ENTER),
        1024,
        1000,
        300,
        0,
        200,
        250,
        3,
        20,
        UINT64_C(1) << 32 | 5000,
        cunei_record(time, CUNEI_CLASS_SAMPLE, CUNEI_PHASE_LEAVE),
        UINT64_C(1025) << 32 | 1024,
        1025,
        300,
        0,
        200,
        250,
        3,
        20,
        UINT64_C(1) << 32 | 5000,
        cunei_record(time, CUNEI_CLASS_DEMOTE, CUNEI_PHASE_LEAVE),
        1024,
    };

    fixture_put_words(fixture, time, words, sizeof(words) / sizeof(words[0]));
}

/* Two packets, of which the second begins with a region among what is open. */
static void make_user_events(struct fixture *fixture)
{
    const uint64_t stack[] = {cunei_record(2000, CUNEI_CLASS_STACK, 0),
                              UINT64_C(2) << 32, UINT64_C(1025) << 32 | REGION};
    struct cunei_buffer pieces = {0};

    fixture_packet_begin(fixture, 0, 0, 1000);
    put_user_events(fixture, 1001);
    fixture_put(fixture, 1002, REGION, CUNEI_PHASE_ENTER);
    put_packet(&pieces, 1, fixture, true);
    fixture_packet_begin(fixture, 0, 1, 2000);
    fixture->packet->content_bits = 8 * sizeof(struct cunei_packet);
    fixture_put_words(fixture, 2000, stack, 3);
    put_switched(fixture, 2001);
    fixture_put(fixture, 2002, 1025, CUNEI_PHASE_LEAVE);
    put_packet(&pieces, 1, fixture, true);
    save("packet", "user_events", &packets);
    save("model", "user_events", &packets);
    save("export", "user_events", &packets);
    cunei_buffer_fini(&packets);
    cunei_buffer_fini(&pieces);
}

/* An event of each class, as its fields are described. */
static void make_classes(struct fixture *fixture)
{
    struct cunei_buffer pieces = {0};

    fixture_packet_begin(fixture, 0, 0, 1000);
    for (uint32_t i = CUNEI_CLASS_STACK + 1; i < CUNEI_CLASS_COUNT; i++) {
        const struct cunei_event_class *class = cunei_event_class(i);
        if (class && class->stream == CUNEI_STREAM_EVENTS)
            fixture_put_class(fixture, 1000 + i, i, NULL);
    }
    put_packet(&pieces, 1, fixture, true);
    save("packet", "classes", &packets);
    save("model", "classes", &packets);
    save("export", "classes", &packets);
    save("trace", "classes", &pieces);
    cunei_buffer_fini(&packets);
    cunei_buffer_fini(&pieces);
}

static void put_definitions(struct cunei_buffer *out, struct fixture *fixture)
{
    fixture_packet_begin(fixture, 1, 0, 1000);
    fixture_put_define(fixture, 1000, CUNEI_FUNCTION_CLASS_END, "far");
    fixture_put_define(fixture, 1000, CUNEI_FUNCTION_CLASS_END + 1, "f\n");
    put_packet(out, 2, fixture, true);
}

static void put_live_packets(struct cunei_buffer *out, struct fixture *fixture)
{
    fixture_packet_begin(fixture, 0, 4, 5000);
    fixture_put(fixture, 5001, 1027, CUNEI_PHASE_ENTER);
    put_packet(out, 5, fixture, false);
    fixture_packet_begin(fixture, 0, 3, 4000);
    fixture_put(fixture, 4001, 1024, CUNEI_PHASE_ENTER);
    put_packet(out, 6, fixture, true);
    fixture_packet_begin(fixture, 1, 1, 3000);
    fixture_put_define(fixture, 3000, CUNEI_FUNCTION_CLASS_END + 2, "later");
    put_packet(out, 7, fixture, false);
}

/* Places of fuzz_ring.c: packets in order, around the end, and bytes over the table. */
static void make_rings(void)
{
    static const uint8_t rows[][5] = {
        {0, 0, 0, 1, 3}, {1, 1, 0, 2, 200}, {41, 0, 1, 30, 1}, {42, 0, 2, 40, 250}};
    static const uint8_t around[] = {150, 1, 1, 60, 100};
    static const uint8_t table[] = {8, 2, 2, 0, 0, 0, 0, 0, 0, 0, 255, 255};
    struct cunei_buffer out = {0};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        put_piece(&out, 0, rows[i], sizeof(rows[i]));
    save("ring", "packets", &out);
    put_piece(&out, 0, around, sizeof(around));
    save("ring", "around", &out);
    put_piece(&out, 1, table, sizeof(table));
    save("ring", "table", &out);
    cunei_buffer_fini(&out);
}

static void make_traces(struct fixture *fixture)
{
    struct cunei_buffer out = {0};

    put_events(&out, fixture);
    put_definitions(&out, fixture);
    save("trace", "ended", &out);
    save("packet", "three", &packets);
    save("model", "three", &packets);
    save("export", "three", &packets);
    cunei_buffer_fini(&packets);
    put_live(&out, fixture);
    put_live_packets(&out, fixture);
    put_tail(&out);
    save("trace", "killed", &out);
    cunei_buffer_clear(&out);
    put_live(&out, fixture);
    put_live_packets(&out, fixture);
    put_tail(&out);
    save("trace", "live", &out);
    cunei_buffer_fini(&packets);
    cunei_buffer_fini(&out);
}

static void make_texts(struct fixture *fixture)
{
    struct cunei_buffer out = {0};
    static const char session[] =
        "v=1 dir=/tmp/a%09trace freq=2794750000 max=10 startup=1 include=json "
        "exclude=re:^_ include=a:b exclude=x/y.py only=77 ccalls=1 args=a:* "
        "return=b maxrepr=20 repr=1 lines=c:* instrumenter=profile budget=50000";

    fixture_define(fixture, 1026, "a \"quoted\\\" \n name");
    put_file(&out, fixture_path(fixture, CUNEI_METADATA_NAME), SIZE_MAX);
    save("metadata", "whole", &out);
    cunei_buffer_clear(&out);
    put_line(&out, 1024);
    put_line(&out, CUNEI_FUNCTION_CLASS_END - 1);
    save("metadata", "lines", &out);
    cunei_buffer_clear(&out);
    put_file(&out, fixture_path(fixture, CUNEI_PROCESS_NAME), SIZE_MAX);
    cunei_buffer_append_text(&out, "pattern +a\npattern -b\nlost 7\nfull 1\n"
                                   "forked 1\nparent_folder host-1-0\nname Pool-1\n"
                                   "left 1\nexit_status 3\nsignal 9\ncpu_ns 5\n");
    save("process", "whole", &out);
    cunei_buffer_clear(&out);
    cunei_buffer_append_text(&out, session);
    save("session", "words", &out);
    cunei_buffer_clear(&out);
    cunei_buffer_append_text(&out, "/tmp/a trace");
    save("session", "path", &out);
    cunei_buffer_clear(&out);
    fixture_packet_begin(fixture, 1, 0, 1000);
    fixture_put_define(fixture, 1000, CUNEI_FUNCTION_CLASS_END, "far");
    fixture_put_define(fixture, 1000, CUNEI_FUNCTION_CLASS_END + 1, "f\n\"");
    cunei_buffer_append(&out, fixture->packet + 1,
                        (size_t)(fixture->packet->content_bits / 8) -
                            sizeof(*fixture->packet));
    save("define", "two", &out);
    cunei_buffer_fini(&out);
}

/* A Python's file, and the offsets alone. */
static void make_elf(void)
{
    struct cunei_buffer bytes = {0};
    struct small_elf elf;

    small_elf_init(&elf);
    cunei_buffer_append(&bytes, &elf, sizeof(elf));
    save("elf", "dynamic", &bytes);
    elf.sections[2].sh_type = SHT_SYMTAB;
    cunei_buffer_clear(&bytes);
    cunei_buffer_append(&bytes, &elf, sizeof(elf));
    save("elf", "all", &bytes);
    cunei_buffer_clear(&bytes);
    cunei_buffer_append(&bytes, elf.runtime, sizeof(elf.runtime));
    save("elf", "offsets", &bytes);
    cunei_buffer_fini(&bytes);
}

int main(int argc, char **argv)
{
    struct fixture fixture;

    if (argc != 2) {
        (void)fprintf(stderr, "usage: seeds FOLDER\n");
        return 2;
    }
    folder = argv[1];
    (void)mkdir(folder, 0755);
    fixture_init(&fixture);
    make_traces(&fixture);
    make_rings();
    make_user_events(&fixture);
    make_classes(&fixture);
    make_texts(&fixture);
    make_elf();
    fixture_fini(&fixture);
    return 0;
}
