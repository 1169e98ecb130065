// SPDX-License-Identifier: MIT
#include "trace/process/process.h"

#include <string.h>

const char *cunei_trace_stream_name(const struct cunei_trace_stream *stream)
{
    const char *slash = strrchr(stream->path, '/');
    return slash ? slash + 1 : stream->path;
}

const char *cunei_trace_folder(const struct cunei_trace_process *process)
{
    const char *slash = strrchr(process->path, '/');
    return slash && slash[1] ? slash + 1 : process->path;
}

const struct cunei_function *cunei_trace_function(
    const struct cunei_trace_process *process, uint32_t id)
{
    uint32_t index = id - CUNEI_FUNCTION_FIRST;

    if (index >= process->function_count || !process->functions[index].module)
        return NULL;
    return &process->functions[index];
}
