// SPDX-License-Identifier: MIT
/* `cunei replay`: every call of a recorded program, indented, with its duration. */
#include "report/replay/replay.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/options.h"
#include "cmd/common/output.h"
#include "cmd/common/time_range.h"
#include "cmd/replay_follow.h"
#include "trace/directory/process_choice.h"
#include "trace/directory/project.h"
#include "trace/directory/trace.h"

struct values {
    struct cunei_replay_options replay;
    struct cunei_time_range_values window;
    struct cunei_option_list processes; /* owned */
    bool follow;
};

#define VALUE(name) offsetof(struct values, replay.name)

static const struct cunei_option options[] = {
    {.name = "depth",
     .letter = 'd',
     .kind = CUNEI_OPTION_NUMBER,
     .value = "N",
     .help = "show the outermost N levels (0: all)",
     .offset = VALUE(depth)},
    {.name = "min-time",
     .letter = 'm',
     .kind = CUNEI_OPTION_DURATION,
     .value = "TIME",
     .help = "show only calls at least this long, and their callers:\n"
             "250us, 10ms, 1.5s",
     .offset = VALUE(min_time_ns)},
    {.name = "thread",
     .letter = 't',
     .kind = CUNEI_OPTION_TEXT,
     .value = "ID|NAME",
     .help = "only this thread, or threads whose names match a\nglob",
     .offset = VALUE(thread)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_options_process,
     .offset = offsetof(struct values, processes)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_time_range_options,
     .offset = offsetof(struct values, window)},
    {.name = "follow",
     .letter = 'f',
     .kind = CUNEI_OPTION_FLAG,
     .help = "print calls as they happen, until the recording ends,\n"
             "those of all threads in the order of time",
     .offset = offsetof(struct values, follow)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_options_patterns,
     .offset = VALUE(patterns)},
    {.name = "no-fold",
     .kind = CUNEI_OPTION_FLAG,
     .help = "also show the functions of the import system",
     .offset = VALUE(no_fold)},
    {.name = "json",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print one JSON object per call and line, in the order\nof their ends",
     .offset = VALUE(json)},
    {0},
};

static int show(const char *path, struct cunei_replay_options *wanted)
{
    struct cunei_output output;
    struct cunei_trace trace;
    struct cunei_trace_error error = {0};

    int status = cunei_cmd_open_trace(path, &trace);
    if (status != 0)
        return status;
    status = cunei_cmd_check_choice(&trace, path, &wanted->processes);
    if (status != 0) {
        cunei_trace_close(&trace);
        return status;
    }
    if (wanted->json)
        output = (struct cunei_output){.out = stdout};
    else
        cunei_output_open(&output, stdout, SIZE_MAX);
    wanted->patterns.project = cunei_trace_project(&trace);
    wanted->style = output.style;
    if (!isatty(STDOUT_FILENO))
        wanted->style.width = 0; /* in files and pipes nothing is shortened */
    int rc = cunei_replay_print(&trace, wanted, output.out, &error);
    bool is_paged = output.pager != 0;
    int close_rc = cunei_output_close(&output);
    cunei_trace_close(&trace);

    if (rc == -EBADMSG)
        return cunei_cmd_fail(0, "%s; the rest is shown", error.text);
    if (rc == -ENODATA)
        return cunei_cmd_fail(
            0, "--include, --exclude and --only-project leave no function of '%s'",
            path);
    if (rc == -ESRCH)
        return cunei_cmd_fail_to_find_thread(path, wanted->thread);
    if (rc == -EPIPE && is_paged)
        return EXIT_SUCCESS; /* the user has left the pager */
    if (rc == 0)
        rc = close_rc;
    return rc < 0 ? cunei_cmd_fail(rc, "cannot replay '%s'", path) : EXIT_SUCCESS;
}

static int follow(const char *path, struct cunei_replay_options *wanted)
{
    wanted->style = cunei_output_style(stdout);
    if (!isatty(STDOUT_FILENO))
        wanted->style.width = 0;
    return cunei_replay_follow_run(path, wanted, false, stdout);
}

/* Check the values and put them into `replay`.  As cunei_options_parse. */
static int settle(struct values *values)
{
    struct cunei_replay_options *replay = &values->replay;

    replay->processes =
        (struct cunei_trace_choice){values->processes.items, values->processes.count};
    cunei_patterns_project_first(&replay->patterns);
    int status = cunei_time_range_settle(&values->window);
    replay->from_ns = values->window.from_ns;
    replay->until_ns = values->window.until_ns;
    return status;
}

static int run_replay(int argc, char **argv)
{
    struct values values = {0};

    int status = cunei_options_parse(&cunei_cmd_replay, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_options_directory(&cunei_cmd_replay, argc, argv);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = settle(&values);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = values.follow ? follow(argv[1], &values.replay)
                               : show(argv[1], &values.replay);
    cunei_option_list_fini(&values.processes);
    cunei_patterns_fini(&values.replay.patterns);
    return status;
}

const struct cunei_cmd cunei_cmd_replay = {
    .name = "replay",
    .args = "[options] DIR",
    .summary = "show the recorded calls one by one, indented, with durations",
    .help =
        "Prints what each thread did, in order: the time in seconds since the first\n"
        "event of the trace, the duration, and the call. A call without calls inside is\n"
        "one line; others begin with { and end with }. '! raised' marks calls that ended\n"
        "with an exception, 'resume' and 'yield' the parts of a generator. Beyond 30\n"
        "levels the depth is printed instead of indentation: [31].\n"
        "\n"
        "Exceptions, gc pauses, task steps, greenlet switches and new thread names have\n"
        "lines of their own. Arguments and results appear if they were recorded (--args,\n"
        "--return).\n"
        "\n"
        "  cunei replay DIR --min-time 10ms      long calls and their callers\n"
        "  cunei replay DIR --from 1.2 --until 1.3 --thread 'worker*'\n"
        "  cunei replay DIR --depth 3\n"
        "  cunei replay DIR --follow             while DIR is being recorded",
    .options = options,
    .run = run_replay,
};
