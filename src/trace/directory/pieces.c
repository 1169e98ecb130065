// SPDX-License-Identifier: MIT
#include "trace/directory/pieces.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "trace/directory/trace.h"
#include "trace/packet/stream_split.h"

int cunei_trace_pieces_add(struct cunei_trace_pieces *pieces,
                           const struct cunei_trace_process *process, size_t index,
                           const struct cunei_trace_stream *stream,
                           uint64_t target_bytes)
{
    static const uint64_t whole = 0;
    uint64_t *offsets = NULL;
    size_t count = 0;

    int rc = cunei_trace_split(process, stream, target_bytes, &offsets, &count);
    const uint64_t *begins = rc < 0 || count == 0 ? &whole : offsets;
    count = begins == &whole ? 1 : count;
    bool has_room =
        CUNEI_VECTOR_RESERVE(pieces->items, pieces->capacity, pieces->count + count);
    for (size_t i = 0; has_room && i < count; i++)
        pieces->items[pieces->count++] = (struct cunei_trace_piece){
            .process = index,
            .stream = stream,
            .begin = begins[i],
            .end = i + 1 < count ? begins[i + 1] : UINT64_MAX,
        };
    free(offsets);
    return has_room ? 0 : -ENOMEM;
}

void cunei_trace_pieces_fini(struct cunei_trace_pieces *pieces)
{
    free(pieces->items);
    *pieces = (struct cunei_trace_pieces){0};
}
