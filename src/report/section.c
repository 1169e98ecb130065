// SPDX-License-Identifier: MIT
#include "report/section.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/function_numbers.h"
#include "model/facts/import_system.h"
#include "text/format.h"
#include "text/json.h"
#include "text/names.h"
#include "text/paragraph.h"
#include "text/table.h"
#include "text/terminal_text.h"

/* Shares of the working time from which on a number is coloured. */
#define HOT_SHARE  5  /* one fifth */
#define WARM_SHARE 20 /* one twentieth */

uint64_t cunei_report_limit(const struct cunei_report *report, uint64_t count)
{
    uint64_t limit = report->options->limit;

    return limit > 0 && limit < count ? limit : count;
}

bool cunei_report_shows(const struct cunei_report *report, uint32_t function)
{
    const struct cunei_function *names = &report->analysis->functions.items[function];

    return cunei_patterns_include(&report->options->patterns, names->module,
                                  names->qualname, names->file);
}

void cunei_report_name(const struct cunei_report *report, uint32_t function,
                       struct cunei_buffer *out)
{
    const struct cunei_functions *functions = &report->analysis->functions;

    if (function < functions->count && report->is_folded &&
        cunei_is_imported_module(&functions->items[function]))
        cunei_buffer_format(out, "import %s", functions->items[function].module);
    else if (function < functions->count)
        cunei_format_function(out, &functions->items[function]);
    else
        cunei_buffer_append_text(out, "?");
}

void cunei_report_place(const struct cunei_report *report, uint32_t function,
                        struct cunei_buffer *out)
{
    const struct cunei_functions *functions = &report->analysis->functions;

    if (function >= functions->count)
        return;
    cunei_format_place(out, &functions->items[function], report->home);
}

void cunei_report_put_function(struct cunei_json *json, const char *name,
                               const struct cunei_function *function, uint32_t line)
{
    cunei_json_text(json, "module", function ? function->module : NULL);
    cunei_json_text(json, name, function ? function->qualname : NULL);
    cunei_json_text(json, "file", function ? function->file : NULL);
    cunei_json_number(json, "line", line);
}

uint32_t cunei_report_pid(const struct cunei_report *report, size_t process)
{
    return report->analysis->processes[process].process->metadata.pid;
}

void cunei_report_add_pid(const struct cunei_report *report, struct cunei_table *table,
                          size_t process)
{
    struct cunei_buffer *cell = cunei_table_cell(table, CUNEI_INK_DIM);

    if (report->analysis->process_count > 1)
        cunei_buffer_format(cell, "%" PRIu32, cunei_report_pid(report, process));
}

void cunei_report_add_duration(struct cunei_table *table, bool is_known, uint64_t ns)
{
    struct cunei_buffer *cell = cunei_table_cell(table, CUNEI_INK_PLAIN);

    if (is_known)
        cunei_format_duration(cell, ns);
    else
        cunei_buffer_append_text(cell, "–");
}

int cunei_report_print_table(const struct cunei_report *report,
                             struct cunei_table *table, const char *absence)
{
    int rc = 0;

    if (cunei_table_is_empty(table))
        (void)fputs(absence, report->out);
    else
        rc = cunei_table_print(table, &report->options->style, report->out);
    cunei_table_fini(table);
    return rc;
}

enum cunei_ink cunei_report_heat(const struct cunei_report *report, uint64_t ns)
{
    if (ns == 0)
        return CUNEI_INK_PLAIN;
    uint64_t base_ns = report->waiting.base_ns;
    return ns >= base_ns / HOT_SHARE    ? CUNEI_INK_HOT
           : ns >= base_ns / WARM_SHARE ? CUNEI_INK_WARM
                                        : CUNEI_INK_PLAIN;
}

void cunei_report_partial_duration(struct cunei_buffer *out, uint64_t ns,
                                   bool is_partial)
{
    if (is_partial)
        cunei_buffer_append_text(out, "≥ ");
    cunei_format_duration(out, ns);
}

void cunei_report_offset(const struct cunei_report *report, uint64_t ns,
                         struct cunei_buffer *out)
{
    uint64_t origin_ns = report->analysis->begin_ns;

    cunei_buffer_append_text(out, "+");
    cunei_format_duration(out, ns > origin_ns ? ns - origin_ns : 0);
}

int cunei_report_head(const struct cunei_report *report, uint32_t function)
{
    const struct cunei_analysis_function *facts = &report->analysis->facts[function];
    struct cunei_paragraph line = {.style = &report->options->style, .indent = 2};
    const char *sign = cunei_function_is_estimated(facts) ? "~" : "";
    struct cunei_buffer text = {0}, words = {0};

    cunei_report_name(report, function, &text);
    cunei_terminal_text(&words, cunei_buffer_text(&text), 60);
    cunei_paragraph_put(&line, "", CUNEI_INK_STRONG, cunei_buffer_text(&words));
    cunei_buffer_clear(&text);
    cunei_buffer_clear(&words);
    cunei_report_place(report, function, &text);
    cunei_terminal_path(&words, cunei_buffer_text(&text), 60);
    cunei_paragraph_put(&line, "  ", CUNEI_INK_DIM, cunei_buffer_text(&words));
    cunei_buffer_clear(&words);
    cunei_buffer_append_text(&words, sign);
    cunei_format_duration(&words, facts->total_ns);
    cunei_buffer_format(&words, " in %s", sign);
    cunei_format_several(&words, facts->calls, "call");
    if (facts->resumes > 0) {
        cunei_buffer_format(&words, ", %s", sign);
        cunei_format_several(&words, facts->resumes, "resume");
    }
    cunei_paragraph_put(&line, " · ", CUNEI_INK_PLAIN, cunei_buffer_text(&words));
    cunei_buffer_fini(&text);
    cunei_buffer_fini(&words);
    return cunei_paragraph_print(&line, report->out);
}

/* Whether `--instrumenter none` recorded all processes, and no function was decorated.
 */
bool cunei_report_is_without_calls(const struct cunei_analysis *analysis)
{
    bool is_none = analysis->process_count > 0 && analysis->calls == 0;

    for (size_t i = 0; i < analysis->process_count; i++) {
        const char *instrumenter =
            analysis->processes[i].process->description.instrumenter;
        is_none &= instrumenter && strcmp(instrumenter, "none") == 0;
    }
    return is_none;
}

const char *cunei_report_absence(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;

    if (analysis->functions.count > 0)
        return "No recorded function matches the patterns.\n";
    return cunei_report_is_without_calls(analysis)
               ? "No call was recorded: --instrumenter none records none.\n"
               : "No call was recorded.\n";
}
