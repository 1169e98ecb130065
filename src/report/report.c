// SPDX-License-Identifier: MIT
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/analyzer.h"
#include "base/pattern.h"
#include "report/causes.h"
#include "report/notes.h"
#include "report/report_json.h"
#include "report/section.h"
#include "report/sections.h"
#include "report/shown_functions.h"
#include "report/shown_tree.h"
#include "report/title.h"

/* The rows of a table if no limit was chosen, and how many of the functions are shown
 * on a terminal that is too low. */
#define ROWS     25u
#define ROWS_LOW 8u

/* These take much memory: JSON has them only on request. */
#define COSTLY (CUNEI_REPORT_NEEDS_TREE | CUNEI_REPORT_NEEDS_EDGES)

void cunei_report_missing_fini(struct cunei_report_missing *missing)
{
    for (size_t i = 0; i < missing->lined_count; i++)
        free(missing->lined[i]);
    free(missing->lined);
    *missing = (struct cunei_report_missing){0};
}

/* What the analysis has to contain: CUNEI_REPORT_NEEDS_…. */
static unsigned find_needs(const struct cunei_report_options *options)
{
    unsigned needs = options->preferred ? options->preferred->needs : 0;

    for (size_t i = 0; cunei_report_sections[i]; i++) {
        const struct cunei_report_section *section = cunei_report_sections[i];
        if (options->sections[i].is_asked)
            needs |= section->needs | (options->json ? section->needs_json : 0);
        if (options->json)
            needs |= section->needs & ~COSTLY;
    }
    return needs;
}

/* Whether the section that is asked for leaves out what is folded. */
static bool is_for_folding(const struct cunei_report_options *options)
{
    for (size_t i = 0; cunei_report_sections[i]; i++) {
        if (options->sections[i].is_asked)
            return cunei_report_sections[i]->folds;
    }
    return true;
}

/* Whether imports are shown instead of the import system. */
static bool is_folded(const struct cunei_report_options *options)
{
    return !options->no_fold && !options->json && is_for_folding(options);
}

/* Whether the time of libraries is that of the project's functions that call them. */
static bool is_own(const struct cunei_report_options *options)
{
    return cunei_patterns_have_project(&options->patterns) &&
           (options->json || is_for_folding(options));
}

/* The index of the section to print; the one that is asked for wins. */
static size_t choose_section(const struct cunei_report *report)
{
    const struct cunei_report_options *options = report->options;
    const struct cunei_report_section *preferred = options->preferred;
    size_t index = 0;

    for (size_t i = 0; cunei_report_sections[i]; i++) {
        if (options->sections[i].is_asked)
            return i;
        if (preferred == cunei_report_sections[i] &&
            (!preferred->has_rows || preferred->has_rows(report->analysis)))
            index = i;
    }
    return index;
}

static int print_text(struct cunei_report *report, struct cunei_report_rows *rows)
{
    size_t index = choose_section(report);
    int rc = cunei_report_print_title(report);

    if (rc == 0)
        rc = cunei_report_print_causes(report);
    if (rc < 0)
        return rc;
    (void)fputc('\n', report->out);
    report->section = cunei_report_sections[index];
    report->choice = &report->options->sections[index];
    rc = report->section->print(report, rows);
    return rc < 0 ? rc : cunei_report_print_notes(report, rows);
}

/* Print the text to memory, owned by the caller; its lines, or a negative errno. */
static int64_t print_to_memory(struct cunei_report *report,
                               struct cunei_report_rows *rows, char **text,
                               size_t *size)
{
    FILE *out = report->out;
    int64_t lines = 0;

    report->out = open_memstream(text, size);
    int rc = report->out ? print_text(report, rows) : -ENOMEM;
    if (report->out && fclose(report->out) != 0)
        rc = -ENOMEM;
    report->out = out;
    for (size_t i = 0; rc == 0 && i < *size; i++)
        lines += (*text)[i] == '\n';
    return rc < 0 ? rc : lines;
}

/* Print fewer functions where the text is higher than the terminal, of which the last
 * line is for the next prompt; and fewer notes if that does not suffice. */
static int print_fitting(struct cunei_report *report,
                         struct cunei_report_options *options)
{
    bool may_fit = options->limit == CUNEI_REPORT_FIT && options->style.height > 0 &&
                   choose_section(report) == cunei_report_section_index("functions");
    struct cunei_report_rows rows = {0};
    size_t size = 0;
    char *text = NULL;

    if (options->limit == CUNEI_REPORT_FIT)
        options->limit = ROWS;
    if (!may_fit)
        return print_text(report, &rows);
    int64_t lines = print_to_memory(report, &rows, &text, &size);
    if (lines < options->style.height) {
        if (lines >= 0)
            (void)fwrite(text, 1, size, report->out);
        free(text);
        return lines < 0 ? (int)lines : 0;
    }
    free(text);
    uint64_t excess = (uint64_t)lines - options->style.height + 1;
    report->is_brief = rows.shown < excess + ROWS_LOW;
    options->limit = report->is_brief ? ROWS_LOW : rows.shown - excess;
    return print_text(report, &rows);
}

static int print_all(struct cunei_report *report, struct cunei_report_options *options)
{
    int rc = cunei_shown_tree_init(report);

    if (rc == 0)
        rc = cunei_shown_functions_init(report);
    if (rc == 0 && options->begin)
        options->begin(options->progress_context);
    if (rc == 0)
        rc = options->json ? cunei_report_print_json(report, find_needs(options))
                           : print_fitting(report, options);
    cunei_shown_functions_fini(report);
    cunei_shown_tree_fini(report);
    return rc;
}

struct cunei_analysis_options cunei_report_wanted(
    const struct cunei_report_options *options)
{
    unsigned needs = find_needs(options);

    return (struct cunei_analysis_options){
        .processes = options->processes,
        .tree =
            (needs & CUNEI_REPORT_NEEDS_TREE) || is_folded(options) || is_own(options),
        .edges = needs & CUNEI_REPORT_NEEDS_EDGES,
        .user_events = needs & CUNEI_REPORT_NEEDS_USER_EVENTS,
        .lines = needs & CUNEI_REPORT_NEEDS_LINES,
        .progress = options->progress,
        .progress_context = options->progress_context,
    };
}

int cunei_report_print_sum(const struct cunei_analysis *analysis,
                           const struct cunei_report_options *wanted, FILE *out,
                           struct cunei_trace_error *error)
{
    struct cunei_report_options options = *wanted;
    struct cunei_report report = {
        .options = &options,
        .analysis = analysis,
        .duration_ns = cunei_analysis_duration_ns(analysis),
        .waiting = cunei_waiting_of(analysis, options.idle),
        .home = analysis->process_count > 0
                    ? &analysis->processes[0].process->description
                    : NULL,
        .out = out,
        .is_folded = is_folded(&options),
        .is_own = is_own(&options),
    };

    options.patterns.project = cunei_analysis_project(analysis);
    int rc = print_all(&report, &options);
    if (rc == 0 && analysis->damage_count > 0) {
        *error = analysis->damages[0];
        rc = -EBADMSG;
    }
    return rc;
}

int cunei_report_print(const struct cunei_trace *trace,
                       const struct cunei_report_options *options, FILE *out,
                       struct cunei_trace_error *error)
{
    const struct cunei_analysis_options wanted = cunei_report_wanted(options);
    struct cunei_analysis analysis;

    int rc = cunei_analyze(&analysis, trace, &wanted);
    if (rc < 0)
        return rc;
    rc = cunei_report_print_sum(&analysis, options, out, error);
    cunei_analysis_fini(&analysis);
    return rc;
}
