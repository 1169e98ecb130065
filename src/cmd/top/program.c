// SPDX-License-Identifier: MIT
#include "cmd/top/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/record/launch.h"
#include "cmd/record/record_options.h"
#include "cmd/record/recorded_run.h"
#include "cmd/record/summary.h"

#define LOOK_NS        10000000l
#define PATIENCE_LOOKS 500 /* five seconds */

/* A terminal without a screen: what is written to its other end comes out of `*ours`.
 */
static int open_terminal(int *ours, int *its, int row_count, int column_count)
{
    const struct winsize size = {.ws_row = (unsigned short)row_count,
                                 .ws_col = (unsigned short)column_count};
    char name[64];

    *its = -1;
    *ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (*ours < 0)
        return -errno;
    if (grantpt(*ours) == 0 && unlockpt(*ours) == 0 &&
        ptsname_r(*ours, name, sizeof(name)) == 0) {
        (void)ioctl(*ours, TIOCSWINSZ, &size);
        *its = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    }
    if (*its >= 0)
        return 0;
    int rc = -errno;
    close(*ours);
    return rc;
}

static void reset_signals(void)
{
    struct sigaction action;

    for (int i = 1; i < NSIG; i++) {
        if (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_IGN &&
            action.sa_handler != SIG_DFL)
            (void)signal(i, SIG_DFL);
    }
}

/* In the child: run it, print what went wrong, and leave as it did.  If top is killed,
 * the program's terminal is gone. */
static _Noreturn void launch(struct cunei_recorded_run *run, int out)
{
    reset_signals(); /* ours restore the terminal */
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGHUP);
    (void)dup2(out, STDOUT_FILENO);
    (void)dup2(out, STDERR_FILENO);
    int status = cunei_recorded_run_execute(run);
    if (status == EXIT_SUCCESS) {
        (void)cunei_summary_print_problems(run, run->options->quiet);
        status = cunei_launch_leave(run->ended.wait_status);
    }
    (void)fflush(NULL);
    _exit(status);
}

int cunei_top_program_start(struct cunei_top_program *program, bool has_screen,
                            int row_count, int column_count)
{
    int its = -1;

    program->output = -1;
    if (has_screen) {
        int rc = open_terminal(&program->output, &its, row_count, column_count);
        if (rc < 0)
            return rc;
    }
    (void)fflush(NULL);
    program->pid = fork();
    if (program->pid == 0)
        launch(program->run, has_screen ? its : STDERR_FILENO);
    int error = errno;
    if (its >= 0)
        close(its);
    if (program->pid < 0)
        return -error;
    (void)setpgid(program->pid, program->pid);
    return 0;
}

bool cunei_top_program_look(struct cunei_top_program *program)
{
    int status = 0;

    if (program->has_ended ||
        waitpid(program->pid, &status, WNOHANG | WUNTRACED) != program->pid)
        return false;
    if (WIFSTOPPED(status)) {
        program->is_reading =
            WSTOPSIG(status) == SIGTTIN || WSTOPSIG(status) == SIGTTOU;
        return program->is_reading;
    }
    program->has_ended = true;
    program->wait_status = status;
    return true;
}

void cunei_top_program_end(struct cunei_top_program *program, int signal_number)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};

    (void)cunei_top_program_look(program);
    if (!program->has_ended) {
        (void)kill(program->pid, signal_number);
        (void)kill(-program->pid, SIGCONT);
    }
    for (int i = 0; !program->has_ended; i++) {
        if (i == PATIENCE_LOOKS)
            (void)kill(-program->pid, SIGKILL);
        (void)nanosleep(&pause, NULL);
        (void)cunei_top_program_look(program);
    }
}
