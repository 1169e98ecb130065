// SPDX-License-Identifier: MIT
#include "export/selection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analyzer.h"
#include "base/glob.h"
#include "base/vector.h"
#include "export/export.h"
#include "model/facts/call_tree.h"
#include "model/facts/import_system.h"
#include "trace/directory/project.h"
#include "trace/directory/trace_begin.h"

/* Regions stay unless the format has none, or a pattern excludes them. */
static bool is_meant(const struct cunei_export *export,
                     const struct cunei_patterns *patterns,
                     const struct cunei_function *function, enum cunei_definition kind)
{
    bool is_default_out = false;

    if (!function->module ||
        (kind == CUNEI_DEFINITION_REGION && export->has_calls_only))
        return false;
    if (patterns->count > 0)
        (void)cunei_patterns_text(patterns, 0, &is_default_out);
    return (kind != CUNEI_DEFINITION_FUNCTION && is_default_out) ||
           cunei_patterns_include(patterns, function->module, function->qualname,
                                  function->file);
}

static enum cunei_cut_choice choose(const struct cunei_export *export,
                                    const struct cunei_patterns *patterns,
                                    const struct cunei_function *function,
                                    enum cunei_definition kind)
{
    if (export->folds && function->module && cunei_is_import_system(function))
        return CUNEI_CUT_FOLDED;
    return is_meant(export, patterns, function, kind) ? CUNEI_CUT_WANTED
           : cunei_patterns_have_project(patterns)    ? CUNEI_CUT_FOLDED
                                                      : CUNEI_CUT_UNWANTED;
}

/* Whether any function of the process may be left out. */
static bool may_leave_out(const struct cunei_export *export,
                          const struct cunei_patterns *patterns,
                          const struct cunei_trace_process *process)
{
    bool has_system = false;

    for (uint32_t i = 0; export->folds && !has_system && i < process->function_count;
         i++)
        has_system = process->functions[i].module &&
                     cunei_is_import_system(&process->functions[i]);
    return has_system || patterns->count > 0 ||
           (export->has_calls_only && cunei_trace_kinds(process).items);
}

static int select_functions(struct cunei_selection *selection,
                            const struct cunei_export *export,
                            const struct cunei_patterns *patterns,
                            const struct cunei_trace_process *process)
{
    const struct cunei_id_kinds kinds = cunei_trace_kinds(process);

    selection->cut.kinds = kinds;
    selection->has_functions = patterns->count == 0;
    if (!may_leave_out(export, patterns, process))
        return 0;
    selection->functions = calloc(process->function_count + 1, 1);
    if (!selection->functions)
        return -ENOMEM;
    for (uint32_t i = 0; i < process->function_count; i++) {
        enum cunei_definition kind =
            cunei_id_kinds_find(&kinds, CUNEI_FUNCTION_FIRST + i);

        selection->functions[i] =
            choose(export, patterns, &process->functions[i], kind);
        selection->has_functions |= selection->functions[i] == CUNEI_CUT_WANTED &&
                                    kind == CUNEI_DEFINITION_FUNCTION;
    }
    selection->cut.functions = selection->functions;
    selection->cut.function_count = process->function_count;
    return 0;
}

static bool is_called(const struct cunei_analysis_thread *thread, const char *wanted)
{
    char tid[16];

    (void)snprintf(tid, sizeof(tid), "%" PRIu32, thread->tid);
    return strcmp(wanted, tid) == 0 || cunei_glob_matches(wanted, thread->name);
}

static int compare_serials(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
    return one < two ? -1 : one > two;
}

static int select_thread(struct cunei_selection *selection, uint32_t serial)
{
    if (!CUNEI_VECTOR_RESERVE_ONE(selection->threads, selection->thread_count))
        return -ENOMEM;
    selection->threads[selection->thread_count++] = serial;
    return 0;
}

static bool has_thread(const struct cunei_selection *selection, uint32_t serial)
{
    return !selection->has_threads ||
           (selection->thread_count > 0 &&
            bsearch(&serial, selection->threads, selection->thread_count,
                    sizeof(serial), compare_serials));
}

static int select_called(struct cunei_export *export,
                         const struct cunei_analysis *analysis, const char *wanted)
{
    bool is_found = false;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < analysis->thread_count; i++) {
        const struct cunei_analysis_thread *thread = &analysis->threads[i];
        const struct cunei_trace_process *process =
            analysis->processes[thread->process].process;
        if (!is_called(thread, wanted))
            continue;
        rc = select_thread(&export->selections[process - export->trace->processes],
                           thread->serial);
        is_found = true;
    }
    if (rc == 0 && !is_found) {
        export->unmatched = wanted;
        rc = -ESRCH;
    }
    return rc;
}

int cunei_selection_analyze_names(const struct cunei_export *export, bool is_shown,
                                  struct cunei_analysis *analysis)
{
    const struct cunei_analysis_options options = {
        .processes = export->options->processes,
        .worker_count = export->options->worker_count,
        .progress = is_shown ? export->options->progress : NULL,
        .progress_context = export->options->progress_context,
    };

    return cunei_analyze(analysis, export->trace, &options);
}

/* The name of a thread may change: reports use the last one. */
static int select_threads(struct cunei_export *export)
{
    struct cunei_analysis analysis;

    int rc = cunei_selection_analyze_names(export, true, &analysis);
    if (rc < 0)
        return rc;
    for (size_t i = 0; rc == 0 && i < export->options->thread_count; i++)
        rc = select_called(export, &analysis, export->options->threads[i]);
    for (size_t i = 0; i < export->trace->process_count; i++) {
        struct cunei_selection *selection = &export->selections[i];
        selection->has_threads = true;
        selection->is_wanted &= selection->thread_count > 0;
        if (selection->thread_count > 0)
            qsort(selection->threads, selection->thread_count,
                  sizeof(*selection->threads), compare_serials);
    }
    cunei_analysis_fini(&analysis);
    return rc;
}

static void select_times(struct cunei_selection *selection,
                         const struct cunei_export *export)
{
    const struct cunei_export_options *options = export->options;
    uint64_t until_ns = export->origin_ns + options->until_ns;

    selection->cut.from =
        options->from_ns > 0
            ? cunei_wall_clock_tick(&selection->wall,
                                    export->origin_ns + options->from_ns)
            : 0;
    selection->cut.until =
        options->until_ns == UINT64_MAX || until_ns < options->until_ns
            ? UINT64_MAX
            : cunei_wall_clock_tick(&selection->wall, until_ns);
}

int cunei_selection_make(struct cunei_export *export)
{
    const struct cunei_export_options *options = export->options;
    const struct cunei_trace *trace = export->trace;
    struct cunei_patterns patterns = options->patterns; /* borrowed */
    bool is_found = false, has_functions = false;
    int rc = 0;

    patterns.project = cunei_trace_project(trace);
    export->origin_ns = cunei_trace_begin_ns(trace);
    const struct cunei_trace_error *damage =
        cunei_trace_next_damage(trace, &options->processes, &(size_t){0});
    export->damage_count = damage != NULL;
    if (damage)
        export->damage = *damage;
    export->selections = calloc(trace->process_count + 1, sizeof(*export->selections));
    if (!export->selections)
        return -ENOMEM;
    for (size_t i = 0; rc == 0 && i < trace->process_count; i++) {
        struct cunei_selection *selection = &export->selections[i];
        const struct cunei_trace_process *process = &trace->processes[i];
        cunei_wall_clock_init(&selection->wall, &process->metadata);
        selection->is_wanted = cunei_trace_is_chosen(process, &options->processes);
        is_found |= selection->is_wanted;
        select_times(selection, export);
        rc = select_functions(selection, export, &patterns, process);
        has_functions |= selection->has_functions && selection->is_wanted;
        selection->is_whole = !selection->functions && options->thread_count == 0 &&
                              options->from_ns == 0 && options->until_ns == UINT64_MAX;
    }
    if (rc == 0 && !is_found && options->processes.count > 0)
        rc = -ESRCH;
    if (rc == 0 && is_found && !has_functions)
        rc = -ENODATA;
    if (rc == 0 && options->thread_count > 0)
        rc = select_threads(export);
    return rc;
}

void cunei_selection_fini(struct cunei_export *export)
{
    for (size_t i = 0; export->selections && i < export->trace->process_count; i++) {
        free(export->selections[i].functions);
        free(export->selections[i].threads);
    }
    free(export->selections);
    export->selections = NULL;
}

int cunei_selection_apply(const struct cunei_selection *selection,
                          struct cunei_cut *cut, struct cunei_trace_packet *packet)
{
    if (selection->is_whole)
        return 0;
    if (!has_thread(selection, packet->head->thread)) {
        packet->word_count = packet->event_count = 0;
        return 0;
    }
    cut->options = &selection->cut;
    int rc = cunei_cut_packet(cut, packet->head, packet->words, packet->word_count);
    packet->head = &cut->packet;
    packet->words = cut->words;
    packet->word_count = cut->word_count;
    return rc;
}

/* The bytes that a pass over the selected processes reads. */
static uint64_t total_bytes(const struct cunei_export *export)
{
    uint64_t total = 0;

    for (size_t i = 0; i < export->trace->process_count; i++) {
        const struct cunei_trace_process *process = &export->trace->processes[i];
        for (size_t j = 0; export->selections[i].is_wanted && j < process->stream_count;
             j++)
            total += process->streams[j].size;
    }
    return total;
}

void cunei_selection_progress(struct cunei_export *export, uint64_t bytes)
{
    const struct cunei_export_options *options = export->options;

    if (!options->progress)
        return;
    if (export->total_bytes == 0)
        export->total_bytes = total_bytes(export);
    export->done_bytes += bytes;
    /* A running program has packets that are not in its files yet. */
    if (export->done_bytes > export->total_bytes)
        export->total_bytes = export->done_bytes;
    options->progress(options->progress_context, export->done_bytes,
                      export->total_bytes);
}

static int select_packet(void *context, const struct cunei_trace_process *process,
                         struct cunei_cut *cut, struct cunei_trace_packet *packet)
{
    const struct cunei_export *export = context;

    return cunei_selection_apply(
        &export->selections[process - export->trace->processes], cut, packet);
}

int cunei_selection_analyze(struct cunei_export *export,
                            const struct cunei_analysis_options *parts,
                            struct cunei_analysis *analysis)
{
    const struct cunei_export_options *wanted = export->options;
    const struct cunei_analysis_options options = {
        .processes = wanted->processes,
        .tree = parts->tree,
        .threads = parts->threads,
        .edges = parts->edges,
        .lines = parts->lines,
        .user_events = parts->user_events,
        .worker_count = wanted->worker_count,
        .select = select_packet,
        .select_context = export,
        .progress = wanted->progress,
        .progress_context = wanted->progress_context,
    };

    int rc = cunei_analyze(analysis, export->trace, &options);
    if (rc < 0)
        return rc;
    export->threads = analysis->thread_count;
    export->calls = analysis->calls;
    export->lost = analysis->lost;
    export->missing_packets = analysis->missing_packets;
    export->is_folded = analysis->tree && analysis->tree->folded > 0;
    export->damage_count = analysis->damage_count;
    if (analysis->damage_count > 0)
        export->damage = analysis->damages[0];
    return 0;
}
