// SPDX-License-Identifier: MIT
/* The functions of a report, one row each.  A column is one row of `columns`. */
#include <string.h>

#include "analysis/function_numbers.h"
#include "model/facts/import_system.h"
#include "model/facts/waiting_functions.h"
#include "report/note.h"
#include "report/own_code.h"
#include "report/ranking.h"
#include "report/section.h"
#include "text/format.h"
#include "text/json.h"
#include "text/table.h"
#include "text/terminal_text.h"

#define UNKNOWN "–"

/* A function of the table. */
struct row {
    const struct cunei_report *report;
    const struct cunei_analysis_function *facts;
    uint32_t index;
    bool is_estimated; /* by a budget: its numbers are marked with ~ */
};

/* Numbers that a budget estimated are marked. */
static void mark(struct cunei_buffer *cell, bool is_estimated)
{
    if (is_estimated)
        cunei_buffer_append_text(cell, "~");
}

static void put_self(const struct row *row, struct cunei_buffer *cell)
{
    mark(cell, cunei_function_is_self_estimated(row->facts));
    cunei_format_duration(cell, row->facts->self_ns);
}

static void put_self_share(const struct row *row, struct cunei_buffer *cell)
{
    cunei_format_percent(cell, row->facts->self_ns, row->report->waiting.base_ns);
}

static void put_total(const struct row *row, struct cunei_buffer *cell)
{
    mark(cell, row->is_estimated);
    cunei_format_duration(cell, row->facts->total_ns);
}

static void put_total_share(const struct row *row, struct cunei_buffer *cell)
{
    cunei_format_percent(cell, row->facts->total_ns, row->report->waiting.threads_ns);
}

/* The call of a function that was open when 'cunei attach' began is not counted. */
static void put_calls(const struct row *row, struct cunei_buffer *cell)
{
    if (row->facts->was_open)
        cunei_buffer_append_text(cell, "*");
    mark(cell, row->is_estimated && !row->facts->estimate.is_counted);
    cunei_format_count(cell, row->facts->calls);
}

static void put_resumes(const struct row *row, struct cunei_buffer *cell)
{
    if (row->facts->resumes == 0)
        return;
    mark(cell, row->is_estimated);
    cunei_format_count(cell, row->facts->resumes);
}

static void put_suspended(const struct row *row, struct cunei_buffer *cell)
{
    if (row->is_estimated && row->facts->resumes > 0)
        cunei_buffer_append_text(cell, UNKNOWN); /* a budget does not estimate it */
    else if (row->facts->suspended_ns > 0)
        cunei_format_duration(cell, row->facts->suspended_ns);
}

static void put_mean(const struct row *row, struct cunei_buffer *cell)
{
    if (!cunei_function_has_mean(row->facts)) {
        cunei_buffer_append_text(cell, UNKNOWN);
        return;
    }
    mark(cell, row->is_estimated);
    cunei_format_duration(cell, cunei_function_mean_ns(row->facts));
}

static bool has_activations(const struct cunei_analysis_function *facts)
{
    return facts->histogram.span > 0;
}

/* Of single activations, if one was recorded from its start to its end. */
static void put_activation(const struct row *row, struct cunei_buffer *cell,
                           uint64_t ns)
{
    if (has_activations(row->facts))
        cunei_format_duration(cell, ns);
    else
        cunei_buffer_append_text(cell, UNKNOWN);
}

static void put_p50(const struct row *row, struct cunei_buffer *cell)
{
    put_activation(row, cell, cunei_function_quantile_ns(row->facts, 0.5));
}

static void put_p99(const struct row *row, struct cunei_buffer *cell)
{
    put_activation(row, cell, cunei_function_quantile_ns(row->facts, 0.99));
}

static void put_max(const struct row *row, struct cunei_buffer *cell)
{
    put_activation(row, cell, row->facts->max_ns);
}

static void put_name(const struct row *row, struct cunei_buffer *cell)
{
    const char *module = row->report->analysis->functions.items[row->index].module;

    if (row->report->shown.is_package[row->index])
        cunei_buffer_format(cell, "import %.*s", (int)strcspn(module, "."), module);
    else
        cunei_report_name(row->report, row->index, cell);
}

/* All modules of a package are in no one place. */
static void put_place(const struct row *row, struct cunei_buffer *cell)
{
    if (!row->report->shown.is_package[row->index])
        cunei_report_place(row->report, row->index, cell);
}

/* file:line is what people look for: it is the last column to go, and the numbers of
 * generators, which few functions are, are the first. */
static const struct {
    struct cunei_column column;
    void (*put)(const struct row *row, struct cunei_buffer *cell);
    enum cunei_ink ink;
    bool is_self; /* its colour shows the share of the self time */
} columns[] = {
    {.column = {.head = "self"}, .put = put_self, .is_self = true},
    {.column = {.head = "%", .rank = 2}, .put = put_self_share, .is_self = true},
    {.column = {.head = "total", .rank = 3}, .put = put_total},
    {.column = {.head = "%tree", .rank = 7}, .put = put_total_share},
    {.column = {.head = "calls"}, .put = put_calls},
    {.column = {.head = "resumes", .rank = 10}, .put = put_resumes},
    {.column = {.head = "suspended", .rank = 11}, .put = put_suspended},
    {.column = {.head = "mean", .rank = 5}, .put = put_mean},
    {.column = {.head = "≈p50", .rank = 9}, .put = put_p50},
    {.column = {.head = "≈p99", .rank = 8}, .put = put_p99},
    {.column = {.head = "max", .rank = 6}, .put = put_max},
    {.column = {.head = "function", .min = 20},
     .put = put_name,
     .ink = CUNEI_INK_STRONG},
    {.column = {.head = "", .rank = 1, .min = 14, .is_path = true},
     .put = put_place,
     .ink = CUNEI_INK_DIM},
};

#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

static void add_row(const struct cunei_report *report, struct cunei_table *table,
                    uint32_t index)
{
    const struct cunei_analysis_function *facts = &report->shown.facts[index];
    const struct row row = {report, facts, index, cunei_function_is_estimated(facts)};

    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        enum cunei_ink ink = columns[i].is_self
                                 ? cunei_report_heat(report, facts->self_ns)
                                 : columns[i].ink;
        columns[i].put(&row, cunei_table_cell(table, ink));
    }
}

static int print(const struct cunei_report *report, struct cunei_report_rows *rows)
{
    struct cunei_column heads[COLUMN_COUNT];
    struct cunei_ranking ranking;
    struct cunei_table table;

    int rc = cunei_ranking_init(&ranking, report);
    if (rc < 0)
        return rc;
    rc = cunei_report_print_own_code(report, &ranking);
    rows->count = ranking.count;
    rows->shown = cunei_report_limit(report, ranking.count);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        heads[i] = columns[i].column;
    cunei_table_init(&table, heads, COLUMN_COUNT);
    for (uint32_t i = 0; i < rows->shown; i++)
        add_row(report, &table, ranking.indices[i]);
    int printed =
        cunei_report_print_table(report, &table, cunei_report_absence(report));
    cunei_ranking_fini(&ranking);
    return rc < 0 ? rc : printed;
}

/* The packages that a note names. */
#define PACKAGES_MAX 4u

/* What imports took, and for which packages the most. */
static int note_imports(const struct cunei_report *report)
{
    const struct cunei_imports *imports = &report->imports;
    uint64_t base_ns = report->waiting.base_ns;
    struct cunei_paragraph note;
    struct cunei_buffer words = {0};

    /* Every program imports a little. */
    if (!report->is_folded || imports->total_ns < base_ns / 20 ||
        imports->package_count == 0)
        return 0;
    cunei_note_begin(&note, report, "imports", CUNEI_INK_DIM);
    cunei_format_duration(&words, imports->total_ns);
    cunei_buffer_append_text(&words, " (");
    cunei_format_percent(
        &words, imports->total_ns < base_ns ? imports->total_ns : base_ns, base_ns);
    cunei_buffer_append_text(&words, " %):");
    cunei_note_sentence(&note, &words);
    for (size_t i = 0; i < imports->package_count && i < PACKAGES_MAX; i++) {
        struct cunei_buffer name = {0};
        cunei_buffer_append(&name, imports->packages[i].name,
                            imports->packages[i].size);
        cunei_terminal_text(&words, cunei_buffer_text(&name), 40);
        cunei_buffer_fini(&name);
        cunei_buffer_append_text(&words, " ");
        cunei_format_duration(&words, imports->packages[i].total_ns);
        cunei_note_words(&note, i > 0 ? ", " : " ", &words);
    }
    if (imports->package_count > PACKAGES_MAX) {
        cunei_buffer_append_text(&words, "…");
        cunei_note_words(&note, ", ", &words);
    }
    cunei_buffer_fini(&words);
    return cunei_paragraph_print(&note, report->out);
}

/* What --only-project means for the numbers. */
static int note_project(const struct cunei_report *report)
{
    struct cunei_buffer words = {0};

    if (!report->is_own)
        return 0;
    cunei_buffer_append_text(&words, "only functions of the project; the time of "
                                     "libraries counts as self time of the code that "
                                     "calls them");
    return cunei_note_print(report, "project", CUNEI_INK_DIM, &words);
}

static bool has_c_calls(const struct cunei_analysis *analysis)
{
    bool has_them = false;

    for (size_t i = 0; i < analysis->process_count; i++)
        has_them |= analysis->processes[i].process->description.c_calls;
    return has_them;
}

/* Such a long activation of a library's function, without calls in it, is that of
 * compiled code that it calls: libraries have few such loops in Python. */
#define COMPILED_NS UINT64_C(20000000)

/* Whether it takes most of the time, of which nothing is known. */
static bool seems_compiled(const struct cunei_report *report, uint32_t index)
{
    const struct cunei_function *names = &report->analysis->functions.items[index];
    const struct cunei_analysis_function *facts = &report->shown.facts[index];
    bool is_own = report->project.tree && report->project.is_own[index + 1];

    return !is_own && names->file[0] && !report->shown.is_hidden[index] &&
           !cunei_is_imported_module(names) && !cunei_is_waiting_function(names) &&
           facts->self_ns > report->waiting.base_ns * 2 / 5 &&
           facts->self_ns > (facts->calls + facts->resumes) * COMPILED_NS;
}

static int note_compiled(const struct cunei_report *report)
{
    struct cunei_buffer words = {0}, name = {0};
    uint32_t index = 0;

    while (index < report->analysis->functions.count && !seems_compiled(report, index))
        index++;
    if (index == report->analysis->functions.count || has_c_calls(report->analysis))
        return 0;
    cunei_format_duration(&words, report->shown.facts[index].self_ns);
    cunei_buffer_append_text(&words, " in ");
    cunei_report_name(report, index, &name);
    cunei_terminal_text(&words, cunei_buffer_text(&name), 40);
    words.failed |= name.failed;
    cunei_buffer_fini(&name);
    cunei_buffer_append_text(&words, ": mostly compiled code, try --c-calls");
    return cunei_note_print(report, "compiled", CUNEI_INK_DIM, &words);
}

static int print_notes(const struct cunei_report *report)
{
    static int (*const notes[])(const struct cunei_report *report) = {
        note_project, cunei_note_waiting, note_imports, note_compiled};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(notes) / sizeof(notes[0]); i++)
        rc = notes[i](report);
    return rc;
}

/*
 * What is not counted exactly: of functions that were open before, and what a budget
 * estimated; the true number lies within the width 19 of 20 times.
 */
static void put_estimate(struct cunei_json *json,
                         const struct cunei_analysis_function *facts)
{
    if (cunei_function_is_self_estimated(facts))
        cunei_json_flag(json, "self_estimated", true);
    if (facts->was_open)
        cunei_json_flag(json, "open_at_attach", true);
    if (!cunei_function_is_estimated(facts))
        return;
    cunei_json_flag(json, "estimated", true);
    cunei_json_number(json, "recorded_calls", facts->calls - facts->estimate.calls);
    cunei_json_flag(json, "counted", facts->estimate.is_counted);
    cunei_json_number(
        json, "calls_width",
        (uint64_t)(cunei_budget_estimate_calls_width(&facts->estimate) + 0.5));
    if (facts->resumes > 0)
        cunei_json_number(
            json, "resumes_width",
            (uint64_t)(cunei_budget_estimate_resumes_width(&facts->estimate) + 0.5));
    cunei_json_number(
        json, "self_width_ns",
        (uint64_t)(cunei_budget_estimate_self_width(&facts->estimate) + 0.5));
    cunei_json_number(json, "demotions", facts->estimate.demotions);
}

static void put_json(const struct cunei_report *report, struct cunei_json *json,
                     uint32_t index)
{
    const struct cunei_function *names = &report->analysis->functions.items[index];
    const struct cunei_analysis_function *facts = &report->shown.facts[index];
    bool is_known = has_activations(facts);

    cunei_json_open(json, NULL, '{');
    cunei_report_put_function(json, "qualname", names, names->line);
    cunei_json_number(json, "calls", facts->calls);
    cunei_json_number(json, "resumes", facts->resumes);
    cunei_json_number(json, "total_ns", facts->total_ns);
    cunei_json_number(json, "self_ns", facts->self_ns);
    cunei_json_flag(json, "waits", cunei_is_waiting_function(names));
    cunei_json_number(json, "suspended_ns", facts->suspended_ns);
    cunei_json_number_or_null(json, "mean_ns", cunei_function_has_mean(facts),
                              cunei_function_mean_ns(facts));
    cunei_json_number_or_null(json, "p50_ns", is_known,
                              cunei_function_quantile_ns(facts, 0.5));
    cunei_json_number_or_null(json, "p99_ns", is_known,
                              cunei_function_quantile_ns(facts, 0.99));
    cunei_json_number_or_null(json, "max_ns", is_known, facts->max_ns);
    cunei_json_number(json, "recursive", facts->recursive);
    cunei_json_number(json, "raised", facts->raised);
    put_estimate(json, facts);
    if (report->options->more)
        report->options->more->put_function(report->options->more->context, json,
                                            index);
    cunei_json_close(json, '}');
}

static int print_json(const struct cunei_report *report, struct cunei_json *json)
{
    struct cunei_ranking ranking;

    int rc = cunei_ranking_init(&ranking, report);
    if (rc < 0)
        return rc;
    cunei_json_open(json, "functions", '[');
    for (uint32_t i = 0; i < ranking.count; i++)
        put_json(report, json, ranking.indices[i]);
    cunei_json_close(json, ']');
    cunei_ranking_fini(&ranking);
    return 0;
}

const struct cunei_report_section cunei_report_section_functions = {
    .name = "functions",
    .folds = true,
    .print = print,
    .print_notes = print_notes,
    .print_json = print_json,
};
