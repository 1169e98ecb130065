// SPDX-License-Identifier: MIT
#include "cmd/info_json.h"

#include "cmd/info_causes.h"
#include "cmd/info_count.h"
#include "text/json.h"
#include "trace/process/exit_words.h"

static void put_description(struct cunei_json *json,
                            const struct cunei_trace_process *process)
{
    const struct cunei_process *description = &process->description;

    cunei_json_number(json, "pid", process->metadata.pid);
    cunei_json_text(json, "state", cunei_trace_state_word(process->state));
    cunei_json_text(json, "name", description->name);
    cunei_json_text(json, "parent_folder", description->parent_folder);
    cunei_json_text(json, "host", process->metadata.host);
    cunei_json_text(json, "python", description->python);
    cunei_json_text(json, "instrumenter", description->instrumenter);
    cunei_json_text(json, "executable", description->executable);
    cunei_json_text(json, "directory", description->directory);
    cunei_json_text(json, "folder", process->path);
    cunei_json_texts(json, "arguments", description->arguments,
                     description->argument_count);
    cunei_json_texts(json, "patterns", description->patterns,
                     description->pattern_count);
    cunei_info_causes_put_json(json, description);
}

void cunei_info_json_put(struct cunei_json *json,
                         const struct cunei_trace_process *process,
                         const struct cunei_info_count *inventory)
{
    const struct cunei_process *description = &process->description;
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"parent", description->parent},
        {"start_ns", cunei_info_count_start_ns(inventory, process)},
        {"duration_ns", cunei_info_count_duration_ns(inventory, process)},
        {"threads", inventory->threads},
        {"streams", inventory->streams},
        {"packets", inventory->packets},
        {"events", inventory->events},
        {"budget_millionths", description->budget},
        {"keep_bytes", description->keep},
        {"keep_ns", description->keep_ns},
        {"complete_ns", description->complete_ns},
        {"snapshot_ns", description->snapshot_ns},
        {"functions", inventory->functions},
        {"bytes", inventory->bytes},
        {"lost_threads", description->lost_threads},
        {"lost", description->lost},
        {"lost_no_stream", description->lost_no_stream},
        {"lost_no_space", description->lost_no_space},
        {"lost_no_function", description->lost_no_function},
        {"clamped", description->clamped},
        {"write_ns", description->write_ns},
        {"write_cpu_ns", description->write_cpu_ns},
        {"stop_errno", description->stop_errno},
    };

    cunei_json_open(json, NULL, '{');
    put_description(json, process);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        cunei_json_number(json, numbers[i].key, numbers[i].value);
    for (size_t i = 0; i < CUNEI_INFO_KINDS; i++)
        cunei_json_number(json, cunei_info_kinds[i].key,
                          cunei_info_count_of(inventory, i));
    cunei_json_flag(json, "decorated_lost", description->decorated_refusal);
    cunei_json_flag(json, "full", description->full);
    cunei_json_flag(json, "damaged", inventory->rc < 0);
    cunei_json_close(json, '}');
}
