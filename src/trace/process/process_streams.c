// SPDX-License-Identifier: MIT
#include "trace/process/process_streams.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "trace/process/file.h"
#include "trace/process/process.h"

int cunei_process_streams_add(struct cunei_trace_process *process, uint64_t number,
                              struct cunei_trace_stream **stream)
{
    char name[32];

    for (size_t i = 0; i < process->stream_count; i++) {
        *stream = &process->streams[i];
        if ((*stream)->number == number)
            return 0;
    }
    if (!CUNEI_VECTOR_RESERVE_ONE(process->streams, process->stream_count))
        return -ENOMEM;
    (void)snprintf(name, sizeof(name), "s%" PRIu64, number);
    char *path = cunei_trace_path(process->path, name);
    if (!path)
        return -ENOMEM;
    *stream = &process->streams[process->stream_count++];
    **stream = (struct cunei_trace_stream){.path = path, .number = number};
    return 0;
}

void cunei_process_streams_drop_written(struct cunei_trace_stream *stream,
                                        uint64_t last)
{
    struct cunei_trace_packets *live = &stream->live;
    size_t written = 0;

    while (written < live->count && live->items[written]->sequence <= last)
        free(live->items[written++]);
    live->count -= written;
    if (written > 0)
        memmove(live->items, live->items + written, live->count * sizeof(void *));
}
