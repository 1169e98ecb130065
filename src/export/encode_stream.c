// SPDX-License-Identifier: MIT
/* Packets of a stream, told into one encoding. */
#include <errno.h>
#include <stdlib.h>

#include "export/encode.h"
#include "export/export.h"
#include "export/selection.h"

static void pass_packet(struct cunei_encoding_job *told, uint64_t sequence)
{
    if (!told->has_packets)
        told->first_sequence = sequence;
    else if (sequence > told->last_sequence)
        told->missing_packets += sequence - told->last_sequence - 1;
    told->has_packets = true;
    told->last_sequence = sequence;
}

int cunei_encode_packets(const struct cunei_selection *selection,
                         struct cunei_encoding_job *told,
                         struct cunei_encoding *encoding,
                         struct cunei_trace_reader *reader,
                         struct cunei_export *watched)
{
    struct cunei_trace_packet packet;
    int rc = 0, read_rc = 0;

    while (rc == 0 && (read_rc = cunei_trace_reader_next(reader, &packet)) > 0) {
        uint64_t bytes =
            sizeof(*packet.head) + packet.word_count * sizeof(*packet.words);
        told->bytes += bytes;
        pass_packet(told, packet.head->sequence);
        rc = cunei_selection_apply(selection, &told->cut, &packet);
        if (rc == 0)
            rc = cunei_spans_packet(&told->story, packet.head, packet.words,
                                    packet.word_count);
        if (rc == 0)
            rc = cunei_call_arguments_flush(encoding);
        if (watched)
            cunei_selection_progress(watched, bytes);
    }
    if (rc == 0 && read_rc == -ENOMEM)
        rc = read_rc;
    else if (rc == 0 && read_rc < 0) {
        told->is_damaged = true;
        told->error = reader->error;
    }
    return rc;
}

void cunei_encode_count(struct cunei_export *export, struct cunei_encoding *encoding)
{
    export->threads += encoding->threads;
    export->calls += encoding->calls;
    export->told_lost += encoding->lost;
    encoding->threads = encoding->calls = encoding->lost = 0;
}

int cunei_encode_stream(struct cunei_export *export, size_t process,
                        const struct cunei_trace_stream *stream,
                        struct cunei_encoding *encoding)
{
    struct cunei_encoding_job told = {
        .story = {.methods = &cunei_call_arguments_methods,
                  .context = encoding,
                  .kinds = cunei_trace_kinds(encoding->process),
                  .is_whole = true}};
    struct cunei_trace_reader reader;

    int rc = cunei_trace_reader_open(&reader, &export->trace->processes[process],
                                     stream, 0, UINT64_MAX);
    if (rc < 0)
        return rc;
    rc = cunei_encode_packets(&export->selections[process], &told, encoding, &reader,
                              export);
    cunei_trace_reader_close(&reader);
    if (rc == 0)
        rc = cunei_spans_end(&told.story);
    if (rc == 0)
        rc = cunei_call_arguments_flush(encoding);
    export->told_missing += told.missing_packets;
    if (told.is_damaged && export->damage_count++ == 0)
        export->damage = told.error;
    cunei_spans_fini(&told.story);
    cunei_cut_fini(&told.cut);
    return rc;
}

void cunei_encode_release(struct cunei_encoding *encoding)
{
    free(encoding->pending.values);
    encoding->pending.values = NULL;
}
