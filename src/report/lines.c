// SPDX-License-Identifier: MIT
/* The source of functions, with the time of each line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_stamp.h"
#include "report/function_choice.h"
#include "report/note.h"
#include "report/section.h"
#include "text/format.h"
#include "text/json.h"
#include "text/names.h"
#include "text/table.h"
#include "text/terminal_text.h"
#include "trace/source_code/recorded_source.h"
#include "trace/source_code/source_file.h"

/* A line with this part of the function's time is hot or warm. */
#define HOT_SHARE  4u
#define WARM_SHARE 20u

/* The lines to show, by function and line. */
struct chosen {
    const struct cunei_line_facts **items; /* owned, of borrowed items */
    uint32_t count;
};

static const struct cunei_function *function_of(const struct cunei_report *report,
                                                const struct cunei_line_facts *line)
{
    return &report->analysis->functions.items[line->function - 1];
}

static int compare_lines(const void *a, const void *b)
{
    const struct cunei_line_facts *one = *(const struct cunei_line_facts *const *)a;
    const struct cunei_line_facts *two = *(const struct cunei_line_facts *const *)b;

    if (one->function != two->function)
        return one->function < two->function ? -1 : 1;
    return one->line < two->line ? -1 : one->line > two->line;
}

/* -ENODATA: a function has that name, but its lines were not recorded; -ENOENT: none
 * has. */
static int nothing_found(const struct cunei_report *report,
                         const struct cunei_function_choice *wanted)
{
    const struct cunei_functions *functions = &report->analysis->functions;

    for (uint32_t i = 0; i < functions->count; i++) {
        if (cunei_function_choice_has(wanted, &functions->items[i]))
            return -ENODATA;
    }
    return -ENOENT;
}

/* The functions that have lines; those whose name finds no memory are left out. */
static void set_missing(const struct cunei_report *report, const char *name,
                        struct cunei_report_missing *missing)
{
    const struct cunei_functions *functions = &report->analysis->functions;
    const struct cunei_lines *lines = &report->analysis->lines;
    bool *has_lines = calloc((size_t)functions->count + 1, sizeof(*has_lines));

    missing->name = name;
    missing->is_line = true;
    missing->lined = calloc((size_t)functions->count + 1, sizeof(char *));
    for (uint32_t i = 1; has_lines && i < lines->count; i++)
        has_lines[lines->items[i].function - 1] = true;
    for (uint32_t i = 0; has_lines && missing->lined && i < functions->count; i++) {
        char *copy = has_lines[i] ? strdup(functions->items[i].qualname) : NULL;
        if (copy)
            missing->lined[missing->lined_count++] = copy;
    }
    free(has_lines);
}

/* Mark the lines of the functions that match a name. */
static int mark(const struct cunei_report *report, const char *name, bool *marks)
{
    const struct cunei_lines *lines = &report->analysis->lines;
    struct cunei_function_choice wanted;
    bool found = false;

    int rc = cunei_function_choice_init(&wanted, report, name);
    for (uint32_t i = 1; rc == 0 && i < lines->count; i++) {
        bool has =
            cunei_function_choice_has(&wanted, function_of(report, &lines->items[i]));
        marks[i] |= has;
        found |= has;
    }
    if (rc == 0 && !found)
        rc = nothing_found(report, &wanted);
    if (rc < 0 && report->options->missing)
        set_missing(report, name, report->options->missing);
    cunei_function_choice_fini(&wanted);
    return rc;
}

/* Without names, the lines of all functions that the patterns let through.  -ENOENT and
 * -ENODATA as of cunei_report_print. */
static int choose(const struct cunei_report *report, struct chosen *chosen)
{
    const struct cunei_report_choice *choice = report->choice;
    const struct cunei_lines *lines = &report->analysis->lines;
    bool *marks = calloc((size_t)lines->count + 1, sizeof(*marks));
    int rc = marks ? 0 : -ENOMEM;

    *chosen = (struct chosen){0};
    for (size_t i = 0; rc == 0 && i < choice->name_count; i++)
        rc = mark(report, choice->names[i], marks);
    if (rc == 0)
        chosen->items =
            calloc((size_t)lines->count + 1, sizeof(struct cunei_line_facts *));
    if (rc == 0 && !chosen->items)
        rc = -ENOMEM;
    for (uint32_t i = 1; rc == 0 && i < lines->count; i++) {
        const struct cunei_line_facts *line = &lines->items[i];
        if (choice->name_count > 0 ? marks[i]
                                   : cunei_report_shows(report, line->function - 1))
            chosen->items[chosen->count++] = line;
    }
    if (rc == 0 && chosen->count > 0)
        qsort(chosen->items, chosen->count, sizeof(struct cunei_line_facts *),
              compare_lines);
    free(marks);
    return rc;
}

/* The chosen lines of one function. */
struct part {
    uint32_t first, count;
    uint64_t total_ns;
};

static int compare_parts(const void *a, const void *b)
{
    const struct part *one = a, *two = b;

    if (one->total_ns != two->total_ns)
        return one->total_ns > two->total_ns ? -1 : 1;
    return one->first < two->first ? -1 : one->first > two->first;
}

/* The functions, the costliest first; owned by the caller, NULL: no memory. */
static struct part *find_parts(const struct cunei_report *report,
                               const struct chosen *chosen, uint32_t *count)
{
    struct part *parts = calloc((size_t)chosen->count + 1, sizeof(*parts));

    *count = 0;
    for (uint32_t i = 0; parts && i < chosen->count; i++) {
        uint32_t function = chosen->items[i]->function;
        if (i == 0 || chosen->items[i - 1]->function != function)
            parts[(*count)++] = (struct part){
                .first = i, .total_ns = report->analysis->facts[function - 1].total_ns};
        parts[*count - 1].count++;
    }
    if (parts)
        qsort(parts, *count, sizeof(*parts), compare_parts);
    return parts;
}

/* A note if the source text may not match the numbers. */
static int note_state(const struct cunei_report *report,
                      const struct cunei_function *function,
                      enum cunei_source_state state)
{
    struct cunei_buffer words = {0}, place = {0};

    if (state == CUNEI_SOURCE_SAME)
        return 0;
    cunei_terminal_text(&place, cunei_format_file(function->file, report->home),
                        SIZE_MAX);
    const char *file = place.data ? place.data : "its file";
    if (state == CUNEI_SOURCE_CHANGED)
        cunei_buffer_format(
            &words,
            "%s has changed since the recording: the source text may not "
            "match the numbers",
            file);
    else if (state == CUNEI_SOURCE_UNKNOWN)
        cunei_buffer_format(
            &words, "it is not known whether %s has changed since the recording", file);
    else
        cunei_buffer_format(&words, "%s %s, so its source text is not shown", file,
                            function->file[0] == '<' ? "is not a file"
                                                     : "was not found");
    cunei_buffer_fini(&place);
    return cunei_note_print(report, "source", CUNEI_INK_BAD, &words);
}

/* Lines that were recorded by instruction events took longer. */
static int note_search(const struct cunei_report *report,
                       const struct cunei_line_facts *const *lines,
                       const struct part *part)
{
    struct cunei_buffer words = {0};
    bool is_searched = false;

    for (uint32_t i = 0; i < part->count; i++)
        is_searched |= lines[i]->is_searched;
    if (!is_searched)
        return 0;
    cunei_buffer_append_text(
        &words,
        "line events of CPython 3.12 and 3.13.0 to 3.13.2 are slow for functions "
        "of more than 127 lines (gh-127953); cunei used instruction events "
        "instead, which add about 0.2 µs to each line");
    return cunei_note_print(report, "long", CUNEI_INK_WARM, &words);
}

static const struct cunei_column columns[] = {
    {.head = "line"},         {.head = "hits"},
    {.head = "time"},         {.head = "per hit", .rank = 2},
    {.head = "%", .rank = 1}, {.head = "source", .min = 32},
};

static enum cunei_ink heat_of(uint64_t part_ns, uint64_t whole_ns)
{
    if (part_ns == 0)
        return CUNEI_INK_PLAIN;
    return part_ns >= whole_ns / HOT_SHARE    ? CUNEI_INK_HOT
           : part_ns >= whole_ns / WARM_SHARE ? CUNEI_INK_WARM
                                              : CUNEI_INK_PLAIN;
}

/* The source text, without the indentation of the whole function. */
static void put_text(struct cunei_table *table, const struct cunei_source_file *source,
                     uint32_t line, unsigned indent)
{
    struct cunei_buffer *cell = cunei_table_cell(table, CUNEI_INK_PLAIN);
    unsigned own = cunei_source_file_indent(source, line);
    size_t size = 0;
    const char *text = cunei_source_file_line(source, line, &size);

    if (!text || strspn(text, " \t") >= size)
        return;
    if (own > indent)
        cunei_buffer_format(cell, "%*s", (int)(own - indent), "");
    cunei_table_lead(table);
    cunei_source_file_put(source, line, cell);
}

/* The numbers of a line; `facts` is NULL if it was never hit. */
static void put_numbers(struct cunei_table *table, uint32_t line,
                        const struct cunei_line_facts *facts, uint64_t total_ns)
{
    enum cunei_ink heat = heat_of(facts ? facts->time : 0, total_ns);

    cunei_buffer_format(cunei_table_cell(table, CUNEI_INK_DIM), "%u", (unsigned)line);
    struct cunei_buffer *cell = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (facts)
        cunei_format_count(cell, facts->hits);
    cell = cunei_table_cell(table, heat);
    if (facts)
        cunei_format_duration(cell, facts->time);
    cell = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (facts && facts->hits > 0)
        cunei_format_duration(cell, facts->time / facts->hits);
    cell = cunei_table_cell(table, heat);
    if (facts && total_ns > 0)
        cunei_format_percent(cell, facts->time, total_ns);
}

/* A module begins at its first line, and ends with the file. */
static bool is_module(const struct cunei_function *function)
{
    return strcmp(function->qualname, "<module>") == 0;
}

static void put_rows(const struct cunei_report *report, struct cunei_table *table,
                     const struct cunei_line_facts *const *lines,
                     const struct part *part, const struct cunei_source_file *source)
{
    const struct cunei_function *function = function_of(report, lines[0]);
    uint32_t last = lines[part->count - 1]->line, next = 0;
    uint32_t first = function->line < lines[0]->line ? function->line : lines[0]->line;
    unsigned indent = cunei_source_file_indent(source, function->line);

    if (source->count > 0) {
        uint32_t end = is_module(function)
                           ? source->count
                           : cunei_source_file_block(source, function->line);
        last = end > last ? end : last;
    }
    for (uint32_t line = first ? first : 1; line <= last && next <= part->count;
         line++) {
        const struct cunei_line_facts *facts =
            next < part->count && lines[next]->line == line ? lines[next] : NULL;
        next += facts != NULL;
        if (!facts && line > source->count) {
            if (next == part->count)
                return;
            line = lines[next]->line - 1; /* skip lines without numbers and text */
            continue;
        }
        put_numbers(table, line, facts, part->total_ns);
        put_text(table, source, line, indent);
    }
}

static int print_part(const struct cunei_report *report, const struct chosen *chosen,
                      const struct part *part, struct cunei_file_stamps *stamps)
{
    const struct cunei_line_facts *const *lines = chosen->items + part->first;
    const struct cunei_function *function = function_of(report, lines[0]);
    enum cunei_source_state state =
        cunei_recorded_source_state(function, report->home, stamps);
    struct cunei_source_file source = {0};
    struct cunei_buffer path = {0};
    struct cunei_table table;

    cunei_recorded_source_path(&path, function, report->home);
    if (state != CUNEI_SOURCE_MISSING &&
        (path.failed || cunei_source_file_read(&source, path.data) < 0))
        state = CUNEI_SOURCE_MISSING;
    cunei_buffer_fini(&path);
    int rc = cunei_report_head(report, lines[0]->function - 1);
    if (rc == 0)
        rc = note_state(report, function, state);
    if (rc == 0)
        rc = note_search(report, lines, part);
    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    put_rows(report, &table, lines, part, &source);
    if (rc == 0)
        rc = cunei_table_print(&table, &report->options->style, report->out);
    cunei_table_fini(&table);
    cunei_source_file_fini(&source);
    return rc;
}

static int print(const struct cunei_report *report, struct cunei_report_rows *rows)
{
    struct cunei_file_stamps stamps = {0};
    struct chosen chosen;
    struct part *parts = NULL;
    uint32_t count = 0;

    int rc = choose(report, &chosen);
    if (rc < 0)
        return rc;
    parts = find_parts(report, &chosen, &count);
    if (!parts)
        rc = -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        if (i > 0)
            (void)fputc('\n', report->out);
        rc = print_part(report, &chosen, &parts[i], &stamps);
    }
    free(parts);
    free(chosen.items);
    *rows = (struct cunei_report_rows){1, 1};
    return rc;
}

static void put_json(const struct cunei_report *report, struct cunei_json *json,
                     const struct cunei_line_facts *line, enum cunei_source_state state)
{
    static const char *const states[] = {[CUNEI_SOURCE_SAME] = "same",
                                         [CUNEI_SOURCE_CHANGED] = "changed",
                                         [CUNEI_SOURCE_UNKNOWN] = NULL,
                                         [CUNEI_SOURCE_MISSING] = "missing"};
    const struct cunei_function *function = function_of(report, line);

    cunei_json_open(json, NULL, '{');
    cunei_report_put_function(json, "function", function, line->line);
    cunei_json_number(json, "hits", line->hits);
    cunei_json_number(json, "time_ns", line->time);
    cunei_json_text(json, "source", states[state]);
    cunei_json_close(json, '}');
}

static int print_json(const struct cunei_report *report, struct cunei_json *json)
{
    enum cunei_source_state state = CUNEI_SOURCE_UNKNOWN;
    struct cunei_file_stamps stamps = {0};
    struct chosen chosen;

    int rc = choose(report, &chosen);
    if (rc < 0)
        return rc;
    cunei_json_open(json, "lines", '[');
    for (uint32_t i = 0; i < chosen.count; i++) {
        const struct cunei_line_facts *line = chosen.items[i];
        if (i == 0 || chosen.items[i - 1]->function != line->function)
            state = cunei_recorded_source_state(function_of(report, line), report->home,
                                                &stamps);
        put_json(report, json, line, state);
    }
    cunei_json_close(json, ']');
    free(chosen.items);
    return 0;
}

static bool has_rows(const struct cunei_analysis *analysis)
{
    return analysis->line_events > 0;
}

const struct cunei_report_section cunei_report_section_lines = {
    .name = "lines",
    .letter = 'l',
    .value = "NAME",
    .is_repeatable = true,
    .is_recording = true,
    .help = "show the source of a function with the time of each\n"
            "line, if they were recorded (record --lines); may be\n"
            "repeated",
    .needs = CUNEI_REPORT_NEEDS_LINES,
    .has_rows = has_rows,
    .print = print,
    .print_json = print_json,
};
