// SPDX-License-Identifier: MIT
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"

/* The tests can do nothing without their files. */
static void must(bool good, const char *what)
{
    if (!good) {
        perror(what);
        abort();
    }
}

const char *fixture_path(struct fixture *fixture, const char *name)
{
    (void)snprintf(fixture->path, sizeof(fixture->path), "%s/%s", fixture->folder,
                   name);
    return fixture->path;
}

static void write_at(const char *path, int flags, const void *bytes, size_t size,
                     off_t offset)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
    must(fd >= 0, path);
    must(offset < 0 || lseek(fd, offset, SEEK_SET) == offset, path);
    must(write(fd, bytes, size) == (ssize_t)size, path);
    close(fd);
}

void fixture_write_file(const char *path, const void *bytes, size_t size)
{
    write_at(path, O_TRUNC, bytes, size, 0);
}

void fixture_append_file(const char *path, const void *bytes, size_t size)
{
    write_at(path, O_APPEND, bytes, size, -1);
}

void fixture_cut_file(const char *path, uint64_t size)
{
    must(truncate(path, (off_t)size) == 0, path);
}

uint64_t fixture_file_size(const char *path)
{
    struct stat file;
    must(stat(path, &file) == 0, path);
    return (uint64_t)file.st_size;
}

void fixture_add_process(struct fixture *fixture, uint32_t pid)
{
    struct cunei_buffer text = {0};

    fixture->metadata = (struct cunei_metadata){
        .uuid = {'f', 'i', 'x', 't', 'u', 'r', 'e', (uint8_t)pid},
        .pid = pid,
        .frequency = 1000000000,
        .offset_s = FIXTURE_START_S,
    };
    must(gethostname(fixture->metadata.host, sizeof(fixture->metadata.host) - 1) == 0,
         "gethostname");
    (void)snprintf(fixture->folder, sizeof(fixture->folder), "%s/host-%" PRIu32 "-0",
                   fixture->directory, pid);
    must(mkdir(fixture->folder, 0700) == 0, fixture->folder);
    cunei_metadata_format(&fixture->metadata, &text);
    fixture_write_file(fixture_path(fixture, CUNEI_METADATA_NAME), text.data,
                       text.size);
    cunei_buffer_fini(&text);
    fixture_define(fixture, 1024, "f");
    fixture_define(fixture, 1025, "g");
    fixture_describe(fixture, true);
}

void fixture_init(struct fixture *fixture)
{
    const char *parent = getenv("TMPDIR");

    *fixture = (struct fixture){.packet = calloc(1, CUNEI_PACKET_SIZE)};
    must(fixture->packet, "calloc");
    (void)snprintf(fixture->directory, sizeof(fixture->directory), "%s/cunei-XXXXXX",
                   parent && strlen(parent) < 40 ? parent : "/tmp");
    must(mkdtemp(fixture->directory), fixture->directory);
    fixture_add_process(fixture, 4711);
}

static int remove_entry(const char *path, const struct stat *stat, int flag,
                        struct FTW *walk)
{
    (void)stat;
    (void)flag;
    (void)walk;
    return remove(path);
}

void fixture_fini(struct fixture *fixture)
{
    (void)nftw(fixture->directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(fixture->packet);
    *fixture = (struct fixture){0};
}

static struct cunei_function function(uint32_t id, const char *qualname)
{
    return (struct cunei_function){
        .id = id, .line = id, .module = "a", .qualname = qualname, .file = "/x/a.py"};
}

static void define(struct fixture *fixture, const struct cunei_function *defined)
{
    struct cunei_buffer text = {0};

    cunei_metadata_format_function(defined, &text);
    fixture_append_file(fixture_path(fixture, CUNEI_METADATA_NAME), text.data,
                        text.size);
    cunei_buffer_fini(&text);
}

void fixture_define(struct fixture *fixture, uint32_t id, const char *qualname)
{
    struct cunei_function defined = function(id, qualname);
    define(fixture, &defined);
}

void fixture_define_user_name(struct fixture *fixture, uint32_t id, const char *name,
                              const char *file)
{
    const struct cunei_function defined = {id, 0, "", name, file, 0};
    define(fixture, &defined);
}

void fixture_describe(struct fixture *fixture, bool ended)
{
    struct cunei_buffer text = {0};
    char python[] = "CPython 3.13.0", app[] = "app.py";
    char *arguments[] = {app};
    struct cunei_process process = {
        .pid = fixture->metadata.pid,
        .ended = ended,
        .start_ns = FIXTURE_START_S * 1000000000 + fixture->metadata.pid,
        .end_ns = ended ? FIXTURE_START_S * 1000000000 + 1000000 : 0,
        .host = fixture->metadata.host,
        .python = python,
        .arguments = arguments,
        .argument_count = 1,
    };

    cunei_process_format(&process, &text);
    fixture_write_file(fixture_path(fixture, CUNEI_PROCESS_NAME), text.data, text.size);
    cunei_buffer_fini(&text);
}

void fixture_put_words(struct fixture *fixture, uint64_t time, const uint64_t *words,
                       size_t count)
{
    size_t size = (size_t)(fixture->packet->content_bits / 8);
    must(size + count * sizeof(*words) <= CUNEI_PACKET_SIZE, "a packet too full");
    memcpy((char *)fixture->packet + size, words, count * sizeof(*words));
    fixture->packet->content_bits += 64 * count;
    fixture->last = time;
}

void fixture_packet_begin(struct fixture *fixture, uint64_t stream, uint64_t sequence,
                          uint64_t begin)
{
    const uint64_t stack[] = {cunei_record(begin, CUNEI_CLASS_STACK, 0), 0};

    *fixture->packet = (struct cunei_packet){
        .magic = CUNEI_PACKET_MAGIC,
        .stream = stream,
        .vpid = fixture->metadata.pid,
        .vtid = fixture->metadata.pid + (uint32_t)stream,
        .thread_name = "MainThread",
        .timestamp_begin = begin,
        .timestamp_end = begin + CUNEI_PACKET_OPEN_SPAN,
        .content_bits = 8 * sizeof(*fixture->packet),
        .packet_bits = UINT64_C(8) * CUNEI_PACKET_SIZE,
        .sequence = sequence,
        .monotonic_ns = begin + 5000,
        .thread = 1 + (uint32_t)stream,
    };
    memcpy(fixture->packet->uuid, fixture->metadata.uuid, 16);
    fixture_put_words(fixture, begin, stack, 2);
}

void fixture_put(struct fixture *fixture, uint64_t time, uint32_t class,
                 enum cunei_phase phase)
{
    uint64_t record = cunei_record(time, class, phase);
    fixture_put_words(fixture, time, &record, 1);
}

void fixture_put_call(struct fixture *fixture, uint64_t time, uint32_t called,
                      enum cunei_phase phase)
{
    const uint64_t words[] = {cunei_record(time, CUNEI_CLASS_CALL, phase), called};
    fixture_put_words(fixture, time, words, 2);
}

void fixture_put_unwind(struct fixture *fixture, uint64_t time, uint64_t run)
{
    const uint64_t words[] = {cunei_record(time, CUNEI_CLASS_UNWIND, 0), run};
    fixture_put_words(fixture, time, words, 2);
}

/* A valid value for a field, as `text`s of 8 bytes, `a=` and NULs. */
static uint64_t example(const struct cunei_field *field)
{
    if (field->kind >= CUNEI_FIELD_FUNCTION && field->kind <= CUNEI_FIELD_FUNCTIONS)
        return CUNEI_FUNCTION_FIRST;
    if (strcmp(field->name, "name_length") == 0)
        return 1;
    if (field->name[0] && cunei_field_is_array(field + 1))
        return 8 / field[1].size;
    return field->kind == CUNEI_FIELD_VALUE_KIND ? CUNEI_VALUE_TEXT : 1;
}

void fixture_put_class(struct fixture *fixture, uint64_t time, uint32_t number,
                       const struct cunei_field *wrong)
{
    const struct cunei_event_class *class = cunei_event_class(number);
    uint64_t words[32] = {cunei_record(time, number, CUNEI_PHASE_LEAVE)};
    char *at = (char *)(words + 1);

    for (const struct cunei_field *field = class->fields; field->name;
         at += field->size, field++) {
        uint64_t value = field == wrong ? CUNEI_FUNCTION_END - 1 : example(field);
        if (field->kind == CUNEI_FIELD_TEXT)
            at[0] = 'a', at[1] = '=';
        else
            memcpy(at, &value, field->size);
        if (field->kind == CUNEI_FIELD_FUNCTIONS)
            memcpy(at + field->size, &value, field->size);
    }
    fixture_put_words(fixture, time, words, class->words + (class->per_word ? 1u : 0u));
}

void fixture_put_define(struct fixture *fixture, uint64_t time, uint32_t id,
                        const char *qualname)
{
    struct cunei_buffer text = {0};
    struct cunei_function defined = function(id, qualname);

    if (fixture->packet->stream_class != CUNEI_STREAM_DEFINITIONS) {
        /* The stream is of definitions only: the stack that was put first goes. */
        fixture->packet->stream_class = CUNEI_STREAM_DEFINITIONS;
        fixture->packet->content_bits = 8 * sizeof(*fixture->packet);
    }
    cunei_metadata_format_define(&defined, time, &text);
    fixture_put_words(fixture, time, (const void *)text.data, text.size / 8);
    cunei_buffer_fini(&text);
}

void fixture_append(struct fixture *fixture)
{
    struct cunei_packet *packet = fixture->packet;
    char name[32];

    packet->timestamp_end = fixture->last;
    packet->packet_bits = packet->content_bits;
    (void)snprintf(name, sizeof(name), "s%" PRIu64, packet->stream);
    fixture_append_file(fixture_path(fixture, name), packet,
                        (size_t)(packet->packet_bits / 8));
}

void fixture_append_calls(struct fixture *fixture, uint64_t sequence, uint64_t begin,
                          size_t calls)
{
    fixture_packet_begin(fixture, 0, sequence, begin);
    for (size_t i = 0; i < calls; i++) {
        fixture_put(fixture, begin + 2 * i, 1024, CUNEI_PHASE_ENTER);
        fixture_put(fixture, begin + 2 * i + 1, 1024, CUNEI_PHASE_LEAVE);
    }
    fixture_append(fixture);
}

static void read_boot_id(uint8_t id[16])
{
    char text[37] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    must(fd >= 0 && read(fd, text, 36) == 36, "boot_id");
    close(fd);
    const char *at = text;
    for (int i = 0; i < 16; i++, at += 2) {
        char digits[3] = {0};
        at += *at == '-';
        memcpy(digits, at, 2);
        id[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
}

void fixture_live_create(struct fixture *fixture, uint32_t stream_count, bool alive)
{
    struct cunei_live live = {
        .magic = CUNEI_LIVE_MAGIC,
        .version = CUNEI_WIRE_VERSION,
        .packet_size = CUNEI_PACKET_SIZE,
        .pid = alive ? (uint32_t)getpid() : fixture->metadata.pid,
        .state = CUNEI_LIVE_RECORDING,
        .stream_count = stream_count,
    };
    const char *path = fixture_path(fixture, CUNEI_LIVE_NAME);

    memcpy(live.uuid, fixture->metadata.uuid, 16);
    if (alive)
        read_boot_id(live.boot_id);
    fixture_write_file(path, &live, sizeof(live));
    fixture_cut_file(path, CUNEI_LIVE_HEAD_SIZE +
                               (uint64_t)stream_count * CUNEI_LIVE_STREAM_SIZE);
    fixture_describe(fixture, false);
}

void fixture_live_store(struct fixture *fixture, unsigned buffer)
{
    fixture_live_store_at(fixture, buffer, 0);
}

void fixture_live_store_at(struct fixture *fixture, unsigned buffer, uint64_t offset)
{
    const struct cunei_packet *packet = fixture->packet;
    const struct cunei_live_stream slot = {.stream_class = packet->stream_class};
    const char *path = fixture_path(fixture, CUNEI_LIVE_NAME);

    write_at(path, 0, &slot, sizeof(slot),
             (off_t)(sizeof(struct cunei_live) + packet->stream * sizeof(slot)));
    write_at(path, 0, packet, (size_t)(packet->content_bits / 8),
             (off_t)(CUNEI_LIVE_HEAD_SIZE + packet->stream * CUNEI_LIVE_STREAM_SIZE +
                     (uint64_t)buffer * CUNEI_PACKET_SIZE + offset));
}

void fixture_live_count(struct fixture *fixture, enum cunei_live_counter counter,
                        uint64_t count)
{
    write_at(fixture_path(fixture, CUNEI_LIVE_NAME), 0, &count, sizeof(count),
             (off_t)(offsetof(struct cunei_live, counters) +
                     (size_t)counter * sizeof(count)));
}
