// SPDX-License-Identifier: MIT
/* `cunei filter`: proposes what to leave out of the next recording, for --filter. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analyzer.h"
#include "analysis/filter_proposal.h"
#include "base/buffer.h"
#include "base/measure.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/options.h"
#include "cmd/common/output_file.h"
#include "cmd/common/progress_bar.h"
#include "text/format.h"
#include "text/json.h"
#include "text/names.h"

/* The cost of an event if the trace does not have it: see docs/explanation/cost.md. */
#define ASSUMED_COST_NS 25.0

struct values {
    const char *max_overhead;
    const char *file;
    bool force;
    bool json;
};

/* What both formats are written from. */
struct subject {
    const struct cunei_trace *trace;
    const struct cunei_filter_proposal *proposal;
    const char *directory; /* borrowed: as it was named */
};

/* "≈ 24.8 % (15 to 39)": an estimate and its bounds. */
static void put_overhead(struct cunei_buffer *out,
                         const struct cunei_filter_proposal_overhead *overhead)
{
    int digits = overhead->most < 0.1 ? 1 : 0;

    cunei_buffer_format(out, "≈ %.*f %% (%.*f to %.*f)", digits, 100 * overhead->usual,
                        digits, 100 * overhead->least, digits, 100 * overhead->most);
}

/* Append the character at the start of a text, or `wildcard` if it is unsafe or one of
 * `special`; returns its size. */
static size_t put_character(struct cunei_buffer *out, const char *text,
                            const char *special, const char *wildcard)
{
    size_t size = strlen(text), length = cunei_text_character(text, size);

    if (cunei_text_unsafe(text, size) > 0 || strchr(special, *text))
        cunei_buffer_append_text(out, wildcard);
    else
        cunei_buffer_append(out, text, length);
    return length > 0 ? length : 1;
}

/* A glob that matches this name, with all special characters escaped. */
static void put_glob(struct cunei_buffer *out, const char *name)
{
    while (*name) {
        if (strchr("*?[\\", *name))
            cunei_buffer_append_text(out, "\\");
        /* These would end the line, or make it a file or a comment. */
        name += put_character(out, name, " /:#", "?");
    }
}

/* The pattern for a function, whatever its name is. */
static void put_pattern(struct cunei_buffer *out,
                        const struct cunei_filter_proposal_function *function)
{
    size_t begin = out->size;

    if (strcmp(function->module, "re") == 0) /* re: starts a regular expression */
        cunei_buffer_append_text(out, "r[e]");
    else
        put_glob(out, function->module);
    cunei_buffer_append_text(out, ":");
    put_glob(out, function->qualname);
    /* A pattern that ends with .py is a file. */
    if (out->size - begin > 3 && strcmp(out->data + out->size - 3, ".py") == 0)
        out->data[out->size - 1] = '?';
    if (out->data && out->data[begin] == '!')
        out->data[begin] = '?';
}

/* A pattern of the recording on one line: characters that a filter file cannot hold
 * become wildcards. */
static void put_recorded(struct cunei_buffer *out, const char *pattern)
{
    const char *kind = pattern + (*pattern == '!');
    bool is_expression = strncmp(kind, "re:", 3) == 0 || strncmp(kind, "re-", 3) == 0;
    size_t size = strlen(pattern);

    for (size_t i = 0; i < size;) {
        bool is_comment = pattern[i] == '#' && (i == 0 || pattern[i - 1] == ' ');
        bool is_outer = pattern[i] == ' ' && (i == 0 || i + 1 == size);
        i += put_character(out, pattern + i,
                           is_comment ? "#"
                           : is_outer ? " "
                                      : "",
                           is_expression ? "." : "?");
    }
}

/* Those of the recording itself: the next one must not have more in it. */
static void put_patterns(struct cunei_buffer *out, const struct cunei_trace *trace)
{
    const struct cunei_process *process = &trace->processes[0].description;

    if (process->pattern_count == 0)
        return;
    cunei_buffer_append_text(out, "# The patterns of the recording:\n");
    for (size_t i = 0; i < process->pattern_count; i++) {
        cunei_buffer_format(out, "%c ", process->patterns[i][0]);
        put_recorded(out, process->patterns[i] + 1);
        cunei_buffer_append_text(out, "\n");
    }
}

static void put_row(struct cunei_buffer *out,
                    const struct cunei_filter_proposal_function *function)
{
    size_t begin = out->size;

    cunei_buffer_append_text(out, "- ");
    put_pattern(out, function);
    size_t width = out->size - begin;
    cunei_buffer_format(out, "%*s  # ", (int)(width < 40 ? 40 - width : 0), "");
    cunei_format_several(out, function->calls, "call");
    /* The cost of recording is subtracted, which may leave nothing. */
    if (function->self_ns < function->calls)
        cunei_buffer_append_text(out, ", too short to measure");
    else {
        cunei_buffer_append_text(out, " of ");
        cunei_format_duration(out, function->self_ns / function->calls);
    }
    cunei_buffer_append_text(out, function->calls == 1 ? "; recording it took ≈ "
                                                       : "; recording them took ≈ ");
    cunei_format_duration(out, function->cost_ns);
    cunei_buffer_append_text(out, "\n");
}

static void put_summary(struct cunei_buffer *out, const struct subject *subject)
{
    const struct cunei_filter_proposal *proposal = subject->proposal;
    struct cunei_buffer program = {0};

    /* A line break in the program's name would end the comment and begin a rule. */
    cunei_buffer_append_text(out, "# Made by 'cunei filter' from a recording of ");
    cunei_format_program(&program, &subject->trace->processes[0].description);
    cunei_text_show(out, cunei_buffer_text(&program), program.size);
    out->failed |= program.failed;
    cunei_buffer_fini(&program);
    cunei_buffer_append_text(out, proposal->has_budget
                                      ? ".\n# Recording without a budget would cost "
                                      : ".\n# Recording cost ");
    cunei_format_duration(out, proposal->cost_ns);
    cunei_buffer_append_text(out, ", ");
    put_overhead(out, &proposal->all);
    cunei_buffer_append_text(out, " of ");
    cunei_format_duration(out, proposal->run_ns);
    cunei_buffer_append_text(out, proposal->is_cost_known
                                      ? " CPU time.\n"
                                      : " CPU time, at an assumed 25 ns per event.\n");
    bool is_reached = proposal->left.usual <= proposal->max_overhead;
    if (proposal->left_out_count == 0) {
        cunei_buffer_format(out,
                            is_reached
                                ? "# That is within %.1f %%: nothing is excluded.\n"
                                : "# %.1f %% is not possible: the cost is in first "
                                  "calls, which no filter saves, and in functions "
                                  "that cost little each.\n",
                            100 * proposal->max_overhead);
        return;
    }
    cunei_buffer_append_text(out, "# Without ");
    cunei_format_several(out, proposal->left_out_count, "function");
    cunei_buffer_append_text(out, " it would cost ");
    put_overhead(out, &proposal->left);
    cunei_buffer_append_text(out, ", with ");
    cunei_format_count(out, proposal->events - proposal->saved_events);
    cunei_buffer_append_text(out, " of ");
    cunei_format_count(out, proposal->events);
    cunei_buffer_append_text(out, " call events.\n");
    if (!is_reached)
        cunei_buffer_format(
            out,
            "# %.1f %% is not possible: the rest is first calls and functions that cost "
            "little each.\n",
            100 * proposal->max_overhead);
}

static int write_lines(const struct subject *subject, FILE *file)
{
    const struct cunei_filter_proposal *proposal = subject->proposal;
    struct cunei_buffer text = {0};

    put_summary(&text, subject);
    put_patterns(&text, subject->trace);
    for (size_t i = 0; i < proposal->left_out_count; i++)
        put_row(&text, &proposal->functions[i]);
    int rc = text.failed ? -ENOMEM : 0;
    if (rc == 0 && fwrite(text.data, 1, text.size, file) != text.size)
        rc = -errno;
    cunei_buffer_fini(&text);
    return rc;
}

static void put_function(struct cunei_json *json,
                         const struct cunei_filter_proposal_function *function)
{
    struct cunei_buffer pattern = {0};

    put_pattern(&pattern, function);
    cunei_json_open(json, NULL, '{');
    cunei_json_text(json, "pattern", pattern.data);
    cunei_json_text(json, "module", function->module);
    cunei_json_text(json, "qualname", function->qualname);
    cunei_json_number(json, "calls", function->calls);
    cunei_json_number(json, "events", function->events);
    cunei_json_number(json, "self_ns", function->self_ns);
    cunei_json_number(json, "cost_ns", function->cost_ns);
    cunei_json_close(json, '}');
    cunei_buffer_fini(&pattern);
}

static int write_json(const struct subject *subject, FILE *file)
{
    const struct cunei_filter_proposal *proposal = subject->proposal;
    struct cunei_json json = {.out = file};

    cunei_json_open(&json, NULL, '{');
    cunei_json_number(&json, "version", 1);
    cunei_json_number(&json, "run_ns", proposal->run_ns);
    cunei_json_number(&json, "events", proposal->events);
    cunei_json_number(&json, "cost_ns", proposal->cost_ns);
    cunei_json_flag(&json, "cost_known", proposal->is_cost_known);
    cunei_json_flag(&json, "budget", proposal->has_budget);
    cunei_json_number(&json, "saved_ns", proposal->saved_ns);
    cunei_json_number(&json, "saved_events", proposal->saved_events);
    cunei_json_real(&json, "max_overhead", proposal->max_overhead);
    cunei_json_real(&json, "overhead", proposal->all.usual);
    cunei_json_real(&json, "overhead_least", proposal->all.least);
    cunei_json_real(&json, "overhead_most", proposal->all.most);
    cunei_json_real(&json, "overhead_left", proposal->left.usual);
    cunei_json_real(&json, "overhead_left_least", proposal->left.least);
    cunei_json_real(&json, "overhead_left_most", proposal->left.most);
    cunei_json_open(&json, "functions", '[');
    for (size_t i = 0; i < proposal->left_out_count; i++)
        put_function(&json, &proposal->functions[i]);
    cunei_json_close(&json, ']');
    cunei_json_close(&json, '}');
    return cunei_json_end(&json);
}

static void print_use(const struct cunei_filter_proposal *proposal, const char *file)
{
    struct cunei_buffer text = {0};

    if (proposal->left_out_count == 0) {
        cunei_cmd_note("no function is worth excluding; see '%s'", file);
        return;
    }
    cunei_format_several(&text, proposal->left_out_count, "function");
    cunei_buffer_append_text(&text, " excluded: overhead from ");
    put_overhead(&text, &proposal->all);
    cunei_buffer_append_text(&text, " to ");
    put_overhead(&text, &proposal->left);
    cunei_cmd_note("%s; to use it: cunei record --filter %s …",
                   cunei_buffer_text(&text), file);
    cunei_buffer_fini(&text);
}

static int write_proposal(const struct subject *subject, const struct values *values)
{
    struct cunei_output_file target;

    int status = cunei_output_file_open(&target, values->file ? values->file : "-",
                                        false, values->force);
    if (status != EXIT_SUCCESS)
        return status;
    int rc = values->json ? write_json(subject, target.out)
                          : write_lines(subject, target.out);
    rc = cunei_output_file_close(&target, rc);
    if (rc < 0)
        return cunei_cmd_fail(rc, "cannot write the filter");
    if (values->file && strcmp(values->file, "-") != 0 && !values->json)
        print_use(subject->proposal, values->file);
    return EXIT_SUCCESS;
}

static int propose(const struct cunei_trace *trace, const char *path,
                   struct cunei_filter_proposal *proposal, const struct values *values)
{
    struct cunei_progress_bar progress = {.what = "reading"};
    const struct cunei_analysis_options options = {.progress = cunei_progress_bar_show,
                                                   .progress_context = &progress};
    struct cunei_analysis analysis;

    int rc = cunei_analyze(&analysis, trace, &options);
    cunei_progress_bar_clear(&progress);
    if (rc < 0)
        return cunei_cmd_fail(rc, "cannot read '%s'", path);
    rc = cunei_filter_proposal_make(proposal, &analysis);
    int status = EXIT_SUCCESS;
    if (rc < 0)
        status = cunei_cmd_fail(rc, "cannot read '%s'", path);
    else if (proposal->count == 0)
        status = cunei_cmd_fail(0, "'%s' has no calls, so there is nothing to exclude",
                                path);
    else {
        const struct subject subject = {trace, proposal, path};
        status = write_proposal(&subject, values);
    }
    cunei_filter_proposal_fini(proposal);
    cunei_analysis_fini(&analysis);
    return status;
}

static int run_filter(int argc, char **argv)
{
    struct values values = {.max_overhead = "5%"};
    struct cunei_filter_proposal proposal = {.event_cost_ns = ASSUMED_COST_NS};
    struct cunei_trace trace;

    int status = cunei_options_parse(&cunei_cmd_filter, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_options_directory(&cunei_cmd_filter, argc, argv);
    if (status != CUNEI_OPTIONS_CONTINUE)
        return status;
    double percent;
    if (!cunei_measure_percent(values.max_overhead, 0.1, 100, &percent))
        return cunei_cmd_usage("--max-overhead needs a percentage from 0.1 to 100, for "
                               "example 5%%, not '%s'",
                               values.max_overhead);
    proposal.max_overhead = percent / 100;
    status = cunei_cmd_open_trace(argv[1], &trace);
    if (status != EXIT_SUCCESS)
        return status;
    status = propose(&trace, argv[1], &proposal, &values);
    cunei_trace_close(&trace);
    return status;
}

static const struct cunei_option options[] = {
    {.name = "max-overhead",
     .kind = CUNEI_OPTION_TEXT,
     .value = "PCT",
     .help = "the overhead to reach (default 5%)",
     .offset = offsetof(struct values, max_overhead)},
    {.name = "output",
     .letter = 'o',
     .kind = CUNEI_OPTION_TEXT,
     .value = "FILE",
     .help = "file to write (default: stdout)",
     .offset = offsetof(struct values, file)},
    {.name = "force",
     .kind = CUNEI_OPTION_FLAG,
     .help = "overwrite a file that exists",
     .offset = offsetof(struct values, force)},
    {.name = "json",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print JSON (record --filter cannot read it)",
     .offset = offsetof(struct values, json)},
    {0},
};

const struct cunei_cmd cunei_cmd_filter = {
    .name = "filter",
    .args = "[options] DIR",
    .summary = "propose functions to exclude from the next recording",
    .help =
        "Finds the functions that cost most to record for the time they take, and writes\n"
        "a filter that excludes as many as needed to stay below --max-overhead. From\n"
        "CPython 3.12 on, excluded functions cost nothing; they count as self time of\n"
        "their callers.\n"
        "\n"
        "  cunei filter DIR\n"
        "  cunei filter --max-overhead 2% -o app.filter DIR\n"
        "  cunei record --filter app.filter app.py",
    .options = options,
    .run = run_filter,
};
