// SPDX-License-Identifier: MIT
/* `cunei compare`: shows what changed between two recordings. */
#include "report/compare.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/comparison.h"
#include "base/buffer.h"
#include "base/measure.h"
#include "base/pattern.h"
#include "cmd/cmd.h"
#include "cmd/common/export_option.h"
#include "cmd/common/options.h"
#include "cmd/common/output.h"
#include "cmd/common/output_file.h"
#include "cmd/common/viewer.h"
#include "cmd/compare_args.h"
#include "export/formats.h"
#include "export/html/comparison_page.h"
#include "model/facts/call_tree.h"

#define HTML "html"

struct values {
    struct cunei_compare_options compare;
    struct cunei_patterns patterns; /* owned */
    const char *fail_over;
    double limit;   /* `fail_over` as a number */
    const char *to; /* as typed; NULL: no file is made */
    const char *output;
    const char *file; /* from these two */
    bool force;
    bool open;
};

static const char *const sort_names[] = {"self", "total", "calls", "name", NULL};

static const struct cunei_option options[] = {
    {.name = "sort",
     .letter = 's',
     .kind = CUNEI_OPTION_CHOICE,
     .value = "KEY",
     .choices = sort_names,
     .help = "sort by the change in:",
     .offset = offsetof(struct values, compare.sort)},
    {.name = "limit",
     .letter = 'n',
     .kind = CUNEI_OPTION_NUMBER,
     .value = "N",
     .help = "show the first N functions (default 25; 0: all)",
     .offset = offsetof(struct values, compare.limit)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_options_patterns,
     .offset = offsetof(struct values, patterns)},
    {.name = "fail-over",
     .kind = CUNEI_OPTION_TEXT,
     .value = "PCT",
     .help = "exit with status 1 if the self time of all compared\n"
             "functions grew by more than PCT % from A to B; with\n"
             "several runs of each, only if the change is\n"
             "significant",
     .offset = offsetof(struct values, fail_over)},
    {.name = "json",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print JSON",
     .offset = offsetof(struct values, compare.json)},
    {.name = "to",
     .kind = CUNEI_OPTION_ONCE,
     .value = "html[:FILE]",
     .help = "also write a page with a flame graph of the\n"
             "difference: red is slower, blue is faster",
     .offset = offsetof(struct values, to)},
    {.name = "output",
     .letter = 'o',
     .kind = CUNEI_OPTION_TEXT,
     .value = "FILE",
     .help = "file for --to (default: compare.html); - is stdout",
     .offset = offsetof(struct values, output)},
    {.name = "force",
     .letter = 'f',
     .kind = CUNEI_OPTION_FLAG,
     .help = "overwrite a file that exists",
     .offset = offsetof(struct values, force)},
    {.name = "open",
     .kind = CUNEI_OPTION_FLAG,
     .help = "open the page",
     .offset = offsetof(struct values, open)},
    {0},
};

static int show(struct cunei_comparison *comparison, struct values *values)
{
    struct cunei_output output = {.out = stdout};

    if (!values->compare.json)
        cunei_output_open(&output, stdout,
                          values->compare.limit ? (size_t)values->compare.limit + 7
                                                : SIZE_MAX);
    values->compare.style = output.style;
    if (!isatty(STDOUT_FILENO) && !getenv("COLUMNS"))
        values->compare.style.width = 0; /* for programs: do not shorten names */
    int rc = cunei_compare_print(comparison, &values->compare, output.out);
    int close_rc = cunei_output_close(&output);
    rc = rc < 0 ? rc : close_rc == -EPIPE ? 0 : close_rc;
    return rc < 0 ? cunei_cmd_fail(rc, "cannot print the comparison") : EXIT_SUCCESS;
}

static int write_page(const struct cunei_comparison *comparison,
                      const struct values *values)
{
    struct cunei_output_file target;

    int status = cunei_output_file_open(&target, values->file, false, values->force);
    if (status != EXIT_SUCCESS)
        return status;
    int rc = cunei_difference_write(comparison, values->compare.names, target.out);
    rc = cunei_output_file_close(&target, rc);
    if (rc < 0)
        return cunei_cmd_fail(rc, "cannot write '%s'", values->file);
    if (strcmp(values->file, "-") != 0)
        cunei_cmd_note("wrote '%s': open it in a browser", values->file);
    if (comparison->trees[0]->folded + comparison->trees[1]->folded > 0)
        cunei_cmd_note(CUNEI_EXPORTING_FOLDED);
    if (values->open)
        cunei_viewer_open(cunei_export_find(HTML, strlen(HTML)), values->file);
    return EXIT_SUCCESS;
}

static int judge(const struct cunei_comparison *comparison, double limit)
{
    double growth = cunei_comparison_growth(comparison);
    struct cunei_buffer where = {0};

    if (growth <= limit)
        return EXIT_SUCCESS;
    if (isinf(growth))
        return cunei_cmd_fail(0, "the compared functions took no time in A, so there "
                                 "is no percentage to check");
    if (cunei_comparison_has_chance(comparison) &&
        comparison->chance >= CUNEI_COMPARE_SIGNIFICANT) {
        cunei_cmd_note(
            "B takes %.1f %% more time than A, but that may be chance (%.2f); "
            "compare more runs",
            growth, comparison->chance);
        return EXIT_SUCCESS;
    }
    cunei_compare_format_growth(comparison, &where);
    int status = cunei_cmd_fail(0,
                                "B takes %.1f %% more time than A (limit: %g %%), "
                                "most of it in %s",
                                growth, limit, where.data ? where.data : "none");
    cunei_buffer_fini(&where);
    return status;
}

static int settle_limit(struct values *values)
{
    const char *text = values->fail_over;

    return !text || cunei_measure_percent(text, 0, HUGE_VAL, &values->limit)
               ? CUNEI_OPTIONS_CONTINUE
               : cunei_cmd_usage("--fail-over needs a percentage, for example 5 or "
                                 "2.5%%, not '%s'",
                                 text);
}

/* Parse --to and -o, and check that the file can be written. */
static int prepare_file(struct values *values)
{
    size_t size = strlen(HTML);

    if (!values->to)
        return values->output || values->open
                   ? cunei_cmd_usage("%s needs --to html",
                                     values->output ? "--output" : "--open")
                   : CUNEI_OPTIONS_CONTINUE;
    if (strncmp(values->to, HTML, size) != 0 ||
        (values->to[size] != '\0' && values->to[size] != ':'))
        return cunei_cmd_usage("a comparison can only be written --to html, not to "
                               "'%s'; --json prints it for programs",
                               values->to);
    if (values->output && values->to[size] == ':')
        return cunei_cmd_usage("--to %s and -o %s both name a file; give one of them",
                               values->to, values->output);
    const char *named = values->to[size] == ':' ? values->to + size + 1 : "";
    values->file = values->output ? values->output : named[0] ? named : "compare.html";
    bool is_stdout = strcmp(values->file, "-") == 0;
    if (values->open && is_stdout)
        return cunei_cmd_usage("--open needs a file, but - is stdout");
    if (values->compare.json && is_stdout)
        return cunei_cmd_usage("--json and -o - both write to stdout; name a file");
    int status = cunei_output_file_check(values->file, false, values->force);
    return status == EXIT_SUCCESS ? CUNEI_OPTIONS_CONTINUE : status;
}

/* Whether the patterns leave any function: --fail-over must not pass without one. */
static bool has_items(const struct cunei_comparison *comparison)
{
    uint32_t i = 0;

    while (i < comparison->count && comparison->items[i].is_hidden)
        i++;
    return i < comparison->count;
}

/* Print and write first: --fail-over decides on the exit status only. */
static int finish(struct cunei_comparison *comparison, struct values *values)
{
    bool is_page_all = values->file && strcmp(values->file, "-") == 0;
    int status = EXIT_SUCCESS;

    if (!has_items(comparison) && values->patterns.count > 0)
        return cunei_cmd_fail(
            0,
            "--include, --exclude and --only-project leave no function of either side; " CUNEI_EXPORTING_PATTERNS);
    if (!is_page_all)
        status = show(comparison, values);
    if (status == EXIT_SUCCESS && values->file)
        status = write_page(comparison, values);
    if (status == EXIT_SUCCESS && values->fail_over)
        status = judge(comparison, values->limit);
    return status;
}

static int compare(struct cunei_compare_sides *sides, struct values *values)
{
    cunei_patterns_project_first(&values->patterns);
    struct cunei_comparison comparison = {.patterns = &values->patterns,
                                          .has_trees = values->file != NULL};

    int status = cunei_compare_sides_load(sides, &comparison);
    if (status == EXIT_SUCCESS) {
        values->compare.directory = sides->first.directory;
        for (unsigned i = 0; i < 2; i++)
            values->compare.names[i] = sides->sides[i].paths[0];
        status = finish(&comparison, values);
        if (status == EXIT_SUCCESS && sides->damage[0])
            status = cunei_cmd_fail(0, "%s; the rest was compared", sides->damage);
    }
    cunei_comparison_fini(&comparison);
    return status;
}

static int run_compare(int argc, char **argv)
{
    struct values values = {.compare.limit = 25};
    struct cunei_compare_sides sides = {0};

    cunei_compare_sides_mark(&sides, argc, argv);
    int status = cunei_options_parse(&cunei_cmd_compare, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_compare_sides_find(&sides, argc, argv);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = settle_limit(&values);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = prepare_file(&values);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = compare(&sides, &values);
    cunei_compare_sides_fini(&sides);
    cunei_patterns_fini(&values.patterns);
    return status;
}

const struct cunei_cmd cunei_cmd_compare = {
    .name = "compare",
    .args = "[options] A B, or A… -- B…",
    .summary = "show what changed between two recordings",
    .help =
        "Compares two traces, or a trace and a cProfile file, function by function: time\n"
        "and calls of both, and the difference, largest change first. Functions are\n"
        "matched by module and name, so their lines may move. With a cProfile file they\n"
        "are matched by file, line and name, and each resumption of a generator counts\n"
        "as a call. With several runs on each side, averages are compared; chance is the\n"
        "probability of such a difference between runs of the same program (Welch's\n"
        "test), and * marks those below 0.05.\n"
        "\n"
        "  cunei compare before after\n"
        "  cunei compare before1 before2 before3 -- after1 after2 after3\n"
        "  cunei compare app.prof trace --sort calls     does cProfile count the same?\n"
        "  cunei compare main branch --fail-over 5       status 1 if more than 5 % slower\n"
        "  cunei compare main branch --include 'app' --fail-over 5\n"
        "  cunei compare before after --to html --open   where it got slower",
    .options = options,
    .run = run_compare,
};
