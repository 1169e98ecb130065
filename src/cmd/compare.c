// SPDX-License-Identifier: MIT
/* `cunei compare`: what changed between two recordings. */
#include "view/compare.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/open.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "survey/comparison.h"
#include "survey/survey.h"
#include "trace/prof.h"
#include "trace/trace.h"

struct values {
    struct cunei_compare_options compare;
    const char *fail_over;
};

static const char *const sort_names[] = {"self", "total", "calls", "name", NULL};

static const struct cunei_option options[] = {
    {.name = "sort",
     .kind = CUNEI_OPTION_CHOICE,
     .value = "KEY",
     .choices = sort_names,
     .help = "what changed most in: self, total, calls; or name",
     .offset = offsetof(struct values, compare.sort)},
    {.name = "limit",
     .letter = 'n',
     .kind = CUNEI_OPTION_NUMBER,
     .value = "N",
     .help = "show the first N functions (default: 25, 0: all)",
     .offset = offsetof(struct values, compare.limit)},
    {.name = "include",
     .kind = CUNEI_OPTION_INCLUDE,
     .value = "PATTERN",
     .help = "show functions that match; see 'cunei help record'",
     .offset = offsetof(struct values, compare.patterns)},
    {.name = "exclude",
     .kind = CUNEI_OPTION_EXCLUDE,
     .value = "PATTERN",
     .help = "show no functions that match; the last pattern decides",
     .offset = offsetof(struct values, compare.patterns)},
    {.name = "fail-over",
     .kind = CUNEI_OPTION_TEXT,
     .value = "PCT",
     .help = "exit with 1 where B takes that much more time than A,\nin percent",
     .offset = offsetof(struct values, fail_over)},
    {.name = "json",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print all as one JSON object",
     .offset = offsetof(struct values, compare.json)},
    {0},
};

/* What stands on a side. */
struct side {
    char **paths;
    int count;
};

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int add_trace(struct cunei_comparison *comparison, unsigned side,
                     const char *path)
{
    struct cunei_progress progress = {.what = "reading"};
    const struct cunei_survey_options wanted = {.progress = cunei_progress_show,
                                                .progress_context = &progress};
    struct cunei_survey survey;
    struct cunei_trace trace;

    int status = cunei_cmd_open_trace(path, &trace);
    if (status != EXIT_SUCCESS)
        return status;
    int rc = cunei_survey_init(&survey, &trace, &wanted);
    cunei_progress_clear(&progress);
    if (rc == 0) {
        rc = cunei_comparison_add(comparison, side, &survey);
        if (survey.damage_count > 0)
            cunei_cmd_note("%s; what is whole is compared", survey.damages[0].text);
        cunei_survey_fini(&survey);
    }
    cunei_trace_close(&trace);
    return rc < 0 ? cunei_cmd_fail(rc, "cannot read '%s'", path) : EXIT_SUCCESS;
}

static int add_prof(struct cunei_comparison *comparison, unsigned side,
                    const char *path)
{
    struct cunei_trace_error error;
    struct cunei_prof prof;

    int rc = cunei_prof_open(&prof, path, &error);
    if (rc < 0)
        return cunei_cmd_fail(0, "%s", error.text);
    rc = cunei_comparison_add_prof(comparison, side, &prof);
    cunei_prof_close(&prof);
    return rc < 0 ? cunei_cmd_fail(rc, "cannot read '%s'", path) : EXIT_SUCCESS;
}

static int load(struct cunei_comparison *comparison, const struct side sides[2])
{
    int status = EXIT_SUCCESS;

    for (unsigned i = 0; i < 2; i++) {
        for (int j = 0; j < sides[i].count; j++)
            comparison->by_label |= access(sides[i].paths[j], F_OK) == 0 &&
                                    !is_directory(sides[i].paths[j]);
    }
    for (unsigned i = 0; i < 2; i++) {
        for (int j = 0; status == EXIT_SUCCESS && j < sides[i].count; j++) {
            const char *path = sides[i].paths[j];
            bool is_file = access(path, F_OK) == 0 && !is_directory(path);
            status = is_file ? add_prof(comparison, i, path)
                             : add_trace(comparison, i, path);
        }
    }
    cunei_comparison_finish(comparison);
    return status;
}

static int show(struct cunei_comparison *comparison, struct values *values)
{
    struct cunei_output output = {.out = stdout};

    if (!values->compare.json)
        cunei_output_open(&output, stdout,
                          values->compare.limit ? (size_t)values->compare.limit + 5
                                                : SIZE_MAX);
    values->compare.style = output.style;
    if (!isatty(STDOUT_FILENO))
        values->compare.style.width = 0; /* for programs: nothing is shortened */
    int rc = cunei_compare_print(comparison, &values->compare, output.out);
    int close_rc = cunei_output_close(&output);
    rc = rc < 0 ? rc : close_rc == -EPIPE ? 0 : close_rc;
    return rc < 0 ? cunei_cmd_fail(rc, "cannot show the comparison") : EXIT_SUCCESS;
}

static int judge(const struct cunei_comparison *comparison, double limit)
{
    double growth = cunei_compare_growth(comparison);

    if (growth <= limit)
        return EXIT_SUCCESS;
    return cunei_cmd_fail(0, "B takes %.1f %% more time than A, and %g %% are allowed",
                          growth, limit);
}

/* A B, or A… -- B…: parsing would take the dashes away, so they are an empty word. */
static bool find_sides(int argc, char **argv, struct side sides[2],
                       struct values *values)
{
    int split = 0;

    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '\0')
            split = i;
    }
    if (split == 0 && argc != 3)
        return false;
    sides[0] = (struct side){argv + 1, split > 0 ? split - 1 : 1};
    sides[1] = split > 0 ? (struct side){argv + split + 1, argc - split - 1}
                         : (struct side){argv + 2, 1};
    if (sides[0].count == 0 || sides[1].count == 0)
        return false;
    for (int i = 0; i < 2; i++)
        values->compare.names[i] = sides[i].paths[0];
    return true;
}

static bool parse_percent(const char *text, double *percent)
{
    char *end = NULL;

    *percent = strtod(text, &end);
    return end != text && (end[0] == '\0' || strcmp(end, "%") == 0) && *percent >= 0;
}

static int run_compare(int argc, char **argv)
{
    static char dashes[] = "";
    struct values values = {.compare.limit = 25};
    struct cunei_comparison comparison = {0};
    struct side sides[2] = {0};
    double limit = 0;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            argv[i] = dashes;
    }
    int status = cunei_options_parse(&cunei_cmd_compare, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_GO_ON && !find_sides(argc, argv, sides, &values))
        status = cunei_cmd_usage("compare wants two traces, or what cProfile wrote: "
                                 "cunei compare A B, or several of each: A… -- B…");
    if (status == CUNEI_OPTIONS_GO_ON && values.fail_over &&
        !parse_percent(values.fail_over, &limit))
        status = cunei_cmd_usage(
            "--fail-over takes a percentage as 5 or 2.5%%, not '%s'", values.fail_over);
    if (status == CUNEI_OPTIONS_GO_ON) {
        status = load(&comparison, sides);
        if (status == EXIT_SUCCESS)
            status = show(&comparison, &values);
        if (status == EXIT_SUCCESS && values.fail_over)
            status = judge(&comparison, limit);
        cunei_comparison_fini(&comparison);
    }
    cunei_patterns_fini(&values.compare.patterns);
    return status;
}

const struct cunei_cmd cunei_cmd_compare = {
    .name = "compare",
    .args = "[options] A B, or A… -- B…",
    .summary = "show what changed between two recordings",
    .help =
        "Compares two traces, or a trace with what cProfile wrote, function by\n"
        "function: time and calls of both, and their difference, what changed most\n"
        "first.  Functions are matched by module and name, not by line.  With several\n"
        "runs of each side it compares averages, and says how likely such a\n"
        "difference is by chance (Welch's test).\n"
        "\n"
        "  cunei compare before after\n"
        "  cunei compare before1 before2 before3 -- after1 after2 after3\n"
        "  cunei compare app.prof trace --sort calls     is it what cProfile counts?\n"
        "  cunei compare main branch --fail-over 5       status 1 if over 5 % slower",
    .options = options,
    .run = run_compare,
};
