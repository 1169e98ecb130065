// SPDX-License-Identifier: MIT
/* `cunei attach`: record a program that is running. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/units.h"
#include "cmd/attach/change.h"
#include "cmd/attach/connect.h"
#include "cmd/attach/session.h"
#include "cmd/attach/status.h"
#include "cmd/cmd.h"
#include "cmd/common/follow_wait.h"
#include "cmd/common/options.h"
#include "cmd/record/record_options.h"
#include "cmd/record/summary.h"
#include "cmd/record/trigger_follower.h"
#include "cmd/record/trigger_options.h"
#include "text/terminal_text.h"

/* A process that is busy in C code may answer late. */
#define TIMEOUT_NS (5 * CUNEI_NS_PER_S)

/* Without --for. */
#define FOREVER UINT64_MAX

struct values {
    struct cunei_record_options recording;
    struct cunei_trigger_options triggers;
    struct cunei_option_list changes;
    const char *directory;
    const char *port;
    uint64_t for_ns, timeout_ns;
    bool stay, detach, status, json;
};

static const struct cunei_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CUNEI_OPTION_TEXT,
     .value = "DIR",
     .help = "the directory to create (default cunei-PROGRAM-PID)",
     .offset = offsetof(struct values, directory)},
    {.name = "for",
     .kind = CUNEI_OPTION_DURATION,
     .value = "TIME",
     .help = "detach after that time, for example 10s",
     .offset = offsetof(struct values, for_ns)},
    {.name = "stay",
     .kind = CUNEI_OPTION_FLAG,
     .help = "start recording and return; --detach ends it",
     .offset = offsetof(struct values, stay)},
    {.name = "detach",
     .kind = CUNEI_OPTION_FLAG,
     .help = "end what --stay has started",
     .offset = offsetof(struct values, detach)},
    {.name = "status",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print whether the process is attached, and where to",
     .offset = offsetof(struct values, status)},
    {.name = "json",
     .kind = CUNEI_OPTION_FLAG,
     .help = "with --status: print one JSON object",
     .offset = offsetof(struct values, json)},
    {.name = "set",
     .kind = CUNEI_OPTION_LIST,
     .value = "WHAT",
     .help = "change a recording: include=PATTERN, exclude=PATTERN\n"
             "or budget=PCT; may be repeated",
     .offset = offsetof(struct values, changes)},
    {.name = "port",
     .kind = CUNEI_OPTION_TEXT,
     .value = "PATH",
     .help = "in place of PID: wait until a program connects that\n"
             "was started with CUNEI_PORT=PATH",
     .offset = offsetof(struct values, port)},
    {.name = "timeout",
     .kind = CUNEI_OPTION_DURATION,
     .value = "TIME",
     .help = "how long the process may take to answer (default 5s)",
     .offset = offsetof(struct values, timeout_ns)},
    {.kind = CUNEI_OPTION_TABLE,
     .make_table = cunei_record_option_rows_of_running,
     .offset = offsetof(struct values, recording)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_trigger_option_rows,
     .offset = offsetof(struct values, triggers)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_trigger_option_limits,
     .offset = offsetof(struct values, triggers)},
    {0},
};

static void note_begun(const struct cunei_attach_session *session, bool stay)
{
    const struct cunei_recorded_run *run = &session->run;
    struct cunei_buffer name = {0};

    cunei_terminal_text(&name, run->program.name ? run->program.name : "python",
                        SIZE_MAX);
    if (stay && session->remote.path)
        cunei_cmd_note("recording process %d (%s) into %s, as it sees files; 'cunei "
                       "attach %d --detach' ends it and copies the trace here",
                       (int)session->target.process.pid, cunei_buffer_text(&name),
                       session->remote.path, (int)session->target.process.pid);
    else if (stay)
        cunei_cmd_note("recording process %d (%s) into %s; 'cunei attach %d --detach' "
                       "ends it",
                       (int)session->target.process.pid, cunei_buffer_text(&name),
                       run->shown, (int)session->target.process.pid);
    else
        cunei_cmd_note("recording process %d (%s) into %s; Ctrl-C detaches",
                       (int)session->target.process.pid, cunei_buffer_text(&name),
                       run->shown);
    cunei_buffer_fini(&name);
}

/* Not because of us. */
static void note_ended(const struct cunei_process_facts *process)
{
    bool is_alive = cunei_process_facts_is_alive(process);

    cunei_cmd_note(is_alive ? "the recording of process %d has ended"
                            : "process %d has ended",
                   (int)process->pid);
}

/* Without its triggers the program is recorded all the same. */
static void follow_triggers(struct cunei_attach_session *session,
                            const struct values *values)
{
    const struct cunei_keep keep = cunei_record_options_keep(&values->recording);
    struct cunei_recorded_run *run = &session->run;

    if (values->triggers.texts.count == 0)
        return;
    int rc = cunei_trigger_follower_start(&run->follower, &values->triggers,
                                          cunei_attach_session_path(session),
                                          run->shown, keep.size);
    if (rc < 0)
        (void)cunei_cmd_fail(rc, "cannot follow '%s' for triggers", run->shown);
}

static int record(struct cunei_attach_session *session, const struct values *values)
{
    int status = cunei_attach_session_make_directory(session, values->directory);

    if (status != EXIT_SUCCESS)
        return status;
    cunei_follow_wait_begin();
    status = cunei_attach_session_begin(session, values->stay);
    if (status != EXIT_SUCCESS)
        return status;
    if (!values->recording.quiet)
        note_begun(session, values->stay);
    if (values->stay)
        return EXIT_SUCCESS;
    follow_triggers(session, values);
    if (!cunei_attach_session_wait(session, values->for_ns) && !values->recording.quiet)
        note_ended(&session->target.process);
    cunei_trigger_follower_finish(session->run.follower);
    status = cunei_attach_session_end(session);
    cunei_summary_print(&session->run, values->recording.quiet);
    if (!values->recording.quiet)
        cunei_trigger_follower_print(session->run.follower);
    return status;
}

static int detach(struct cunei_attach_session *session, const struct values *values)
{
    struct cunei_control_answer answer;

    int status = cunei_attach_ask_status(&session->connection, &session->target.process,
                                         session->timeout_ns, &answer);
    if (status != EXIT_SUCCESS)
        return status;
    if (answer.session == 0)
        status =
            cunei_cmd_fail(0,
                           "process %d is not attached; 'cunei attach %d' starts "
                           "recording",
                           (int)session->connection.pid, (int)session->connection.pid);
    else
        status = cunei_attach_session_adopt(session, &answer);
    cunei_control_answer_fini(&answer);
    if (status == EXIT_SUCCESS)
        status = cunei_attach_session_make_copy(session, values->directory);
    if (status == EXIT_SUCCESS)
        status = cunei_attach_session_end(session);
    if (status == EXIT_SUCCESS && session->run.directory)
        cunei_summary_print(&session->run, values->recording.quiet);
    return status;
}

/* What was asked for, with the process that is connected. */
static int serve(struct cunei_attach_session *session, const struct values *values)
{
    if (values->detach)
        return detach(session, values);
    if (values->status)
        return cunei_attach_print_status(&session->connection, &session->target.process,
                                         session->timeout_ns, values->json);
    if (values->changes.count)
        return cunei_attach_change(session, &values->changes);
    return record(session, values);
}

/* 0 is not a time that anything could take. */
static int check_times(const struct values *values)
{
    if (values->for_ns == 0)
        return cunei_cmd_usage("--for needs a time above 0, for example 10s");
    if (values->timeout_ns == 0)
        return cunei_cmd_usage("--timeout needs a time above 0, for example 10s");
    return CUNEI_OPTIONS_CONTINUE;
}

static int check_port(const char *port)
{
    if (port && *port != '/')
        return cunei_cmd_usage("--port needs an absolute path, as CUNEI_PORT of the "
                               "program has it, not '%s'",
                               port);
    return CUNEI_OPTIONS_CONTINUE;
}

/* Of the options that say what to do, at most one. */
static int check(struct values *values, int argc, char **argv)
{
    int jobs = values->stay + values->detach + values->status +
               (values->changes.count > 0) + (values->for_ns != FOREVER);

    if (argc < 2 && !values->port)
        return cunei_cmd_usage("missing pid: cunei attach PID; 'cunei list' shows the "
                               "Python processes");
    if (argc > 1 && values->port)
        return cunei_cmd_usage("--port takes the place of a pid; leave out '%s'",
                               argv[1]);
    if (argc > 2)
        return cunei_cmd_usage("unexpected argument '%s'; 'cunei attach' takes one "
                               "process",
                               argv[2]);
    if (jobs > 1)
        return cunei_cmd_usage("--for, --stay, --detach, --status and --set exclude "
                               "each other; use only one of them");
    if (values->json && !values->status)
        return cunei_cmd_usage("--json needs --status");
    if (values->triggers.texts.count && jobs > 0 && values->for_ns == FOREVER)
        return cunei_cmd_usage(
            "--trigger needs a cunei that watches; leave out the other "
            "option, or use 'cunei watch PID --trigger WHEN'");
    int status = check_times(values);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = check_port(values->port);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_record_options_check(&values->recording);
    return status != CUNEI_OPTIONS_CONTINUE
               ? status
               : cunei_trigger_options_check_recording(&values->triggers,
                                                       &values->recording);
}

static int attach(const struct values *values, const char *word)
{
    struct cunei_attach_session session = {.connection.fd = -1,
                                           .timeout_ns = values->timeout_ns,
                                           .run.options = &values->recording};
    bool starts = !values->detach && !values->status && !values->changes.count;

    int status =
        values->port
            ? cunei_attach_await(values->port, &session.target, &session.connection)
            : cunei_attach_connect(word, starts, values->timeout_ns, &session.target,
                                   &session.connection);
    if (status == EXIT_SUCCESS)
        status = serve(&session, values);
    cunei_attach_session_fini(&session);
    return status;
}

static int run_attach(int argc, char **argv)
{
    struct values values = {.recording = CUNEI_RECORD_OPTIONS_DEFAULTS,
                            .triggers = CUNEI_TRIGGER_OPTIONS_DEFAULTS,
                            .for_ns = FOREVER,
                            .timeout_ns = TIMEOUT_NS};

    int status = cunei_options_parse(&cunei_cmd_attach, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = check(&values, argc, argv);
    if (status == CUNEI_OPTIONS_CONTINUE) {
        status = cunei_trigger_options_prepare(&values.triggers);
        if (status == EXIT_SUCCESS)
            status = attach(&values, argv[1]);
    }
    cunei_option_list_fini(&values.changes);
    cunei_trigger_options_fini(&values.triggers);
    cunei_record_options_fini(&values.recording);
    return status;
}

const struct cunei_cmd cunei_cmd_attach = {
    .name = "attach",
    .args = "PID [-o DIR] [options]",
    .summary = "record a program that is running",
    .help =
        "Records a Python process that is running already, with all of its threads and\n"
        "the functions that are open, until Ctrl-C; then the process is as it was. From\n"
        "CPython 3.14 on, and on 3.12 and 3.13, any process of yours can be attached, of\n"
        "all versions those that were started with 'cunei arm' or 'cunei record\n"
        "--control', or called cunei.arm(). 'cunei doctor PID' says whether it will\n"
        "work. Processes that it forks meanwhile are recorded as well.\n"
        "\n"
        "  cunei attach 4711                    until Ctrl-C\n"
        "  cunei attach 4711 --for 10s          ten seconds\n"
        "  cunei attach 4711 --include app      only the functions of app\n"
        "  cunei attach 4711 --keep 30s --stay  start the flight recorder and return\n"
        "  cunei attach 4711 --keep 30s --trigger exception:ValueError\n"
        "  cunei attach 4711 --set budget=3%    change what is being recorded\n"
        "  cunei attach 4711 --status           is it attached, and where to?\n"
        "  cunei attach 4711 --detach           end what --stay has started\n"
        "  cunei attach --port /run/app.sock    wait for a program that was started with\n"
        "                                       CUNEI_PORT=/run/app.sock",
    .options = options,
    .run = run_attach,
};
