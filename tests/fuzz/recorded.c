// SPDX-License-Identifier: MIT
#include "recorded.h"

#include <unistd.h>

#include "fixture.h"
#include "fuzz.h"

/* A million frames that a stack leaves out are allowed, but take their time. */
#define OMITTED_MAX 100u

static struct fixture fixture;

static void finish(void)
{
    fixture_fini(&fixture);
}

static void prepare(void)
{
    if (fixture.packet)
        return;
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 0);
    fixture_init(&fixture);
    fixture_define(&fixture, 1026, "h \"quoted\" \n name");
    fixture_define_user_name(&fixture, 1027, "a region", CUNEI_REGION_FILE);
    fixture_define_user_name(&fixture, 1028, "a \"counter\"", CUNEI_COUNTER_FILE);
    fixture_define_user_name(&fixture, 1029, "tokens\n", CUNEI_TOKENS_FILE);
    fixture_define(&fixture, 1030, "<lambda>");
    fixture_packet_begin(&fixture, 1, 0, 1000);
    fixture_put_define(&fixture, 1000, CUNEI_FUNCTION_CLASS_END, "far");
    fixture_append(&fixture);
    fixture_describe(&fixture, true);
    (void)atexit(finish);
}

static bool is_shallow(const struct cunei_trace_process *process)
{
    bool is_fine = true;

    for (size_t i = 0; i < process->stream_count; i++) {
        struct cunei_trace_reader *reader =
            cunei_trace_reader_open(process, &process->streams[i], 0, UINT64_MAX);
        struct cunei_trace_packet packet;
        while (reader && cunei_trace_reader_next(reader, &packet) > 0) {
            for (size_t at = 0; at < packet.word_count;
                 at += cunei_event_words(&packet.words[at], packet.word_count - at)) {
                uint32_t class = cunei_record_class(packet.words[at]);
                is_fine &= class != CUNEI_CLASS_STACK ||
                           (uint32_t)packet.words[at + 1] <= OMITTED_MAX;
                is_fine &= class != CUNEI_CLASS_SWITCH ||
                           (uint32_t)packet.words[at + 2] <= OMITTED_MAX;
            }
        }
        cunei_trace_reader_close(reader);
    }
    return is_fine;
}

bool recorded_open(struct cunei_trace *trace, const uint8_t *data, size_t size)
{
    struct cunei_trace_error error;

    prepare();
    fixture_write_file(fixture_path(&fixture, "s0"), data, size);
    if (cunei_trace_open(trace, fixture.directory, &error) == 0) {
        if (is_shallow(&trace->processes[0]))
            return true;
        cunei_trace_close(trace);
    }
    (void)unlink(fixture_path(&fixture, "s0"));
    return false;
}

void recorded_close(struct cunei_trace *trace)
{
    cunei_trace_close(trace);
    (void)unlink(fixture_path(&fixture, "s0"));
}

const char *recorded_directory(void)
{
    return fixture.directory;
}
