// SPDX-License-Identifier: MIT
/* `cunei report`: where the time of a recorded program went. */
#include "cmd/report.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/measure.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/common/options.h"
#include "cmd/common/output.h"
#include "cmd/report_follow.h"
#include "cmd/report_show.h"
#include "report/report.h"
#include "report/section.h"
#include "report/sections.h"
#include "trace/directory/process_choice.h"

#define VALUE(name) offsetof(struct cunei_report_values, report.name)

/* Of --follow, where no other time is given. */
#define FOLLOW_INTERVAL_NS CUNEI_NS_PER_S

/* The options of the sections; those that `cunei run` has for recording only where
 * `is_run` is false. */
static void make_section_options(struct cunei_option *rows, bool is_run)
{
    for (size_t i = 0; cunei_report_sections[i]; i++) {
        const struct cunei_report_section *section = cunei_report_sections[i];
        size_t value = offsetof(struct cunei_report_values, sections) +
                       i * sizeof(struct cunei_report_section_value);
        if (!section->help || (is_run && section->is_recording))
            continue;
        *rows = (struct cunei_option){.name = section->name,
                                      .letter = section->letter,
                                      .value = section->value,
                                      .help = section->help};
        if (!section->value) {
            rows->kind = CUNEI_OPTION_FLAG;
            value += offsetof(struct cunei_report_section_value, is_asked);
        } else if (section->is_repeatable) {
            rows->kind = CUNEI_OPTION_LIST;
            value += offsetof(struct cunei_report_section_value, names);
        } else {
            rows->kind = CUNEI_OPTION_TEXT;
            value += offsetof(struct cunei_report_section_value, name);
        }
        rows++->offset = value;
    }
}

static const struct cunei_option *run_section_options(void)
{
    static struct cunei_option rows[CUNEI_REPORT_SECTIONS_MAX + 1];

    if (!rows[0].name)
        make_section_options(rows, true);
    return rows;
}

static const struct cunei_option *report_section_options(void)
{
    static struct cunei_option rows[CUNEI_REPORT_SECTIONS_MAX + 1];

    if (!rows[0].name)
        make_section_options(rows, false);
    return rows;
}

static const struct cunei_option row_options[] = {
    {.name = "sort",
     .letter = 's',
     .kind = CUNEI_OPTION_CHOICE,
     .value = "KEY",
     .help = "sort by one of:",
     .offset = VALUE(sort),
     .choices = cunei_report_sort_names},
    {.name = "limit",
     .letter = 'n',
     .kind = CUNEI_OPTION_NUMBER,
     .value = "N",
     .help = "show the first N rows (default 25, and of functions as\n"
             "many as fit on the terminal; 0: all)",
     .offset = VALUE(limit)},
    {.name = "depth",
     .kind = CUNEI_OPTION_NUMBER,
     .value = "N",
     .help = "limit the tree to N levels (default 16; 0: all)",
     .offset = VALUE(depth)},
    {.name = "min-percent",
     .kind = CUNEI_OPTION_TEXT,
     .value = "P",
     .help = "hide entries of the tree below P % of the time of all\n"
             "threads (default 1)",
     .offset = offsetof(struct cunei_report_values, min_percent)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_options_process,
     .offset = offsetof(struct cunei_report_values, processes)},
    {.name = "idle",
     .kind = CUNEI_OPTION_FLAG,
     .help = "also list functions that only wait",
     .offset = VALUE(idle)},
    {.name = "no-fold",
     .kind = CUNEI_OPTION_FLAG,
     .help = "show the functions of the import system, whose time is\n"
             "otherwise self time of the code that imports; and in\n"
             "the tree all functions of libraries",
     .offset = VALUE(no_fold)},
    {.name = "json",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print all sections as one JSON object",
     .offset = VALUE(json)},
    {0},
};

const struct cunei_option cunei_report_run_options[] = {
    {.kind = CUNEI_OPTION_TABLE, .make_table = run_section_options},
    {.kind = CUNEI_OPTION_TABLE, .table = row_options},
    {0},
};

static const struct cunei_option options[] = {
    {.kind = CUNEI_OPTION_TABLE, .make_table = report_section_options},
    {.kind = CUNEI_OPTION_TABLE, .table = row_options},
    {.name = "follow",
     .letter = 'f',
     .kind = CUNEI_OPTION_FLAG,
     .help = "repeat the report until the recording ends",
     .offset = offsetof(struct cunei_report_values, follow)},
    {.name = "interval",
     .kind = CUNEI_OPTION_DURATION,
     .value = "TIME",
     .help = "with --follow: the time between two reports\n(default 1s)",
     .offset = offsetof(struct cunei_report_values, interval_ns)},
    {.name = "include",
     .kind = CUNEI_OPTION_INCLUDE,
     .value = "PATTERN",
     .help = "show only functions that match: module, file,\n"
             "module:qualname, re:expression; may be repeated, the\n"
             "last match wins",
     .offset = VALUE(patterns)},
    {.name = "exclude",
     .kind = CUNEI_OPTION_EXCLUDE,
     .value = "PATTERN",
     .help = "hide functions that match",
     .offset = VALUE(patterns)},
    {.name = "only-project",
     .kind = CUNEI_OPTION_PROJECT,
     .help = "show only functions of the program's own project; the\n"
             "time of libraries counts as self time of the code\n"
             "that calls them",
     .offset = VALUE(patterns)},
    {0},
};

/* What the option of a section asks for. */
static struct cunei_report_choice read_choice(struct cunei_report_section_value *value)
{
    if (value->names.count > 0)
        return (struct cunei_report_choice){true, value->names.items,
                                            value->names.count};
    if (value->name)
        return (struct cunei_report_choice){true, &value->name, 1};
    return (struct cunei_report_choice){.is_asked = value->is_asked};
}

static int refuse_several(void)
{
    struct cunei_buffer list = {0};

    for (size_t i = 0; cunei_report_sections[i]; i++) {
        if (cunei_report_sections[i]->help)
            cunei_buffer_format(&list, "%s--%s", list.size > 0 ? ", " : "",
                                cunei_report_sections[i]->name);
    }
    int status = cunei_cmd_usage("choose one of %s; or all of them with --json",
                                 list.data ? list.data : "the sections");
    cunei_buffer_fini(&list);
    return status;
}

/* Put what is asked for into the report. */
static int settle_sections(struct cunei_report_values *values)
{
    unsigned count = 0;

    for (size_t i = 0; cunei_report_sections[i]; i++) {
        struct cunei_report_choice choice = read_choice(&values->sections[i]);
        for (size_t j = 0; j < choice.name_count; j++) {
            if (!*choice.names[j])
                return cunei_cmd_usage("--%s needs a name that is not empty",
                                       cunei_report_sections[i]->name);
        }
        count += choice.is_asked;
        values->report.sections[i] = choice;
    }
    /* JSON has all sections that are asked for. */
    return count > 1 && !values->report.json ? refuse_several()
                                             : CUNEI_OPTIONS_CONTINUE;
}

int cunei_report_settle(struct cunei_report_values *values)
{
    int status = settle_sections(values);

    if (status != CUNEI_OPTIONS_CONTINUE)
        return status;
    cunei_patterns_project_first(&values->report.patterns);
    values->report.processes =
        (struct cunei_trace_choice){values->processes.items, values->processes.count};
    if (!values->min_percent)
        return CUNEI_OPTIONS_CONTINUE;
    double percent;
    if (!cunei_measure_percent(values->min_percent, 0, 100, &percent))
        return cunei_cmd_usage("--min-percent needs a number from 0 to 100, not '%s'",
                               values->min_percent);
    values->report.min_share = percent / 100;
    return CUNEI_OPTIONS_CONTINUE;
}

void cunei_report_values_fini(struct cunei_report_values *values)
{
    cunei_patterns_fini(&values->report.patterns);
    cunei_option_list_fini(&values->processes);
    for (size_t i = 0; i < CUNEI_REPORT_SECTIONS_MAX; i++)
        cunei_option_list_fini(&values->sections[i].names);
}

/* Check the options of --follow.  As cunei_options_parse. */
static int settle_follow(struct cunei_report_values *values)
{
    if (values->interval_ns > 0 && !values->follow)
        return cunei_cmd_usage("--interval needs --follow");
    if (values->interval_ns == 0)
        values->interval_ns = FOLLOW_INTERVAL_NS;
    return CUNEI_OPTIONS_CONTINUE;
}

static int run_report(int argc, char **argv)
{
    struct cunei_report_values values = CUNEI_REPORT_VALUES_DEFAULTS;
    struct cunei_report_options *report = &values.report;

    int status = cunei_options_parse(&cunei_cmd_report, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_options_directory(&cunei_cmd_report, argc, argv);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_report_settle(&values);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = settle_follow(&values);
    if (status == CUNEI_OPTIONS_CONTINUE) {
        report->directory = argv[1];
        report->style = cunei_output_style(stdout);
        status = values.follow
                     ? cunei_report_follow(argv[1], report, values.interval_ns)
                 : report->json ? cunei_report_show(argv[1], report, stdout)
                                : cunei_report_show_paged(argv[1], report);
    }
    cunei_report_values_fini(&values);
    return status;
}

const struct cunei_cmd cunei_cmd_report = {
    .name = "report",
    .args = "[options] DIR",
    .summary = "show where the time of a recorded program went",
    .help =
        "Shows the functions that took the most time, also while DIR is being recorded.\n"
        "\n"
        "  self        time in the function itself\n"
        "  total       time in the function and in the calls inside it; nested calls of\n"
        "              a recursive function count once\n"
        "  calls       how often it was called\n"
        "  resumes     how often a generator or coroutine continued after a yield\n"
        "  suspended   time between a yield and the next resume, neither in self nor in\n"
        "              total\n"
        "  mean        mean time from a call or resume to its return or yield\n"
        "  ≈p50 ≈p99   median and 99th percentile of these times, within 3 %\n"
        "  max         the longest of these times\n"
        "\n"
        "Percentages are shares of the time of all threads. Those of self exclude the\n"
        "time in functions that only wait, which a line below the table shows.\n"
        "\n"
        "  cunei report DIR                      the 25 costliest functions\n"
        "  cunei report DIR --sort calls -n 0    all functions, the most called first\n"
        "  cunei report DIR --tree               the call tree\n"
        "  cunei report DIR --callers parse      the callers of parse\n"
        "  cunei report DIR --lines parse        the source of parse, line by line\n"
        "  cunei report DIR --exceptions         where exceptions were raised and caught\n"
        "  cunei report DIR --process 'Fork*' --tasks\n"
        "  cunei report DIR --follow             again every second while it grows\n"
        "  cunei report DIR --exclude 're:^importlib|^<frozen'",
    .options = options,
    .run = run_report,
};
