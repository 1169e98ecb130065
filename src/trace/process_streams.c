// SPDX-License-Identifier: MIT
#include "trace/process_streams.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vector.h"
#include "trace/file.h"
#include "trace/process.h"

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
    for (unsigned i = 0; i < 2; i++) {
        if (stream->live[i] && stream->live[i]->sequence <= last) {
            free(stream->live[i]);
            stream->live[i] = NULL;
        }
    }
    if (!stream->live[0]) {
        stream->live[0] = stream->live[1];
        stream->live[1] = NULL;
    }
}
