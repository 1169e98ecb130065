// SPDX-License-Identifier: MIT
#include "report/title.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/function_numbers.h"
#include "analysis/process_tree.h"
#include "python/instrumenter.h"
#include "python/version.h"
#include "report/section.h"
#include "text/format.h"
#include "text/names.h"
#include "text/paragraph.h"
#include "text/terminal_text.h"

#define DOT " · "

static int compare_pids(const void *a, const void *b)
{
    const struct cunei_metadata *one = *(const struct cunei_metadata *const *)a;
    const struct cunei_metadata *two = *(const struct cunei_metadata *const *)b;

    if (one->pid != two->pid)
        return one->pid < two->pid ? -1 : 1;
    return strcmp(one->host, two->host);
}

/* One process may have recorded several times, or called exec. */
static size_t count_pids(const struct cunei_analysis *analysis)
{
    size_t count = analysis->process_count, pids = 0;
    const struct cunei_metadata **order = calloc(count + 1, sizeof(const void *));
    if (!order)
        return count;

    for (size_t i = 0; i < count; i++)
        order[i] = &analysis->processes[i].process->metadata;
    qsort((void *)order, count, sizeof(const void *), compare_pids);
    for (size_t i = 0; i < count; i++)
        pids += i == 0 ||
                compare_pids((const void *)&order[i - 1], (const void *)&order[i]) != 0;
    free((void *)order);
    return pids;
}

static void format_processes(const struct cunei_report *report,
                             struct cunei_buffer *out)
{
    const struct cunei_analysis *analysis = report->analysis;

    size_t pids = count_pids(analysis);

    if (pids == 1 && analysis->process_count > 1) {
        cunei_format_several(out, analysis->process_count, "recording");
        cunei_buffer_append_text(out, " of ");
    }
    cunei_format_program(out, &analysis->processes[0].process->description);
    if (pids > 1) {
        cunei_buffer_append_text(out, " and ");
        cunei_format_several(out, pids - 1, "more process");
    }
}

static size_t count_state(const struct cunei_analysis *analysis,
                          enum cunei_trace_state state)
{
    size_t count = 0;

    for (size_t i = 0; i < analysis->process_count; i++)
        count += analysis->processes[i].process->state == state;
    return count;
}

static void put_state(struct cunei_paragraph *title,
                      const struct cunei_analysis *analysis,
                      enum cunei_trace_state state, const char *word,
                      enum cunei_ink ink)
{
    struct cunei_buffer text = {0};
    size_t count = count_state(analysis, state);

    if (count == 0)
        return;
    if (analysis->process_count > 1)
        cunei_buffer_format(&text, "%zu ", count);
    cunei_buffer_append_text(&text, word);
    cunei_paragraph_put(title, DOT, ink, text.data ? text.data : word);
    cunei_buffer_fini(&text);
}

/* Without functions there may be few events: use the times of the processes. */
static uint64_t wall_of(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    uint64_t last_ns = analysis->start_ns;

    if (analysis->functions.count > 0)
        return report->duration_ns;
    for (size_t i = 0; i < analysis->process_count; i++) {
        const struct cunei_analysis_process *process = &analysis->processes[i];
        uint64_t end_ns =
            cunei_process_tree_start_ns(process) + cunei_process_tree_wall_ns(process);
        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    return last_ns - analysis->start_ns;
}

static void format_times(const struct cunei_report *report, struct cunei_buffer *out)
{
    const struct cunei_analysis *analysis = report->analysis;
    uint64_t cpu_ns = 0;
    bool has_cpu = false, is_partial = false;

    for (size_t i = 0; i < analysis->process_count; i++) {
        const struct cunei_analysis_process *process = &analysis->processes[i];
        has_cpu |= process->has_cpu;
        is_partial |= process->is_cpu_partial;
        cpu_ns += process->cpu_ns;
    }
    cunei_format_duration(out, wall_of(report));
    cunei_buffer_append_text(out, " wall");
    if (has_cpu) {
        cunei_buffer_append_text(out, ", ");
        cunei_report_partial_duration(out, cpu_ns, is_partial);
        cunei_buffer_append_text(out, " CPU");
    }
}

/* Whether some calls were neither recorded nor counted. */
static bool has_estimates(const struct cunei_analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        const struct cunei_analysis_function *facts = &analysis->facts[i];
        if (cunei_function_is_estimated(facts) && !facts->estimate.is_counted)
            return true;
    }
    return false;
}

static void format_calls(const struct cunei_report *report, struct cunei_buffer *out)
{
    if (has_estimates(report->analysis))
        cunei_buffer_append_text(out, "~");
    cunei_format_several(out, report->analysis->calls, "call");
    cunei_buffer_append_text(out, ", ");
    cunei_format_count(out, report->analysis->lost);
    cunei_buffer_append_text(out, " lost");
}

static void put(struct cunei_paragraph *title, struct cunei_buffer *text,
                enum cunei_ink ink)
{
    if (text->size > 0)
        cunei_paragraph_put(title, DOT, ink, text->data);
    title->text.failed |= text->failed;
    cunei_buffer_clear(text);
}

/* The instrumenter, if it is not the default of that Python. */
static void format_instrumenter(const struct cunei_process *process,
                                struct cunei_buffer *out)
{
    struct cunei_python_version version;

    if (!process->instrumenter ||
        !cunei_python_version_parse(process->python, &version))
        return;
    enum cunei_instrumenter used = cunei_instrumenter_find(process->instrumenter);
    if (used && used != cunei_instrumenter_default(version.minor))
        cunei_buffer_format(out, "instrumenter %s", cunei_instrumenter_name(used));
}

int cunei_report_print_title(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    struct cunei_paragraph title = {.style = &report->options->style, .indent = 2};
    struct cunei_buffer text = {0};
    struct cunei_buffer safe = {0};

    if (analysis->process_count == 0)
        return 0;
    format_processes(report, &text);
    cunei_terminal_text(&safe, cunei_buffer_text(&text), 60);
    put(&title, &safe, CUNEI_INK_HEAD);
    cunei_buffer_clear(&text);
    put_state(&title, analysis, CUNEI_TRACE_RUNNING, "recording", CUNEI_INK_WARM);
    put_state(&title, analysis, CUNEI_TRACE_SNAPSHOT,
              analysis->process_count > 1 ? "running at the snapshot" : "snapshot",
              CUNEI_INK_WARM);
    put_state(&title, analysis, CUNEI_TRACE_KILLED, "killed", CUNEI_INK_BAD);
    put_state(&title, analysis, CUNEI_TRACE_TERMINATED, "terminated", CUNEI_INK_DIM);
    if (analysis->damage_count > 0)
        cunei_paragraph_put(&title, DOT, CUNEI_INK_BAD, "damaged");
    const char *python = analysis->processes[0].process->description.python;
    if (python) {
        cunei_terminal_text(&safe, python, 40);
        put(&title, &safe, CUNEI_INK_PLAIN);
    }
    format_instrumenter(&analysis->processes[0].process->description, &text);
    put(&title, &text, CUNEI_INK_PLAIN);
    format_times(report, &text);
    put(&title, &text, CUNEI_INK_PLAIN);
    if (analysis->thread_count > 0)
        cunei_format_several(&text, analysis->thread_count, "thread");
    put(&title, &text, CUNEI_INK_PLAIN);
    format_calls(report, &text);
    put(&title, &text, analysis->lost > 0 ? CUNEI_INK_BAD : CUNEI_INK_PLAIN);
    if (analysis->cost_ns > 0) {
        cunei_buffer_append_text(&text, "recording cost ≈ ");
        cunei_format_duration(&text, analysis->cost_ns);
        put(&title, &text, CUNEI_INK_PLAIN);
    }
    cunei_buffer_fini(&text);
    cunei_buffer_fini(&safe);
    return cunei_paragraph_print(&title, report->out);
}
