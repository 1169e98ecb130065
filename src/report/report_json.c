// SPDX-License-Identifier: MIT
/* The report for programs: one object, always whole. */
#include <inttypes.h>

#include "analysis/process_tree.h"
#include "report/section.h"
#include "text/json.h"
#include "text/names.h"
#include "trace/process_exit.h"

static const char *const state_names[] = {
    [CUNEI_TRACE_ENDED] = "ended",
    [CUNEI_TRACE_RUNNING] = "recording",
    [CUNEI_TRACE_KILLED] = "killed",
    [CUNEI_TRACE_REPLACED] = "replaced",
};

static void put_words(struct cunei_json *json, const char *key, char *const *words,
                      size_t count)
{
    cunei_json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        cunei_json_text(json, NULL, words[i]);
    cunei_json_close(json, ']');
}

static void put_number_or_null(struct cunei_json *json, const char *key, bool is_known,
                               uint64_t value)
{
    if (is_known)
        cunei_json_number(json, key, value);
    else
        cunei_json_text(json, key, NULL);
}

/* What ended it, and with which status where that is known. */
static void put_exit(struct cunei_json *json, const struct cunei_trace_process *process)
{
    const struct cunei_process *told = &process->description;
    struct cunei_buffer words = {0};

    cunei_process_exit_format(process, &words);
    cunei_json_text(json, "exit", words.data);
    cunei_buffer_fini(&words);
    put_number_or_null(json, "exit_status", told->left || told->exited,
                       told->exit_status);
    put_number_or_null(json, "signal", told->signal > 0, told->signal);
}

static void put_program(struct cunei_json *json, const struct cunei_process *told)
{
    struct cunei_buffer words = {0};

    cunei_format_program(&words, told);
    cunei_json_text(json, "program", words.data);
    cunei_buffer_fini(&words);
}

static void put_process(struct cunei_json *json, const struct cunei_analysis *analysis,
                        const struct cunei_analysis_process *process)
{
    const struct cunei_trace_process *trace = process->process;
    const struct cunei_process *description = &trace->description;

    cunei_json_open(json, NULL, '{');
    cunei_json_number(json, "pid", trace->metadata.pid);
    cunei_json_number(json, "parent", description->parent);
    cunei_json_text(json, "folder", cunei_trace_folder(trace));
    cunei_json_text(
        json, "parent_folder",
        process->parent < analysis->process_count
            ? cunei_trace_folder(analysis->processes[process->parent].process)
            : description->parent_folder);
    cunei_json_flag(json, "forked", description->forked);
    cunei_json_text(json, "name", description->name);
    cunei_json_text(json, "host", trace->metadata.host);
    cunei_json_text(json, "state", state_names[trace->state]);
    put_exit(json, trace);
    put_program(json, description);
    cunei_json_text(json, "python", description->python);
    cunei_json_text(json, "executable", description->executable);
    cunei_json_text(json, "directory", description->directory);
    put_words(json, "arguments", description->arguments, description->argument_count);
    put_words(json, "patterns", description->patterns, description->pattern_count);
    cunei_json_number(json, "start_ns", cunei_process_tree_start_ns(process));
    put_number_or_null(json, "begin_ns", process->begin_ns > 0, process->begin_ns);
    cunei_json_number(json, "end_ns",
                      cunei_process_tree_start_ns(process) +
                          cunei_process_tree_wall_ns(process));
    cunei_json_number(json, "wall_ns", cunei_process_tree_wall_ns(process));
    put_number_or_null(json, "cpu_ns", process->has_cpu, process->cpu_ns);
    cunei_json_number(json, "threads", process->thread_count);
    cunei_json_number(json, "interpreters", description->interpreters);
    cunei_json_text(json, "instrumenter", description->instrumenter);
    cunei_json_number(json, "taken", description->taken);
    cunei_json_flag(json, "unheard", description->unheard > 0);
    cunei_json_flag(json, "c_calls", description->c_calls);
    cunei_json_number(json, "events", process->events);
    cunei_json_number(json, "calls", process->calls);
    cunei_json_number(json, "lost", process->lost);
    cunei_json_number(json, "missing_packets", process->missing_packets);
    cunei_json_number(json, "clamped", description->clamped);
    cunei_json_number(json, "size_bytes", process->size_bytes);
    cunei_json_number(json, "cost_ns", process->cost_ns);
    if (description->budget > 0)
        cunei_json_number(json, "budget_millionths", description->budget);
    cunei_json_close(json, '}');
}

static void put_thread(const struct cunei_report *report, struct cunei_json *json,
                       const struct cunei_analysis_thread *thread)
{
    const struct cunei_analysis *analysis = report->analysis;

    cunei_json_open(json, NULL, '{');
    cunei_json_number(json, "pid",
                      analysis->processes[thread->process].process->metadata.pid);
    cunei_json_number(json, "tid", thread->tid);
    cunei_json_text(json, "name", thread->name);
    cunei_json_number(json, "serial", thread->serial);
    cunei_json_number(json, "begin_ns", thread->begin_ns);
    cunei_json_number(json, "end_ns", thread->end_ns);
    cunei_json_number(json, "wall_ns", thread->end_ns - thread->begin_ns);
    put_number_or_null(json, "cpu_ns", thread->has_cpu, thread->cpu_ns);
    put_number_or_null(json, "waiting_ns", thread->has_cpu, thread->waiting_ns);
    cunei_json_number(json, "gc_count", cunei_gc_pauses_count(&thread->collections));
    cunei_json_number(json, "gc_ns", thread->collections.pause);
    cunei_json_number(json, "events", thread->events);
    cunei_json_number(json, "calls", thread->calls);
    /* The last packet of one that goes on when the recording ends is marked, too. */
    cunei_json_flag(json, "ended", thread->ended && thread->open_depth == 0);
    cunei_json_number(json, "open_depth", thread->open_depth);
    cunei_json_open(json, "open", '[');
    for (uint32_t i = 0; i < thread->open_count; i++)
        cunei_json_text(json, NULL,
                        thread->open[i] < analysis->functions.count
                            ? analysis->functions.items[thread->open[i]].qualname
                            : NULL);
    cunei_json_close(json, ']');
    cunei_json_close(json, '}');
}

/* What of it a budget had to estimate, and how wide: 19 of 20 times within. */
static void put_guess(struct cunei_json *json,
                      const struct cunei_analysis_function *facts)
{
    if (cunei_report_is_self_estimated(facts))
        cunei_json_flag(json, "self_estimated", true);
    if (!cunei_report_is_estimated(facts))
        return;
    cunei_json_flag(json, "estimated", true);
    cunei_json_number(json, "recorded_calls", facts->calls - facts->guess.calls);
    cunei_json_flag(json, "counted", facts->guess.is_counted);
    cunei_json_number(
        json, "calls_width",
        (uint64_t)(cunei_budget_estimate_calls_width(&facts->guess) + 0.5));
    if (facts->resumes > 0)
        cunei_json_number(
            json, "resumes_width",
            (uint64_t)(cunei_budget_estimate_resumes_width(&facts->guess) + 0.5));
    cunei_json_number(
        json, "self_width_ns",
        (uint64_t)(cunei_budget_estimate_self_width(&facts->guess) + 0.5));
    cunei_json_number(json, "demotions", facts->guess.demotions);
}

static void put_function(const struct cunei_report *report, struct cunei_json *json,
                         uint32_t index)
{
    const struct cunei_function *names = &report->analysis->functions.items[index];
    const struct cunei_analysis_function *facts = &report->analysis->facts[index];

    cunei_json_open(json, NULL, '{');
    cunei_json_text(json, "module", names->module);
    cunei_json_text(json, "qualname", names->qualname);
    cunei_json_text(json, "file", names->file);
    cunei_json_number(json, "line", names->line);
    cunei_json_number(json, "calls", facts->calls);
    cunei_json_number(json, "resumes", facts->resumes);
    cunei_json_number(json, "total_ns", facts->total_ns);
    cunei_json_number(json, "self_ns", facts->self_ns);
    cunei_json_number(json, "suspended_ns", facts->suspended_ns);
    cunei_json_number(json, "mean_ns", cunei_report_mean_ns(facts));
    cunei_json_number(json, "p50_ns", cunei_report_quantile_ns(facts, 0.5));
    cunei_json_number(json, "p99_ns", cunei_report_quantile_ns(facts, 0.99));
    cunei_json_number(json, "max_ns", facts->max_ns);
    cunei_json_number(json, "recursive", facts->recursive);
    cunei_json_number(json, "raised", facts->raised);
    put_guess(json, facts);
    cunei_json_close(json, '}');
}

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

/* All together, then by process. */
static void put_collections(const struct cunei_report *report, struct cunei_json *json)
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
}

static void put_head(const struct cunei_report *report, struct cunei_json *json)
{
    const struct cunei_analysis *analysis = report->analysis;

    cunei_json_number(json, "version", 1);
    cunei_json_number(json, "events", analysis->events);
    cunei_json_number(json, "lost", analysis->lost);
    cunei_json_number(json, "duration_ns", report->duration_ns);
    cunei_json_number(json, "begin_ns", analysis->begin_ns);
    cunei_json_number(json, "calls", analysis->calls);
    cunei_json_number(json, "resumes", analysis->resumes);
    cunei_json_number(json, "raised", analysis->raised);
    cunei_json_number(json, "switches", analysis->switches);
    cunei_json_number(json, "cost_ns", analysis->cost_ns);
    if (analysis->bursts > 0) {
        cunei_json_number(json, "estimated_calls", analysis->estimated_calls);
        cunei_json_number(json, "bursts", analysis->bursts);
    }
    if (analysis->pauses > 0) {
        cunei_json_number(json, "pauses", analysis->pauses);
        cunei_json_number(json, "paused_ns", analysis->paused_ns);
    }
    cunei_json_number(json, "orphans", analysis->orphans);
    cunei_json_number(json, "unclosed", analysis->unclosed);
    cunei_json_number(json, "appeared", analysis->appeared);
    cunei_json_number(json, "missing_packets", analysis->missing_packets);
    cunei_json_open(json, "damaged", '[');
    for (size_t i = 0; i < analysis->damage_count && i < CUNEI_ANALYSIS_DAMAGES_MAX;
         i++)
        cunei_json_text(json, NULL, analysis->damages[i].text);
    cunei_json_close(json, ']');
}

int cunei_report_json(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    struct cunei_json json = {.out = report->out};
    struct cunei_ranking ranking;

    int rc = cunei_ranking_init(&ranking, report);
    if (rc < 0)
        return rc;
    cunei_json_open(&json, NULL, '{');
    put_head(report, &json);
    cunei_json_open(&json, "processes", '[');
    for (size_t i = 0; i < analysis->process_count; i++)
        put_process(&json, analysis, &analysis->processes[i]);
    cunei_json_close(&json, ']');
    cunei_json_open(&json, "threads", '[');
    for (size_t i = 0; i < analysis->thread_count; i++)
        put_thread(report, &json, &analysis->threads[i]);
    cunei_json_close(&json, ']');
    cunei_json_open(&json, "functions", '[');
    for (uint32_t i = 0; i < ranking.count; i++)
        put_function(report, &json, ranking.indices[i]);
    cunei_json_close(&json, ']');
    rc = cunei_report_tasks_json(report, &json);
    if (rc == 0)
        rc = cunei_report_exceptions_json(report, &json);
    if (rc == 0)
        rc = cunei_report_lines_json(report, &json);
    if (rc == 0)
        rc = cunei_report_regions_json(report, &json);
    if (rc == 0)
        rc = cunei_report_counters_json(report, &json);
    if (rc == 0)
        rc = cunei_report_marks_json(report, &json);
    if (rc == 0)
        rc = cunei_report_tokens_json(report, &json);
    put_collections(report, &json);
    if (rc == 0 && analysis->tree)
        rc = cunei_report_tree_json(report, &json);
    if (rc == 0 && analysis->edges)
        rc = cunei_report_callers_json(report, &json);
    cunei_json_close(&json, '}');
    cunei_ranking_fini(&ranking);
    int end_rc = cunei_json_end(&json);
    return rc < 0 ? rc : end_rc;
}
