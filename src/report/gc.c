// SPDX-License-Identifier: MIT
/* The garbage collections of a report, in JSON only; notes.c prints a summary. */
#include "report/section.h"
#include "text/json.h"

static void put_collection_facts(struct cunei_json *json,
                                 const struct cunei_gc_pauses *collections)
{
    cunei_json_number(json, "collections", cunei_gc_pauses_count(collections));
    cunei_json_open(json, "generations", '[');
    for (unsigned i = 0; i < CUNEI_GENERATIONS; i++)
        cunei_json_number(json, NULL, collections->count[i]);
    cunei_json_close(json, ']');
    cunei_json_number(json, "pause_ns", collections->pause);
    cunei_json_number(json, "max_ns", collections->pause_max);
    cunei_json_number(json, "collected", collections->collected);
    cunei_json_number(json, "uncollectable", collections->uncollectable);
}

/* Of all processes, then of each. */
static int print_json(const struct cunei_report *report, struct cunei_json *json)
{
    const struct cunei_analysis *analysis = report->analysis;

    cunei_json_open(json, "gc", '{');
    put_collection_facts(json, &analysis->collections);
    cunei_json_open(json, "processes", '[');
    for (size_t i = 0; i < analysis->process_count; i++) {
        const struct cunei_analysis_process *process = &analysis->processes[i];
        if (cunei_gc_pauses_count(&process->collections) == 0)
            continue;
        cunei_json_open(json, NULL, '{');
        cunei_json_number(json, "pid", process->process->metadata.pid);
        put_collection_facts(json, &process->collections);
        cunei_json_close(json, '}');
    }
    cunei_json_close(json, ']');
    cunei_json_close(json, '}');
    return 0;
}

const struct cunei_report_section cunei_report_section_gc = {
    .name = "gc",
    .print_json = print_json,
};
