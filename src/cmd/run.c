// SPDX-License-Identifier: MIT
/* `cunei run`: run a program, then show where its time went. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/cmd.h"
#include "cmd/common/export_option.h"
#include "cmd/common/options.h"
#include "cmd/common/output.h"
#include "cmd/record/launch.h"
#include "cmd/record/record_options.h"
#include "cmd/record/recorded_run.h"
#include "cmd/record/summary.h"
#include "cmd/record/temporary_trace.h"
#include "cmd/record/trace_directory.h"
#include "cmd/report.h"
#include "cmd/report_show.h"
#include "cmd/run_trace.h"
#include "report/section.h"
#include "report/sections.h"

struct values {
    struct cunei_record_options recording;
    struct cunei_report_values report;
    const char *file;
    const char *save;
    struct cunei_run_trace_values trace;
    uint64_t trace_depth; /* levels; 0: all */
    struct cunei_export_option exporting;
};

static const struct cunei_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CUNEI_OPTION_TEXT,
     .value = "FILE",
     .help = "write the report to FILE instead of stderr",
     .offset = offsetof(struct values, file)},
    {.name = "save",
     .kind = CUNEI_OPTION_TEXT,
     .value = "DIR",
     .help = "keep the trace in DIR",
     .offset = offsetof(struct values, save)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_run_trace_options,
     .offset = offsetof(struct values, trace)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_export_option_options,
     .offset = offsetof(struct values, exporting)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_report_run_options,
     .offset = offsetof(struct values, report)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_record_option_rows,
     .offset = offsetof(struct values, recording)},
    {0},
};

static int make_directory(struct cunei_recorded_run *recording,
                          const struct values *values)
{
    struct cunei_buffer reason = {0};

    recording->directory =
        values->save
            ? cunei_trace_directory_make(
                  values->save, "--save", values->recording.force,
                  &recording->directory_id, &recording->directory_existed, &reason)
            : cunei_trace_directory_make_temporary(&recording->directory_id, &reason);
    if (recording->directory)
        recording->shown = strdup(values->save ? values->save : recording->directory);
    int status = reason.size ? cunei_cmd_fail(0, "%s", reason.data) : EXIT_SUCCESS;
    cunei_buffer_fini(&reason);
    return status;
}

/*
 * Print the report in a child process: if Ctrl-C or a closed pipe ends it, the trace is
 * still removed, and the exit status is still the program's.
 */
static void report(const struct cunei_recorded_run *recording, struct values *values,
                   FILE *out)
{
    sigset_t all, mask;

    values->report.report.directory = values->save;
    values->report.report.style = cunei_output_style(out);
    (void)fflush(NULL);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, &mask);
    pid_t pid = fork();
    if (pid == 0) {
        (void)sigprocmask(SIG_SETMASK, &mask, NULL);
        int status =
            cunei_report_show(recording->directory, &values->report.report, out);
        if (fflush(out) != 0 && status == EXIT_SUCCESS && errno != EPIPE)
            status = cunei_cmd_fail(-errno, "cannot write the report");
        if (values->exporting.to)
            (void)cunei_export_option_write(&values->exporting, recording->directory,
                                            NULL);
        _exit(status);
    }
    if (pid < 0)
        (void)cunei_cmd_fail(-errno, "cannot make the report");
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* Run the program; with --trace another process prints its calls meanwhile. */
static int execute(struct cunei_recorded_run *recording, const struct values *values,
                   FILE *out)
{
    const struct cunei_report_options *report = &values->report.report;

    if (!values->trace.is_asked)
        return cunei_recorded_run_execute(recording);
    pid_t pid = cunei_run_trace_start(&values->trace, values->trace_depth, report->json,
                                      recording->directory, out);
    if (pid < 0)
        return cunei_cmd_fail((int)pid, "cannot start to print calls");
    int status = cunei_recorded_run_execute(recording);
    cunei_run_trace_end(pid);
    return status;
}

static int run_and_report(struct cunei_recorded_run *recording, struct values *values)
{
    int status = cunei_export_option_prepare(
        &values->exporting, recording->program.name, values->recording.force);
    if (status != CUNEI_OPTIONS_CONTINUE)
        return status;
    FILE *out = values->file ? fopen(values->file, "we") : stderr;
    if (!out)
        return cunei_cmd_fail(-errno, "cannot write the report to '%s'", values->file);

    status = make_directory(recording, values);
    if (status == EXIT_SUCCESS) {
        status = execute(recording, values, out);
        if (status == EXIT_SUCCESS &&
            cunei_summary_print_problems(recording, values->recording.quiet) &&
            (!values->trace.is_asked || values->exporting.to))
            report(recording, values, out);
        if (status != EXIT_SUCCESS)
            (void)cunei_trace_directory_remove_unused(recording->directory,
                                                      &recording->directory_id,
                                                      recording->directory_existed);
        else if (!values->save)
            cunei_temporary_trace_remove(recording);
    }
    if (out != stderr)
        (void)fclose(out);
    return status == EXIT_SUCCESS ? cunei_launch_leave(recording->ended.wait_status)
                                  : status;
}

/* Calls are printed instead of a report. */
static int settle_trace(struct values *values)
{
    const struct cunei_report_options defaults = CUNEI_REPORT_DEFAULTS;
    uint64_t *depth = &values->report.report.depth;

    values->trace_depth = *depth == UINT64_MAX ? 0 : *depth;
    *depth = *depth == UINT64_MAX ? defaults.depth : *depth;
    int status = cunei_run_trace_settle(&values->trace);
    for (size_t i = 0; status == CUNEI_OPTIONS_CONTINUE && cunei_report_sections[i];
         i++) {
        if (values->trace.is_asked && values->report.report.sections[i].is_asked)
            status = cunei_cmd_usage(
                "--trace cannot be used with --%s, because it prints calls instead of "
                "a report; use only one of them",
                cunei_report_sections[i]->name);
    }
    return status;
}

static int run_run(int argc, char **argv)
{
    struct values values = {.recording = CUNEI_RECORD_OPTIONS_DEFAULTS,
                            .report = CUNEI_REPORT_VALUES_DEFAULTS};
    struct cunei_recorded_run recording = {0};

    values.report.report.depth = UINT64_MAX; /* not given */
    int status = cunei_options_parse(&cunei_cmd_run, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_CONTINUE && argc < 2)
        status = cunei_cmd_usage("missing program: cunei run app.py");
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_recorded_run_configure(&recording, &values.recording, argc - 1,
                                              argv + 1);
    if (values.recording.lines.count > 0)
        values.report.report.preferred =
            cunei_report_sections[cunei_report_section_index("lines")];
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_report_settle(&values.report);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = settle_trace(&values);
    if (status == CUNEI_OPTIONS_CONTINUE) {
        status = cunei_recorded_run_prepare(&recording, argc - 1, argv + 1);
        if (status == EXIT_SUCCESS)
            status = run_and_report(&recording, &values);
    }
    cunei_export_option_fini(&values.exporting);
    cunei_recorded_run_fini(&recording);
    cunei_record_options_fini(&values.recording);
    cunei_report_values_fini(&values.report);
    return status;
}

const struct cunei_cmd cunei_cmd_run = {
    .name = "run",
    .args = "[options] PROGRAM …",
    .summary = "run a program, then show where its time went",
    .help =
        "Runs PROGRAM, records every call of every Python function in it, and prints on\n"
        "stderr which functions took the time. The program's stdout and exit status\n"
        "stay the same. The trace is removed afterwards, unless a process that the\n"
        "program started is still recording.\n"
        "\n"
        "  cunei run app.py --port 8000            also: python3 -m cunei app.py\n"
        "  cunei run --tree -m mypackage           the call tree\n"
        "  cunei run --sort calls -n 50 app.py     the 50 most called functions\n"
        "  cunei run --save trace pytest -k x      keep the trace in 'trace'\n"
        "  cunei run --lines :solve app.py         the time of each line of solve()\n"
        "  cunei run --json -o profile.json app.py\n"
        "  cunei run --trace --min-time 1ms app.py  calls as they happen\n"
        "  cunei run --to perfetto app.py          also app.pftrace for ui.perfetto.dev\n"
        "\n"
        "'cunei help record' lists what PROGRAM can be.",
    .options = options,
    .takes_program = true,
    .run = run_run,
};
