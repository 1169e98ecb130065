// SPDX-License-Identifier: MIT
#include "trace/source_code/recorded_source.h"

#include <stddef.h>

#include "base/buffer.h"
#include "base/file_stamp.h"
#include "wire/metadata.h"
#include "wire/process.h"

void cunei_recorded_source_path(struct cunei_buffer *path,
                                const struct cunei_function *function,
                                const struct cunei_process *process)
{
    const char *directory = process ? process->directory : NULL;

    if (function->file[0] != '/' && directory)
        cunei_buffer_format(path, "%s/", directory);
    cunei_buffer_append_text(path, function->file);
}

enum cunei_source_state cunei_recorded_source_state(
    const struct cunei_function *function, const struct cunei_process *process,
    struct cunei_file_stamps *stamps)
{
    struct cunei_buffer path = {0};

    cunei_recorded_source_path(&path, function, process);
    uint64_t now = path.failed ? 0 : cunei_file_stamp_read(stamps, path.data);
    cunei_buffer_fini(&path);
    if (now == 0)
        return CUNEI_SOURCE_MISSING;
    if (function->source == 0)
        return CUNEI_SOURCE_UNKNOWN;
    return now == function->source ? CUNEI_SOURCE_SAME : CUNEI_SOURCE_CHANGED;
}
