// SPDX-License-Identifier: MIT
#include "report/kept.h"

#include "report/note.h"
#include "report/section.h"
#include "text/format.h"

uint64_t cunei_report_complete_ns(const struct cunei_analysis *analysis)
{
    uint64_t complete_ns = 0;

    for (size_t i = 0; i < analysis->process_count; i++) {
        const struct cunei_process *process =
            &analysis->processes[i].process->description;
        if (process->complete_ns > complete_ns)
            complete_ns = process->complete_ns;
    }
    return complete_ns;
}

/* The end of the recording, or of the snapshot. */
static uint64_t find_end(const struct cunei_analysis *analysis)
{
    uint64_t end_ns = 0;

    for (size_t i = 0; i < analysis->process_count; i++) {
        const struct cunei_analysis_process *process = &analysis->processes[i];
        uint64_t snapshot_ns = process->process->description.snapshot_ns;
        uint64_t last_ns =
            process->end_ns > snapshot_ns ? process->end_ns : snapshot_ns;
        end_ns = last_ns > end_ns ? last_ns : end_ns;
    }
    return end_ns;
}

/* The longest time that --keep asked for. */
static uint64_t find_asked(const struct cunei_analysis *analysis)
{
    uint64_t asked_ns = 0;

    for (size_t i = 0; i < analysis->process_count; i++) {
        uint64_t keep_ns = analysis->processes[i].process->description.keep_ns;
        asked_ns = keep_ns > asked_ns ? keep_ns : asked_ns;
    }
    return asked_ns;
}

int cunei_report_print_kept(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    uint64_t complete_ns = cunei_report_complete_ns(analysis);
    uint64_t end_ns = find_end(analysis), asked_ns = find_asked(analysis);
    struct cunei_buffer words = {0};

    if (complete_ns == 0 || complete_ns >= end_ns)
        return 0;
    cunei_buffer_append_text(&words, "the last ");
    cunei_format_duration(&words, end_ns - complete_ns);
    cunei_buffer_append_text(&words, ", in which nothing is missing");
    if (end_ns - complete_ns < asked_ns) {
        cunei_buffer_append_text(&words, "; ");
        cunei_format_duration(&words, asked_ns);
        cunei_buffer_append_text(&words, " were asked for");
    }
    return cunei_note_print(report, "kept", CUNEI_INK_DIM, &words);
}
