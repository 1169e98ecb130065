// SPDX-License-Identifier: MIT
#include "report/causes.h"

#include "report/note.h"
#include "report/section.h"
#include "text/cause_words.h"
#include "text/format.h"
#include "text/json.h"
#include "text/terminal_text.h"

#define CAUSES_SHOWN 8u

static size_t count_causes(const struct cunei_analysis *analysis)
{
    size_t count = 0;

    for (size_t i = 0; i < analysis->process_count; i++)
        count += analysis->processes[i].process->description.cause_count;
    return count;
}

static int print_cause(const struct cunei_report *report,
                       const struct cunei_trace_process *process,
                       const struct cunei_cause *cause)
{
    bool is_one = report->analysis->process_count == 1;
    struct cunei_buffer words = {0}, shown = {0};

    cunei_cause_words_format(cause, is_one ? 0 : process->metadata.pid, &words);
    cunei_terminal_text(&shown, cunei_buffer_text(&words), SIZE_MAX);
    shown.failed |= words.failed;
    cunei_buffer_fini(&words);
    return cunei_note_print(report, "trigger", CUNEI_INK_BAD, &shown);
}

int cunei_report_print_causes(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    size_t count = count_causes(analysis), shown = 0;
    int rc = 0;

    for (size_t i = 0; i < analysis->process_count; i++) {
        const struct cunei_trace_process *process = analysis->processes[i].process;
        for (size_t j = 0; j < process->description.cause_count; j++) {
            if (rc == 0 && shown++ < CAUSES_SHOWN)
                rc = print_cause(report, process, &process->description.causes[j]);
        }
    }
    if (count > CAUSES_SHOWN)
        (void)fprintf(report->out, "%*s… and %zu more triggers\n", CUNEI_NOTE_INDENT,
                      "", count - CAUSES_SHOWN);
    return rc;
}

void cunei_report_put_causes(const struct cunei_report *report, struct cunei_json *json)
{
    const struct cunei_analysis *analysis = report->analysis;

    if (count_causes(analysis) == 0)
        return;
    cunei_json_open(json, "causes", '[');
    for (size_t i = 0; i < analysis->process_count; i++) {
        const struct cunei_trace_process *process = analysis->processes[i].process;
        for (size_t j = 0; j < process->description.cause_count; j++) {
            cunei_json_open(json, NULL, '{');
            cunei_json_number(json, "pid", process->metadata.pid);
            cunei_cause_words_put(&process->description.causes[j], json);
            cunei_json_close(json, '}');
        }
    }
    cunei_json_close(json, ']');
}
