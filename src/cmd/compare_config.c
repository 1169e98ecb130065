// SPDX-License-Identifier: MIT
#include "cmd/compare_config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cmd/cmd.h"
#include "trace/directory/trace.h"

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

void cunei_compare_config_take(struct cunei_compare_config *config, const char *path,
                               const struct cunei_trace *trace)
{
    struct cunei_buffer patterns = {0};

    config->path = path;
    if (trace->process_count == 0)
        return;
    const struct cunei_process *process = &trace->processes[0].description;
    config->c_calls = process->c_calls;
    config->directory = copy(process->directory);
    config->python = copy(process->python);
    config->instrumenter = copy(process->instrumenter);
    for (size_t i = 0; i < process->pattern_count; i++)
        cunei_buffer_format(&patterns, "%s --%s '%s'", i > 0 ? "," : "",
                            process->patterns[i][0] == '+' ? "include" : "exclude",
                            process->patterns[i] + 1);
    config->patterns = patterns.data;
}

void cunei_compare_config_fini(struct cunei_compare_config *config)
{
    free(config->directory);
    free(config->python);
    free(config->instrumenter);
    free(config->patterns);
    *config = (struct cunei_compare_config){0};
}

/* Unknown values do not differ. */
static bool differs(const char *one, const char *two)
{
    return one && two && strcmp(one, two) != 0;
}

static const char *or_no_filter(const char *patterns)
{
    return patterns ? patterns : " no filter";
}

void cunei_compare_config_print_differences(const struct cunei_compare_config *one,
                                            const struct cunei_compare_config *two)
{
    if (one->c_calls != two->c_calls)
        cunei_cmd_note(
            "only '%s' was recorded with --c-calls: in '%s' C functions count as "
            "self time of their callers",
            one->c_calls ? one->path : two->path, one->c_calls ? two->path : one->path);
    if (differs(one->instrumenter, two->instrumenter))
        cunei_cmd_note("'%s' was recorded by %s, '%s' by %s: their overhead differs",
                       one->path, one->instrumenter, two->path, two->instrumenter);
    if (differs(one->python, two->python))
        cunei_cmd_note("'%s' ran with %s, '%s' with %s", one->path, one->python,
                       two->path, two->python);
    if (strcmp(or_no_filter(one->patterns), or_no_filter(two->patterns)) != 0)
        cunei_cmd_note(
            "'%s' was recorded with%s, '%s' with%s: excluded functions count "
            "as self time of their callers",
            one->path, or_no_filter(one->patterns), two->path,
            or_no_filter(two->patterns));
}

void cunei_compare_config_print_cprofile_limits(
    const struct cunei_compare_config *config)
{
    if (!config->c_calls)
        cunei_cmd_note("'%s' was recorded without --c-calls, but cProfile counts C "
                       "functions: here they count as self time of their callers",
                       config->path);
    if (config->patterns)
        cunei_cmd_note(
            "'%s' was recorded with%s: excluded functions count as self time "
            "of their callers",
            config->path, config->patterns);
}
