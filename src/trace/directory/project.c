// SPDX-License-Identifier: MIT
#include "trace/directory/project.h"

#include <stdbool.h>

#include "base/pattern.h"
#include "trace/directory/trace.h"

/* Whether a function of the process is in the project. */
static bool has_own(const struct cunei_trace_process *process,
                    const struct cunei_patterns *patterns)
{
    for (uint32_t i = 0; i < process->function_count; i++) {
        const struct cunei_function *function = &process->functions[i];
        if (function->module && function->file[0] == '/' &&
            cunei_patterns_include(patterns, function->module, function->qualname,
                                   function->file))
            return true;
    }
    return false;
}

const char *cunei_project_folder(const struct cunei_trace_process *process)
{
    struct cunei_patterns patterns = {.project = process->description.project};

    if (!patterns.project ||
        cunei_patterns_add(&patterns, true, CUNEI_PATTERN_PROJECT, NULL, 0) < 0)
        return NULL;
    bool is_found = has_own(process, &patterns);
    cunei_patterns_fini(&patterns);
    return is_found ? process->description.project : NULL;
}

const char *cunei_trace_project(const struct cunei_trace *trace)
{
    const char *folder = NULL;

    for (size_t i = 0; i < trace->process_count && !folder; i++)
        folder = cunei_project_folder(&trace->processes[i]);
    return folder;
}
