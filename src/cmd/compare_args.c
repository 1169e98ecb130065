// SPDX-License-Identifier: MIT
#include "cmd/compare_args.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/analyzer.h"
#include "analysis/comparison.h"
#include "cmd/cmd.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/options.h"
#include "cmd/common/progress_bar.h"
#include "trace/directory/cprofile_file.h"
#include "trace/directory/trace.h"

void cunei_compare_sides_mark(struct cunei_compare_sides *sides, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            argv[i] = sides->dashes;
    }
}

int cunei_compare_sides_find(struct cunei_compare_sides *sides, int argc, char **argv)
{
    int split = 0, count = 0;

    for (int i = 1; i < argc; i++) {
        if (argv[i] == sides->dashes) {
            split = i;
            count++;
        }
    }
    if (count > 1)
        return cunei_cmd_usage("compare has two sides: use -- once, between them: "
                               "cunei compare A… -- B…");
    if (count == 0 && argc > 3)
        return cunei_cmd_usage("compare needs two traces, or several on each side with "
                               "-- between them: cunei compare %s … -- %s …",
                               argv[1], argv[argc - 1]);
    sides->sides[0] =
        (struct cunei_compare_side){argv + 1, split > 0 ? split - 1 : argc - 2};
    sides->sides[1] = (struct cunei_compare_side){
        argv + (split > 0 ? split + 1 : 2), split > 0 ? argc - split - 1 : argc - 2};
    if (sides->sides[0].count < 1 || sides->sides[1].count < 1)
        return cunei_cmd_usage("compare needs two traces or cProfile files: "
                               "cunei compare A B, or several of each: A… -- B…");
    return CUNEI_OPTIONS_CONTINUE;
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

static bool is_same(const char *one, const char *two)
{
    struct stat first, second;

    return stat(one, &first) == 0 && stat(two, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* A run that counts twice makes chance too small. */
static int check_twice(const struct cunei_compare_sides *sides)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct cunei_compare_side *side = &sides->sides[i];
        for (int j = 0; j < side->count; j++) {
            for (int k = 0; k < j; k++) {
                if (is_same(side->paths[j], side->paths[k]))
                    return cunei_cmd_usage("'%s' is given twice on one side; each run "
                                           "counts once",
                                           side->paths[j]);
            }
        }
    }
    for (int i = 0; i < sides->sides[0].count; i++) {
        for (int j = 0; j < sides->sides[1].count; j++) {
            if (is_same(sides->sides[0].paths[i], sides->sides[1].paths[j]))
                cunei_cmd_note("'%s' is on both sides", sides->sides[0].paths[i]);
        }
    }
    return EXIT_SUCCESS;
}

static void warn_of_config(struct cunei_compare_sides *sides, const char *path,
                           const struct cunei_trace *trace)
{
    struct cunei_compare_config config = {0};

    if (sides->first.path) {
        cunei_compare_config_take(&config, path, trace);
        cunei_compare_config_print_differences(&sides->first, &config);
        cunei_compare_config_fini(&config);
        return;
    }
    cunei_compare_config_take(&sides->first, path, trace);
}

static void note_losses(struct cunei_compare_sides *sides, const char *path,
                        const struct cunei_analysis *analysis)
{
    if (analysis->lost > 0)
        cunei_cmd_note("'%s' lost %" PRIu64 " events, so calls are missing in it", path,
                       analysis->lost);
    if (analysis->damage_count > 0 && !sides->damage[0])
        (void)snprintf(sides->damage, sizeof(sides->damage), "%s",
                       analysis->damages[0].text);
}

static int add_trace(struct cunei_compare_sides *sides,
                     struct cunei_comparison *comparison, unsigned side,
                     const char *path)
{
    struct cunei_progress_bar progress = {.what = "reading"};
    const struct cunei_analysis_options wanted = {.progress = cunei_progress_bar_show,
                                                  .progress_context = &progress,
                                                  .user_events = true,
                                                  .tree = comparison->has_trees};
    struct cunei_analysis analysis;
    struct cunei_trace trace;

    int status = cunei_cmd_open_trace(path, &trace);
    if (status != EXIT_SUCCESS)
        return status;
    warn_of_config(sides, path, &trace);
    int rc = cunei_analyze(&analysis, &trace, &wanted);
    cunei_progress_bar_clear(&progress);
    if (rc == 0) {
        rc = cunei_comparison_add(comparison, side, &analysis);
        note_losses(sides, path, &analysis);
        cunei_analysis_fini(&analysis);
    }
    cunei_trace_close(&trace);
    return rc < 0 ? cunei_cmd_fail(rc, "cannot read '%s'", path) : EXIT_SUCCESS;
}

static int add_prof(struct cunei_comparison *comparison, unsigned side,
                    const char *path)
{
    struct cunei_trace_error error;
    struct cunei_cprofile prof;

    int rc = cunei_cprofile_open(&prof, path, &error);
    if (rc < 0)
        return cunei_cmd_fail(0, "%s", error.text);
    rc = cunei_comparison_add_prof(comparison, side, &prof);
    cunei_cprofile_close(&prof);
    return rc < 0 ? cunei_cmd_fail(rc, "cannot read '%s'", path) : EXIT_SUCCESS;
}

/* Load the traces, or the files of cProfile. */
static int load(struct cunei_compare_sides *sides, struct cunei_comparison *comparison,
                bool of_files)
{
    int status = EXIT_SUCCESS;

    for (unsigned i = 0; i < 2; i++) {
        for (int j = 0; status == EXIT_SUCCESS && j < sides->sides[i].count; j++) {
            const char *path = sides->sides[i].paths[j];
            if (is_file(path) != of_files)
                continue;
            status = of_files ? add_prof(comparison, i, path)
                              : add_trace(sides, comparison, i, path);
        }
    }
    return status;
}

int cunei_compare_sides_load(struct cunei_compare_sides *sides,
                             struct cunei_comparison *comparison)
{
    int status = check_twice(sides);

    for (unsigned i = 0; i < 2; i++) {
        for (int j = 0; j < sides->sides[i].count; j++)
            sides->has_prof |= is_file(sides->sides[i].paths[j]);
    }
    if (status == EXIT_SUCCESS && sides->has_prof && comparison->has_trees)
        return cunei_cmd_usage("a flame graph needs two traces: a cProfile file has "
                               "no call paths");
    comparison->by_label = sides->has_prof;
    /* Traces first: names in files of cProfile are matched with their full names. */
    if (status == EXIT_SUCCESS)
        status = load(sides, comparison, false);
    if (status == EXIT_SUCCESS)
        status = load(sides, comparison, true);
    if (status == EXIT_SUCCESS && sides->has_prof && sides->first.path)
        cunei_compare_config_print_cprofile_limits(&sides->first);
    if (status == EXIT_SUCCESS)
        cunei_comparison_finish(comparison);
    return status;
}

void cunei_compare_sides_fini(struct cunei_compare_sides *sides)
{
    cunei_compare_config_fini(&sides->first);
}
