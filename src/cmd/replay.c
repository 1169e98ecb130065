// SPDX-License-Identifier: MIT
/* `cunei replay`: every call of a recorded program, indented, with its duration. */
#include "view/replay.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/open.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "trace/trace.h"

#define NS_PER_S 1e9

struct values {
    struct cunei_replay_options replay;
    const char *from, *until;
    struct cunei_option_list processes; /* owned */
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
     .help = "show what took that long, and what called it: 250us,\n10ms, 1.5s",
     .offset = VALUE(min_time_ns)},
    {.name = "thread",
     .letter = 't',
     .kind = CUNEI_OPTION_TEXT,
     .value = "ID|NAME",
     .help = "show one thread, or those whose names match a glob",
     .offset = VALUE(thread)},
    {.name = "process",
     .letter = 'p',
     .kind = CUNEI_OPTION_LIST,
     .value = "P",
     .help = "show one process of several, by pid, folder or name;\nrepeatable",
     .offset = offsetof(struct values, processes)},
    {.name = "from",
     .kind = CUNEI_OPTION_TEXT,
     .value = "TIME",
     .help = "begin that long after the first event: seconds, or\n10ms, 2min",
     .offset = offsetof(struct values, from)},
    {.name = "until",
     .kind = CUNEI_OPTION_TEXT,
     .value = "TIME",
     .help = "end that long after it",
     .offset = offsetof(struct values, until)},
    {.name = "json",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print an object a line for each call, in order of\ntheir ends",
     .offset = VALUE(json)},
    {0},
};

/* A point in time: seconds where no unit is named. */
static bool parse_time(const char *text, uint64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"", 1e9},   {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
                 {"µs", 1e3}, {"ns", 1e0}, {"min", 6e10}, {"h", 3.6e12}};
    char *end = NULL;

    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        double product = number * units[i].ns;
        if (strcmp(end, units[i].name) == 0 && product < 0x1p63) {
            *ns = (uint64_t)(product + 0.5);
            return true;
        }
    }
    return false;
}

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
    wanted->style = output.style;
    if (!isatty(STDOUT_FILENO))
        wanted->style.width = 0; /* for programs: nothing is shortened */
    int rc = cunei_replay_print(&trace, wanted, output.out, &error);
    bool is_paged = output.pager != 0;
    int close_rc = cunei_output_close(&output);
    cunei_trace_close(&trace);

    if (rc == -EBADMSG)
        return cunei_cmd_fail(0, "%s; what came before it is shown", error.text);
    if (rc == -ESRCH)
        return cunei_cmd_fail(
            0,
            "'%s' holds no such %s; 'cunei report %s --threads' lists "
            "them",
            path, wanted->thread ? "thread" : "process", path);
    if (rc == -EPIPE && is_paged)
        return EXIT_SUCCESS; /* the pager was left before the end */
    if (rc == 0)
        rc = close_rc;
    return rc < 0 ? cunei_cmd_fail(rc, "cannot replay '%s'", path) : EXIT_SUCCESS;
}

/* What the table could not check; as cunei_options_parse. */
static int settle(struct values *values)
{
    struct cunei_replay_options *replay = &values->replay;

    replay->processes =
        (struct cunei_trace_choice){values->processes.items, values->processes.count};
    if (values->from && !parse_time(values->from, &replay->from_ns))
        return cunei_cmd_usage("--from takes a time as 0.25, 10ms or 2min, not '%s'",
                               values->from);
    if (values->until && !parse_time(values->until, &replay->until_ns))
        return cunei_cmd_usage("--until takes a time as 0.25, 10ms or 2min, not '%s'",
                               values->until);
    if (replay->until_ns < replay->from_ns)
        return cunei_cmd_usage("--until %s is before --from %s", values->until,
                               values->from);
    return CUNEI_OPTIONS_GO_ON;
}

static int run_replay(int argc, char **argv)
{
    struct values values = {.replay.until_ns = UINT64_MAX};

    int status = cunei_options_parse(&cunei_cmd_replay, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_GO_ON)
        status = cunei_options_directory(&cunei_cmd_replay, argc, argv);
    if (status == CUNEI_OPTIONS_GO_ON)
        status = settle(&values);
    if (status == CUNEI_OPTIONS_GO_ON)
        status = show(argv[1], &values.replay);
    cunei_option_list_fini(&values.processes);
    return status;
}

const struct cunei_cmd cunei_cmd_replay = {
    .name = "replay",
    .args = "[options] DIR",
    .summary = "show the recorded calls one by one, indented, with durations",
    .help =
        "Tells what each thread did, in order: when (seconds since the trace's first\n"
        "event), how long, what. A call that made none is one line, others open with\n"
        "{ and close with }. '! raised' marks what an exception ended, 'resume' and\n"
        "'yield' the stretches of a generator. Between the calls stand exceptions, gc\n"
        "pauses, the steps of tasks, switches of greenlets, new names of the thread;\n"
        "in them arguments and results, where they were recorded (--args, --return).\n"
        "\n"
        "  cunei replay DIR --min-time 10ms      what took long, and what led there\n"
        "  cunei replay DIR --from 1.2 --until 1.3 --thread 'worker*'\n"
        "  cunei replay DIR --depth 3",
    .options = options,
    .run = run_replay,
};
