// SPDX-License-Identifier: MIT
#include "cmd/common/export_part.h"

#include <stddef.h>

#include "base/pattern.h"
#include "trace/directory/process_choice.h"

const struct cunei_option cunei_export_part_options[] = {
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_time_range_options,
     .offset = offsetof(struct cunei_export_part, window)},
    {.name = "thread",
     .letter = 't',
     .kind = CUNEI_OPTION_LIST,
     .value = "ID|NAME",
     .help = "only this thread, or threads whose names match a\nglob; may be repeated",
     .offset = offsetof(struct cunei_export_part, threads)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_options_process,
     .offset = offsetof(struct cunei_export_part, processes)},
    {.name = "no-fold",
     .kind = CUNEI_OPTION_FLAG,
     .help = "also write the functions of the import system (html,\n"
             "perfetto, chrome, speedscope, folded, pprof)",
     .offset = offsetof(struct cunei_export_part, options.no_fold)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_options_patterns,
     .offset = offsetof(struct cunei_export_part, options.patterns)},
    {0},
};

int cunei_export_part_settle(struct cunei_export_part *part)
{
    int status = cunei_time_range_settle(&part->window);

    cunei_patterns_project_first(&part->options.patterns);
    part->options.from_ns = part->window.from_ns;
    part->options.until_ns = part->window.until_ns;
    part->options.processes =
        (struct cunei_trace_choice){part->processes.items, part->processes.count};
    part->options.threads = part->threads.items;
    part->options.thread_count = part->threads.count;
    return status;
}

void cunei_export_part_fini(struct cunei_export_part *part)
{
    cunei_option_list_fini(&part->processes);
    cunei_option_list_fini(&part->threads);
    cunei_patterns_fini(&part->options.patterns);
}
