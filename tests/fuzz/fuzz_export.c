// SPDX-License-Identifier: MIT
/*
 * Packets in a stream file, exported to every format: whatever they hold, each writer
 * gets along with it.  The size of an input chooses what of it is wanted.
 */
#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/export.h"
#include "fixture.h"
#include "fuzz.h"
#include "trace/trace.h"

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
    fixture_define(&fixture, 1027, "<lambda>");
    fixture_packet_begin(&fixture, 1, 0, 1000);
    fixture_put_define(&fixture, 1000, CUNEI_FUNCTION_CLASS_END, "far");
    fixture_append(&fixture);
    fixture_describe(&fixture, true);
    (void)atexit(finish);
}

static int remove_entry(const char *path, const struct stat *status, int type,
                        struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static void export_to(const struct cunei_trace *trace,
                      const struct cunei_export_format *format,
                      const struct cunei_export_options *options)
{
    struct cunei_export export = {.trace = trace, .options = options};
    char folder[sizeof(fixture.directory) + 16];
    char *text = NULL;
    size_t size = 0;

    if (format->is_folder) {
        (void)snprintf(folder, sizeof(folder), "%s-XXXXXX", fixture.directory);
        FUZZ_CHECK(mkdtemp(folder));
        export.folder = folder;
    } else {
        export.out = open_memstream(&text, &size);
        FUZZ_CHECK(export.out);
    }
    int rc = cunei_export_write(&export, format);
    FUZZ_CHECK(rc == 0 || rc == -ESRCH || rc == -ERANGE);
    FUZZ_CHECK(export.damage_count == 0 || export.damage.text[0]);
    cunei_export_fini(&export);
    if (export.out)
        FUZZ_CHECK(fclose(export.out) == 0);
    else
        FUZZ_CHECK(nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0);
    free(text);
}

static bool is_shallow(const struct cunei_trace_process *process)
{
    bool is_fine = true;

    for (size_t i = 0; i < process->stream_count; i++) {
        struct cunei_trace_reader reader;
        struct cunei_trace_packet packet;
        if (cunei_trace_reader_open(&reader, process, &process->streams[i], 0,
                                    UINT64_MAX) < 0)
            continue;
        while (cunei_trace_reader_next(&reader, &packet) > 0) {
            for (size_t at = 0; at < packet.word_count;
                 at += cunei_event_words(&packet.words[at], packet.word_count - at)) {
                uint32_t class = cunei_record_class(packet.words[at]);
                is_fine &= class != CUNEI_CLASS_STACK ||
                           (uint32_t)packet.words[at + 1] <= OMITTED_MAX;
                is_fine &= class != CUNEI_CLASS_SWITCH ||
                           (uint32_t)packet.words[at + 2] <= OMITTED_MAX;
            }
        }
        cunei_trace_reader_close(&reader);
    }
    return is_fine;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cunei_export_options options = CUNEI_EXPORT_DEFAULTS;
    struct cunei_trace trace;
    struct cunei_trace_error error;

    prepare();
    fixture_write_file(fixture_path(&fixture, "s0"), data, size);
    options.worker_count = 1 + (size / 8) % 2;
    options.names = size / 16 % 2 == 1;
    if (size / 32 % 2 == 1)
        options.from_ns = 500;
    if (size / 64 % 2 == 1)
        options.until_ns = 2000;
    if (size / 128 % 2 == 1)
        FUZZ_CHECK(cunei_patterns_add(&options.patterns, false, "a:f", NULL, 0) == 0);
    if (cunei_trace_open(&trace, fixture.directory, &error) == 0) {
        const struct cunei_export_format *format = cunei_export_formats;
        for (bool is_fine = is_shallow(&trace.processes[0]); is_fine && format->name;
             format++) {
            if (format->write)
                export_to(&trace, format, &options);
        }
        cunei_trace_close(&trace);
    }
    cunei_patterns_fini(&options.patterns);
    (void)unlink(fixture_path(&fixture, "s0"));
    return 0;
}
