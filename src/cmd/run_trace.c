// SPDX-License-Identifier: MIT
#include "cmd/run_trace.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/common/options.h"
#include "cmd/common/output.h"
#include "cmd/replay_follow.h"
#include "report/replay/replay_options.h"

const struct cunei_option cunei_run_trace_options[] = {
    {.name = "trace",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print each call when it happens, instead of a report",
     .offset = offsetof(struct cunei_run_trace_values, is_asked)},
    {.name = "min-time",
     .kind = CUNEI_OPTION_DURATION,
     .value = "TIME",
     .help = "with --trace: only calls at least this long, and\n"
             "their callers",
     .offset = offsetof(struct cunei_run_trace_values, min_time_ns)},
    {.name = "thread",
     .kind = CUNEI_OPTION_TEXT,
     .value = "ID|NAME",
     .help = "with --trace: only this thread, or those whose\nnames match a glob",
     .offset = offsetof(struct cunei_run_trace_values, thread)},
    {0},
};

int cunei_run_trace_settle(const struct cunei_run_trace_values *values)
{
    if (!values->is_asked && values->min_time_ns > 0)
        return cunei_cmd_usage("--min-time needs --trace");
    if (!values->is_asked && values->thread)
        return cunei_cmd_usage("--thread needs --trace");
    return CUNEI_OPTIONS_CONTINUE;
}

/* Ctrl-C is for the program: what it calls until its end is still printed. */
static _Noreturn void print_calls(const struct cunei_run_trace_values *values,
                                  uint64_t depth, bool json, const char *directory,
                                  FILE *out)
{
    struct cunei_replay_options replay = {.depth = depth,
                                          .min_time_ns = values->min_time_ns,
                                          .thread = values->thread,
                                          .until_ns = UINT64_MAX,
                                          .json = json,
                                          .style = cunei_output_style(out)};

    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (!isatty(fileno(out)))
        replay.style.width = 0;
    int status = cunei_replay_follow_run(directory, &replay, true, out);
    (void)fflush(NULL);
    _exit(status);
}

pid_t cunei_run_trace_start(const struct cunei_run_trace_values *values, uint64_t depth,
                            bool json, const char *directory, FILE *out)
{
    sigset_t term, before;

    /* It may be asked to end before it has begun. */
    (void)sigemptyset(&term);
    (void)sigaddset(&term, SIGTERM);
    (void)fflush(NULL);
    (void)sigprocmask(SIG_BLOCK, &term, &before);
    pid_t pid = fork();
    if (pid == 0)
        print_calls(values, depth, json, directory, out);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return pid < 0 ? -errno : pid;
}

void cunei_run_trace_end(pid_t pid)
{
    (void)kill(pid, SIGTERM);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}
