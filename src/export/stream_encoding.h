// SPDX-License-Identifier: MIT
/* Reads the packets of a stream, or of a piece of it, into an encoding. */
#ifndef CUNEI_EXPORT_STREAM_ENCODING_H
#define CUNEI_EXPORT_STREAM_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile/packet_gap.h"
#include "model/spans/spans.h"
#include "model/walk/packet_cut.h"
#include "trace/directory/trace.h"

struct cunei_encoding;
struct cunei_export;
struct cunei_selection;

/* Begins with zeros but for the spans. */
struct cunei_stream_encoding {
    struct cunei_spans *spans; /* owned */
    struct cunei_cut cut;
    bool is_damaged;
    struct cunei_trace_error error; /* then: where */
    uint64_t bytes;
    bool has_packets; /* from here to there: */
    struct cunei_packet_place first, last;
    struct cunei_packet_gap gap; /* between them */
};

/* Read a piece; errors as cunei_export_write. */
int cunei_stream_encoding_read(struct cunei_stream_encoding *stream,
                               const struct cunei_selection *selection,
                               struct cunei_encoding *encoding,
                               struct cunei_trace_reader *reader);
void cunei_stream_encoding_fini(struct cunei_stream_encoding *stream);

/*
 * Encode a whole stream on the calling thread, for formats that cannot be written in
 * pieces.  Several streams may go to one encoding, one after the other.
 */
int cunei_stream_encoding_whole(struct cunei_export *export, size_t process,
                                const struct cunei_trace_stream *from,
                                struct cunei_encoding *encoding);

/* Add what an encoding has counted to the export. */
void cunei_stream_encoding_count(struct cunei_export *export,
                                 struct cunei_encoding *encoding);

#endif
