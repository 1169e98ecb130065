// SPDX-License-Identifier: MIT
#include "scratch.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rt/clock.h"
#include "rt/recorder.h"

void scratch_make(struct scratch *scratch)
{
    *scratch = (struct scratch){0};
    (void)snprintf(scratch->directory, sizeof(scratch->directory),
                   "/tmp/cunei-scratch-XXXXXX");
    assert_non_null(mkdtemp(scratch->directory));
}

uint32_t scratch_define(const char *qualname)
{
    struct cunei_function function = {
        .line = 7, .module = "m", .qualname = qualname, .file = "m.py"};
    return cunei_recorder_define(&function);
}

void scratch_start(struct scratch *scratch)
{
    struct cunei_process process = {0};
    struct cunei_recorder_options options = {.directory = scratch->directory,
                                             .frequency = SCRATCH_FREQUENCY,
                                             .max_bytes = scratch->max_bytes,
                                             .keep = scratch->keep,
                                             .hooks = {.poked = scratch->poked,
                                                       .alarmed = scratch->alarmed,
                                                       .stack = scratch->stack,
                                                       .name = scratch->name}};

    assert_int_equal(cunei_recorder_start(&options, &process), 0);
    cunei_process_fini(&process);
    for (uint32_t i = 0; i < SCRATCH_FUNCTIONS; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "f%u", i);
        uint32_t id = scratch_define(name);
        if (i == 0)
            scratch->first = id;
        assert_int_equal(id, scratch->first + i);
    }
}

static void remove_folder(const char *path, int depth)
{
    char below[512];

    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        (void)snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
        if (unlink(below) < 0 && depth > 0)
            remove_folder(below, depth - 1);
    }
    closedir(folder);
    (void)rmdir(path);
}

void scratch_remove(struct scratch *scratch)
{
    remove_folder(scratch->directory, 1);
}

struct scratch *scratch_new(void)
{
    struct scratch *scratch = malloc(sizeof(*scratch));

    assert_non_null(scratch);
    scratch_make(scratch);
    return scratch;
}

int scratch_set_up(void **state)
{
    *state = scratch_new();
    scratch_start(*state);
    return 0;
}

int scratch_tear_down(void **state)
{
    (void)cunei_recorder_stop();
    scratch_remove(*state);
    free(*state);
    return 0;
}

void scratch_put(const struct scratch *scratch, uint64_t i)
{
    struct cunei_stream *stream = cunei_stream_own;
    uint64_t now = cunei_clock_read();

    if (!cunei_stream_has_room(stream, now, 1))
        stream = cunei_recorder_room(&now, 1, false);
    if (stream)
        cunei_stream_put(
            stream, now,
            cunei_record(now, scratch->first + (uint32_t)(i % SCRATCH_FUNCTIONS),
                         CUNEI_PHASE_ENTER));
}

void scratch_open(const struct scratch *scratch, struct cunei_trace *trace)
{
    struct cunei_trace_error error;

    int rc = cunei_trace_open(trace, scratch->directory, &error);
    if (rc < 0)
        fail_msg("%s (%d)", error.text, rc);
}

static uint64_t count_packet(const struct scratch *scratch,
                             const struct cunei_trace_packet *packet, uint64_t *counts,
                             size_t max)
{
    uint32_t thread = packet->head->thread;
    uint64_t before;

    assert_in_range(thread, 1, max - 1);
    before = counts[thread];
    for (size_t at = 0; at < packet->word_count;
         at += cunei_event_words(&packet->words[at], packet->word_count - at)) {
        uint32_t class = cunei_record_class(packet->words[at]);
        if (class == CUNEI_CLASS_STACK || class == CUNEI_CLASS_UNWIND)
            continue;
        uint32_t wanted =
            scratch->first + (uint32_t)(counts[thread] % SCRATCH_FUNCTIONS);
        if (class != wanted)
            fail_msg("event %lu of thread %u: got class %u, wanted %u",
                     (unsigned long)counts[thread], thread, class, wanted);
        counts[thread]++;
    }
    return counts[thread] - before;
}

static uint64_t count_stream(const struct scratch *scratch,
                             const struct cunei_trace_process *process,
                             const struct cunei_trace_stream *stream, uint64_t *counts,
                             size_t max)
{
    struct cunei_trace_reader *reader =
        cunei_trace_reader_open(process, stream, 0, UINT64_MAX);
    struct cunei_trace_packet packet;
    uint64_t count = 0;
    int rc;

    assert_non_null(reader);
    while ((rc = cunei_trace_reader_next(reader, &packet)) > 0)
        count += count_packet(scratch, &packet, counts, max);
    if (rc < 0)
        fail_msg("%s (%d)", cunei_trace_reader_error(reader)->text, rc);
    cunei_trace_reader_close(reader);
    return count;
}

uint64_t scratch_count(const struct scratch *scratch, uint64_t *counts, size_t max)
{
    struct cunei_trace trace;
    uint64_t count = 0;

    memset(counts, 0, max * sizeof(*counts));
    scratch_open(scratch, &trace);
    assert_int_equal(trace.process_count, 1);
    const struct cunei_trace_process *process = &trace.processes[0];
    for (size_t i = 0; i < process->stream_count; i++) {
        if (process->streams[i].stream_class == CUNEI_STREAM_EVENTS)
            count += count_stream(scratch, process, &process->streams[i], counts, max);
    }
    cunei_trace_close(&trace);
    return count;
}
