// SPDX-License-Identifier: MIT
#include "analysis/analysis.h"

#include <stdlib.h>

#include "model/facts/call_edges.h"
#include "model/facts/call_tree.h"
#include "trace/directory/project.h"

void cunei_analysis_fini(struct cunei_analysis *analysis)
{
    for (uint32_t i = 0; analysis->facts && i < analysis->functions.count; i++)
        cunei_histogram_fini(&analysis->facts[i].histogram);
    free(analysis->facts);
    cunei_functions_fini(&analysis->functions);
    for (size_t i = 0; i < analysis->thread_count; i++)
        free(analysis->threads[i].open);
    free(analysis->threads);
    for (size_t i = 0; i < analysis->task_count; i++)
        free(analysis->tasks[i].name);
    free(analysis->tasks);
    cunei_exceptions_fini(&analysis->exceptions);
    cunei_lines_fini(&analysis->lines);
    cunei_user_facts_fini(&analysis->user_facts);
    free(analysis->processes);
    cunei_tree_free(analysis->tree);
    cunei_edges_free(analysis->edges);
    *analysis = (struct cunei_analysis){0};
}

const char *cunei_analysis_project(const struct cunei_analysis *analysis)
{
    const char *folder = NULL;

    for (size_t i = 0; i < analysis->process_count && !folder; i++)
        folder = cunei_project_folder(analysis->processes[i].process);
    return folder;
}

uint64_t cunei_analysis_duration_ns(const struct cunei_analysis *analysis)
{
    return analysis->end_ns > analysis->begin_ns ? analysis->end_ns - analysis->begin_ns
                                                 : 0;
}
