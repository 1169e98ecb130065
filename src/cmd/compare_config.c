// SPDX-License-Identifier: MIT
#include "cmd/compare_config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cmd/cmd.h"
#include "trace/trace.h"

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

void cunei_compare_config_take(struct cunei_compare_config *manner, const char *path,
                               const struct cunei_trace *trace)
{
    struct cunei_buffer patterns = {0};

    manner->path = path;
    if (trace->process_count == 0)
        return;
    const struct cunei_process *process = &trace->processes[0].description;
    manner->c_calls = process->c_calls;
    manner->directory = copy(process->directory);
    manner->python = copy(process->python);
    manner->instrumenter = copy(process->instrumenter);
    for (size_t i = 0; i < process->pattern_count; i++)
        cunei_buffer_format(&patterns, "%s --%s '%s'", i > 0 ? "," : "",
                            process->patterns[i][0] == '+' ? "include" : "exclude",
                            process->patterns[i] + 1);
    manner->patterns = patterns.data;
}

void cunei_compare_config_fini(struct cunei_compare_config *manner)
{
    free(manner->directory);
    free(manner->python);
    free(manner->instrumenter);
    free(manner->patterns);
    *manner = (struct cunei_compare_config){0};
}

/* What is not known does not differ. */
static bool differs(const char *one, const char *two)
{
    return one && two && strcmp(one, two) != 0;
}

static const char *or_nothing(const char *patterns)
{
    return patterns ? patterns : " nothing left out";
}

void cunei_compare_config_say_differences(const struct cunei_compare_config *one,
                                          const struct cunei_compare_config *two)
{
    if (one->c_calls != two->c_calls)
        cunei_cmd_note("only '%s' was recorded with --c-calls: in '%s' the time of "
                       "functions in C is that of their callers",
                       one->c_calls ? one->path : two->path,
                       one->c_calls ? two->path : one->path);
    if (differs(one->instrumenter, two->instrumenter))
        cunei_cmd_note("'%s' was recorded by %s, '%s' by %s: they do not cost the same",
                       one->path, one->instrumenter, two->path, two->instrumenter);
    if (differs(one->python, two->python))
        cunei_cmd_note("'%s' ran in %s, '%s' in %s", one->path, one->python, two->path,
                       two->python);
    if (strcmp(or_nothing(one->patterns), or_nothing(two->patterns)) != 0)
        cunei_cmd_note("'%s' was recorded with%s, '%s' with%s: the time of what is "
                       "left out is that of its callers",
                       one->path, or_nothing(one->patterns), two->path,
                       or_nothing(two->patterns));
}

void cunei_compare_config_say_beside_prof(const struct cunei_compare_config *manner)
{
    if (!manner->c_calls)
        cunei_cmd_note("'%s' was recorded without --c-calls, which cProfile has: in it "
                       "the time of functions in C is that of their callers",
                       manner->path);
    if (manner->patterns)
        cunei_cmd_note("'%s' was recorded with%s: the time of what is left out is that "
                       "of its callers",
                       manner->path, manner->patterns);
}
