// SPDX-License-Identifier: MIT
#include "export/stream_encoding.h"

#include <errno.h>

#include "export/encoder.h"
#include "export/export.h"
#include "export/selection.h"

static void count_packet(struct cunei_stream_encoding *stream,
                         const struct cunei_packet *packet)
{
    const struct cunei_packet_place place = {packet->sequence,
                                             packet->events_discarded};

    if (stream->has_packets)
        cunei_packet_gap_add(&stream->gap, stream->last, place);
    else
        stream->first = place;
    stream->has_packets = true;
    stream->last = place;
}

/* `watched`: the export whose progress is shown, or NULL. */
static int read_packets(struct cunei_stream_encoding *stream,
                        const struct cunei_selection *selection,
                        struct cunei_encoding *encoding,
                        struct cunei_trace_reader *reader, struct cunei_export *watched)
{
    struct cunei_trace_packet packet;
    int rc = 0, read_rc = 0;

    while (rc == 0 && (read_rc = cunei_trace_reader_next(reader, &packet)) > 0) {
        uint64_t bytes =
            sizeof(*packet.head) + packet.word_count * sizeof(*packet.words);
        stream->bytes += bytes;
        count_packet(stream, packet.head);
        rc = cunei_selection_apply(selection, &stream->cut, &packet);
        if (rc == 0)
            rc = cunei_spans_packet(stream->spans, packet.head, packet.words,
                                    packet.word_count);
        if (rc == 0)
            rc = cunei_encoding_flush(encoding);
        if (watched)
            cunei_selection_progress(watched, bytes);
    }
    if (rc == 0 && read_rc == -ENOMEM)
        return read_rc;
    if (rc == 0 && read_rc < 0) {
        stream->is_damaged = true;
        stream->error = *cunei_trace_reader_error(reader);
    }
    return rc == 0 ? cunei_spans_end(stream->spans) : rc;
}

int cunei_stream_encoding_read(struct cunei_stream_encoding *stream,
                               const struct cunei_selection *selection,
                               struct cunei_encoding *encoding,
                               struct cunei_trace_reader *reader)
{
    return read_packets(stream, selection, encoding, reader, NULL);
}

void cunei_stream_encoding_fini(struct cunei_stream_encoding *stream)
{
    cunei_spans_free(stream->spans);
    cunei_cut_fini(&stream->cut);
}

int cunei_stream_encoding_whole(struct cunei_export *export, size_t process,
                                const struct cunei_trace_stream *from,
                                struct cunei_encoding *encoding)
{
    const struct cunei_spans_options options = {
        .methods = &cunei_encoding_methods,
        .context = encoding,
        .kinds = cunei_trace_kinds(encoding->process),
        .is_whole = true,
    };
    struct cunei_stream_encoding stream = {.spans = cunei_spans_new(&options)};
    struct cunei_trace_reader *reader = cunei_trace_reader_open(
        &export->trace->processes[process], from, 0, UINT64_MAX);
    int rc = -ENOMEM;

    if (stream.spans && reader)
        rc = read_packets(&stream, &export->selections[process], encoding, reader,
                          export);
    cunei_trace_reader_close(reader);
    if (rc == 0)
        rc = cunei_encoding_flush(encoding);
    export->counted_missing += stream.gap.missing;
    if (stream.is_damaged && export->damage_count++ == 0)
        export->damage = stream.error;
    cunei_stream_encoding_fini(&stream);
    return rc;
}

void cunei_stream_encoding_count(struct cunei_export *export,
                                 struct cunei_encoding *encoding)
{
    export->threads += encoding->threads;
    export->calls += encoding->calls;
    export->counted_lost += encoding->lost;
    encoding->threads = encoding->calls = encoding->lost = 0;
}
