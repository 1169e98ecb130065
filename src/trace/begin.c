// SPDX-License-Identifier: MIT
/* When a trace begins. */
#include "trace/trace.h"

/* The wall clock of the first packet of a stream; UINT64_MAX: it has none. */
static uint64_t stream_begin_ns(const struct cunei_trace_process *process,
                                const struct cunei_trace_stream *stream)
{
    struct cunei_trace_reader reader;
    struct cunei_trace_packet packet;
    uint64_t begin_ns = UINT64_MAX;

    if (cunei_trace_reader_open(&reader, process, stream, 0, UINT64_MAX) < 0)
        return begin_ns;
    if (cunei_trace_reader_next(&reader, &packet) > 0 && packet.word_count > 0)
        begin_ns = cunei_metadata_wall_ns(
            &process->metadata,
            cunei_record_time(packet.words[0], packet.head->timestamp_begin));
    cunei_trace_reader_close(&reader);
    return begin_ns;
}

uint64_t cunei_trace_begin_ns(const struct cunei_trace *trace)
{
    uint64_t begin_ns = UINT64_MAX;

    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        for (size_t j = 0; j < process->stream_count; j++) {
            if (process->streams[j].stream_class != CUNEI_STREAM_EVENTS)
                continue;
            uint64_t ns = stream_begin_ns(process, &process->streams[j]);
            begin_ns = ns < begin_ns ? ns : begin_ns;
        }
    }
    return begin_ns;
}
