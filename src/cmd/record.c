// SPDX-License-Identifier: MIT
/* `cunei record`: run a program and keep every call of it. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/cmd.h"
#include "cmd/common/export_option.h"
#include "cmd/common/options.h"
#include "cmd/record/launch.h"
#include "cmd/record/record_options.h"
#include "cmd/record/recorded_run.h"
#include "cmd/record/summary.h"
#include "cmd/record/trace_directory.h"
#include "cmd/record/trigger_follower.h"
#include "cmd/record/trigger_options.h"

struct values {
    struct cunei_record_options recording;
    const char *directory;
    struct cunei_export_option exporting;
    struct cunei_trigger_options triggers;
};

static const struct cunei_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CUNEI_OPTION_TEXT,
     .value = "DIR",
     .help = "the directory to create (default cunei-PROGRAM-PID)",
     .offset = offsetof(struct values, directory)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_export_option_options,
     .offset = offsetof(struct values, exporting)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_record_option_rows,
     .offset = offsetof(struct values, recording)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_trigger_option_rows,
     .offset = offsetof(struct values, triggers)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_trigger_option_limits,
     .offset = offsetof(struct values, triggers)},
    {0},
};

/* Make the directory; returns the exit status. */
static int make_directory(struct cunei_recorded_run *recording,
                          const struct values *values)
{
    struct cunei_buffer name = {0}, reason = {0};

    if (!values->directory) {
        cunei_buffer_format(&name, "cunei-%s-%d", recording->program.name,
                            (int)getpid());
        recording->directory = cunei_trace_directory_make_new(
            name.data, "-o", &recording->shown, &recording->directory_id, &reason);
    } else if (*values->directory) {
        recording->directory = cunei_trace_directory_make(
            values->directory, "-o", values->recording.force, &recording->directory_id,
            &recording->directory_existed, &reason);
        recording->shown = strdup(values->directory);
    } else
        cunei_buffer_append_text(&reason, "-o needs the name of a directory");
    int status = reason.size ? cunei_cmd_fail(0, "%s", reason.data) : EXIT_SUCCESS;
    cunei_buffer_fini(&name);
    cunei_buffer_fini(&reason);
    return status;
}

static int record(struct cunei_recorded_run *recording, struct values *values)
{
    int status = cunei_export_option_prepare(
        &values->exporting, recording->program.name, values->recording.force);
    if (status != CUNEI_OPTIONS_CONTINUE)
        return status;
    status = make_directory(recording, values);
    if (status == EXIT_SUCCESS) {
        status = cunei_recorded_run_execute(recording);
        if (status != EXIT_SUCCESS)
            (void)cunei_trace_directory_remove_unused(recording->directory,
                                                      &recording->directory_id,
                                                      recording->directory_existed);
    }
    if (status != EXIT_SUCCESS)
        return status;
    cunei_summary_print(recording, values->recording.quiet);
    if (!values->recording.quiet)
        cunei_trigger_follower_print(recording->follower);
    if (values->exporting.to && access(recording->directory, F_OK) == 0)
        (void)cunei_export_option_write(&values->exporting, recording->directory, NULL);
    return cunei_launch_leave(recording->ended.wait_status);
}

static int run_record(int argc, char **argv)
{
    struct values values = {.recording = CUNEI_RECORD_OPTIONS_DEFAULTS,
                            .triggers = CUNEI_TRIGGER_OPTIONS_DEFAULTS};
    struct cunei_recorded_run recording = {.triggers = &values.triggers};

    int status = cunei_options_parse(&cunei_cmd_record, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_CONTINUE && argc < 2)
        status = cunei_cmd_usage("missing program: cunei record app.py");
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_recorded_run_configure(&recording, &values.recording, argc - 1,
                                              argv + 1);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status =
            cunei_trigger_options_check_recording(&values.triggers, &values.recording);
    if (status == CUNEI_OPTIONS_CONTINUE) {
        status = cunei_recorded_run_prepare(&recording, argc - 1, argv + 1);
        if (status == EXIT_SUCCESS)
            status = cunei_trigger_options_prepare(&values.triggers);
        if (status == EXIT_SUCCESS)
            status = record(&recording, &values);
    }
    cunei_export_option_fini(&values.exporting);
    cunei_recorded_run_fini(&recording);
    cunei_trigger_options_fini(&values.triggers);
    cunei_record_options_fini(&values.recording);
    return status;
}

const struct cunei_cmd cunei_cmd_record = {
    .name = "record",
    .args = "[-o DIR] [options] PROGRAM …",
    .summary = "run a program and record every call to a directory",
    .help =
        "Runs PROGRAM unchanged, and records every call of every Python function in it\n"
        "and in the Pythons that it starts. The directory is a CTF trace: 'cunei report\n"
        "DIR' shows where the time went; babeltrace2 and Trace Compass can open it. The\n"
        "exit status is the program's.\n"
        "\n"
        "PROGRAM is a Python program, or a command that starts Python programs:\n"
        "\n"
        "  cunei record app.py --port 8000      with the Python of this cunei, or python3\n"
        "  cunei record -m http.server          as python3 -m http.server\n"
        "  cunei record -c 'print(1)'           as python3 -c\n"
        "  cunei record python3.13 -X dev x.py  with that Python and its options\n"
        "  cunei record -o trace pytest -k x    a command, and every Python it starts\n"
        "  cunei record -- ./run.sh             -- if a word looks like an option\n"
        "\n"
        "  cunei record --exclude 'importlib.*' app.py    all except these modules\n"
        "  cunei record --include app --max-size 2G app.py\n"
        "  cunei record --keep 30s --trigger exception:ValueError app.py\n"
        "  cunei record --c-calls --args 'app:load' --return 'app:load' app.py\n"
        "  cunei record --lines :Cart.total app.py        also each line of a function\n"
        "  cunei record --instrumenter profile app.py     with another CPython hook\n"
        "  cunei record --instrumenter none pytest        processes and gc, no calls",
    .options = options,
    .takes_program = true,
    .run = run_record,
};
