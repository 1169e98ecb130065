// SPDX-License-Identifier: MIT
#include "trace/directory/trace_begin.h"

#include <errno.h>

#include "trace/directory/trace.h"
#include "trace/packet/check.h"
#include "trace/packet/packet_scan.h"

static bool has_events(const struct cunei_packet *head)
{
    return head->content_bits > sizeof(*head) * 8;
}

/*
 * The tick at which a stream's first packet begins; UINT64_MAX: it has none.  Its head
 * is enough, so that a trace begins where it did even if an event in it is damaged.
 */
static uint64_t stream_begin(const struct cunei_trace_process *process,
                             const struct cunei_trace_stream *stream)
{
    struct cunei_trace_scan scan;
    uint64_t begin = UINT64_MAX;
    int rc = 0;

    if (stream->size > 0 && cunei_trace_scan_open(&scan, process, stream) == 0) {
        while (begin == UINT64_MAX && (rc = cunei_trace_scan_next(&scan)) != 0) {
            if (rc < 0 && (rc != -EBADMSG || cunei_trace_scan_pass(&scan) < 0))
                break;
            if (rc > 0 && has_events(&scan.head))
                begin = scan.head.timestamp_begin;
        }
        cunei_trace_scan_close(&scan);
    }
    for (size_t i = 0; i < stream->live.count && begin == UINT64_MAX; i++) {
        const struct cunei_packet *head = stream->live.items[i];
        if (has_events(head) &&
            !cunei_trace_check_head(head, process->metadata.uuid, stream->number))
            begin = head->timestamp_begin;
    }
    return begin;
}

uint64_t cunei_trace_begin_ns(const struct cunei_trace *trace)
{
    uint64_t begin_ns = UINT64_MAX;

    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        for (size_t j = 0; j < process->stream_count; j++) {
            if (process->streams[j].stream_class != CUNEI_STREAM_EVENTS)
                continue;
            uint64_t begin = stream_begin(process, &process->streams[j]);
            if (begin == UINT64_MAX)
                continue;
            uint64_t ns = cunei_metadata_wall_ns(&process->metadata, begin);
            begin_ns = ns < begin_ns ? ns : begin_ns;
        }
    }
    return begin_ns;
}
