// SPDX-License-Identifier: MIT
#include "export/perfetto/tracks.h"

#include <string.h>

#include "export/encoder.h"
#include "export/export.h"
#include "export/perfetto/fields.h"
#include "export/perfetto/sequence.h"
#include "export/protobuf.h"
#include "text/names.h"

enum kind {
    OF_PROCESS,
    OF_THREAD,
    OF_TASK,
    OF_COUNTER,
};

#define KIND_SHIFT    36u
#define PROCESS_SHIFT 40u

static uint64_t track_of(const struct cunei_encoding *encoding, enum kind kind,
                         uint64_t number)
{
    size_t process = (size_t)(encoding->process - encoding->export->trace->processes);

    return (uint64_t)(process + 1) << PROCESS_SHIFT | (uint64_t)kind << KIND_SHIFT |
           (number & ((UINT64_C(1) << KIND_SHIFT) - 1));
}

uint64_t cunei_perfetto_thread_track(const struct cunei_encoding *encoding,
                                     uint32_t thread)
{
    return track_of(encoding, OF_THREAD, thread);
}

uint64_t cunei_perfetto_counter_track(const struct cunei_encoding *encoding,
                                      uint32_t counter)
{
    return track_of(encoding, OF_COUNTER, counter);
}

uint64_t cunei_perfetto_task_track(const struct cunei_encoding *encoding, uint64_t task)
{
    return track_of(encoding, OF_TASK, task);
}

void cunei_perfetto_define_process(struct cunei_encoding *encoding)
{
    const struct cunei_process *described = &encoding->process->description;
    const struct cunei_perfetto_state *state = encoding->state;
    struct cunei_buffer *out = &encoding->out;
    struct cunei_buffer name = {0};

    cunei_format_process(&name, described);
    size_t packet = cunei_perfetto_packet(encoding);
    size_t track = cunei_proto_open(out, PACKET_TRACK);
    cunei_proto_number(out, TRACK_UUID, track_of(encoding, OF_PROCESS, 0));
    size_t process = cunei_proto_open(out, TRACK_PROCESS);
    cunei_proto_number(out, PROCESS_PID, state->pid);
    for (size_t i = 0; i < described->argument_count; i++)
        cunei_perfetto_name(out, PROCESS_CMDLINE, described->arguments[i],
                            strlen(described->arguments[i]));
    cunei_perfetto_name(out, PROCESS_NAME, name.data, name.size);
    cunei_proto_close(out, process);
    cunei_proto_close(out, track);
    cunei_proto_close(out, packet);
    cunei_buffer_fini(&name);
}

void cunei_perfetto_define_thread(struct cunei_encoding *encoding, const char *name,
                                  size_t size)
{
    const struct cunei_perfetto_state *state = encoding->state;
    struct cunei_buffer *out = &encoding->out;

    size_t packet = cunei_perfetto_packet(encoding);
    size_t track = cunei_proto_open(out, PACKET_TRACK);
    cunei_proto_number(out, TRACK_UUID, state->track);
    cunei_proto_number(out, TRACK_PARENT, track_of(encoding, OF_PROCESS, 0));
    size_t thread = cunei_proto_open(out, TRACK_THREAD);
    cunei_proto_number(out, THREAD_PID, state->pid);
    cunei_proto_number(out, THREAD_TID, state->tid);
    cunei_perfetto_name(out, THREAD_NAME, name, size);
    cunei_proto_close(out, thread);
    cunei_proto_close(out, track);
    cunei_proto_close(out, packet);
}

void cunei_perfetto_define_task(struct cunei_encoding *encoding, uint64_t task,
                                const char *name, size_t size)
{
    struct cunei_buffer *out = &encoding->out;

    size_t packet = cunei_perfetto_packet(encoding);
    size_t track = cunei_proto_open(out, PACKET_TRACK);
    cunei_proto_number(out, TRACK_UUID, cunei_perfetto_task_track(encoding, task));
    cunei_proto_number(out, TRACK_PARENT, track_of(encoding, OF_PROCESS, 0));
    cunei_perfetto_name(out, TRACK_NAME, name, size);
    cunei_proto_close(out, track);
    cunei_proto_close(out, packet);
}

void cunei_perfetto_define_counter(struct cunei_encoding *encoding, uint32_t counter)
{
    const struct cunei_function *names =
        cunei_trace_function(encoding->process, counter);
    const char *name = names ? names->qualname : "?";
    struct cunei_buffer *out = &encoding->out;

    size_t packet = cunei_perfetto_packet(encoding);
    size_t track = cunei_proto_open(out, PACKET_TRACK);
    cunei_proto_number(out, TRACK_UUID,
                       cunei_perfetto_counter_track(encoding, counter));
    cunei_proto_number(out, TRACK_PARENT, track_of(encoding, OF_PROCESS, 0));
    cunei_perfetto_name(out, TRACK_NAME, name, strlen(name));
    cunei_proto_close(out, cunei_proto_open(out, TRACK_COUNTER));
    cunei_proto_close(out, track);
    cunei_proto_close(out, packet);
}
