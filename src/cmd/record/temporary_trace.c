// SPDX-License-Identifier: MIT
#include "cmd/record/temporary_trace.h"

#include <inttypes.h>

#include "cmd/common/message.h"
#include "cmd/record/recorded_run.h"
#include "cmd/record/trace_directory.h"

void cunei_temporary_trace_remove(const struct cunei_recorded_run *recording)
{
    uint64_t pid = 0;

    unsigned count = cunei_trace_directory_writers(recording->directory, &pid);
    if (count == 0)
        (void)cunei_trace_directory_remove(recording->directory,
                                           &recording->directory_id, false);
    else if (count == 1)
        cunei_cmd_note("process %" PRIu64
                       " is still recording, so the trace stays in '%s'; "
                       "remove it when the process has ended",
                       pid, recording->directory);
    else
        cunei_cmd_note("%u processes are still recording, such as %" PRIu64
                       ", so the trace "
                       "stays in '%s'; remove it when they have ended",
                       count, pid, recording->directory);
}
