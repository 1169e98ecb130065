// SPDX-License-Identifier: MIT
#include "cmd/record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/record/program.h"
#include "cmd/record/signal_receiver.h"
#include "rt/clock.h"
#include "wire/record_env.h"

/* The signal state that we were started with, and that the program gets. */
struct inherited {
    sigset_t mask;
    struct sigaction child; /* ignored, children would vanish before we ask for them */
};

struct watch {
    pid_t pid;
    struct cunei_signal_receiver probe;
    bool stopped; /* the program is, by: */
    int stop_signal;
    bool asked_to_stop; /* we got a stop signal, from the terminal or a process */
};

static void take_signals(struct inherited *inherited)
{
    sigset_t all;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, &inherited->mask);
    (void)sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL},
                    &inherited->child);
}

static void give_signals_back(const struct inherited *inherited)
{
    (void)sigaction(SIGCHLD, &inherited->child, NULL);
    (void)sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}

/* `record_env` for this process only; NULL: no memory. */
static char *restrict_to_this_process(const char *record_env)
{
    char *text = NULL;

    return asprintf(&text, "%s only=%d", record_env, (int)getpid()) < 0 ? NULL : text;
}

/* In the child.  A failure to execute goes up the pipe, which closes on success. */
__attribute__((noreturn)) static void become(const struct cunei_program *program,
                                             const char *record_env, bool only_it,
                                             const struct inherited *inherited,
                                             int report)
{
    int error = 0;

    if (only_it)
        record_env = restrict_to_this_process(
            record_env); /* lives as long as this program does */
    if (!record_env)
        error = ENOMEM;
    else if (setenv(CUNEI_RECORD_ENV_VARIABLE, record_env, 1) < 0)
        error = errno;
    if (!error) {
        give_signals_back(inherited);
        /* As a shell does, execvp gives a file of no known format to /bin/sh. */
        (void)execvp(program->path, program->words);
        error = errno;
    }
    ssize_t written = write(report, &error, sizeof(error));
    _exit(written == (ssize_t)sizeof(error) ? 126 : 127);
}

static int start(const struct cunei_program *program, const char *record_env,
                 bool only_it, const struct inherited *inherited, pid_t *pid)
{
    int ends[2] = {-1, -1};
    int error = 0;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    *pid = fork();
    if (*pid == 0)
        become(program, record_env, only_it, inherited, ends[1]);
    if (*pid < 0)
        error = errno;
    close(ends[1]);
    if (!error && read(ends[0], &error, sizeof(error)) != (ssize_t)sizeof(error))
        error = 0;
    close(ends[0]);
    if (error && *pid > 0)
        (void)waitpid(*pid, NULL, 0);
    return -error;
}

/* A process sent it, rather than the terminal, which reaches the whole group. */
static bool was_sent(const siginfo_t *info)
{
    return info->si_code == SI_USER || info->si_code == SI_QUEUE ||
           info->si_code == SI_TKILL;
}

/* Whether the program has got it already, as a member of our group. */
static bool has_reached(struct watch *watch, const siginfo_t *info)
{
    bool group = cunei_signal_receiver_saw(&watch->probe, info->si_signo);

    return (group && getpgid(watch->pid) == getpgrp()) || info->si_pid == watch->pid;
}

static void pass_on(const siginfo_t *info, pid_t pid)
{
    if (info->si_code == SI_QUEUE)
        (void)sigqueue(pid, info->si_signo, info->si_value);
    else
        (void)kill(pid, info->si_signo);
}

static bool is_stop(int number)
{
    return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

static void take_signal(struct watch *watch)
{
    siginfo_t info;
    sigset_t all;

    (void)sigfillset(&all);
    int number = sigwaitinfo(&all, &info);
    if (number < 0 || number == SIGCHLD)
        return;
    if (is_stop(number))
        watch->asked_to_stop = true;
    if (number == SIGCONT)
        watch->asked_to_stop = false;
    bool reached = has_reached(watch, &info);
    if (was_sent(&info) && !reached)
        pass_on(&info, watch->pid);
}

/*
 * Stop as the program did, so that the shell notices.  The kernel does not stop an
 * orphaned process group by these signals; then no shell is waiting either.
 */
static void stop_by(int number)
{
    struct sigaction before;
    sigset_t one;

    (void)sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, &before);
    (void)sigemptyset(&one);
    (void)sigaddset(&one, number);
    (void)raise(number);
    (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
    (void)sigprocmask(SIG_BLOCK, &one, NULL);
    (void)sigaction(number, &before, NULL);
}

/*
 * The program stopped: so must we, or the shell would not notice.  But only if we got a
 * stop signal as well: a process that stops the program alone continues it alone.
 */
static void stop_with_it(struct watch *watch)
{
    stop_by(watch->stop_signal);
    (void)kill(watch->pid, SIGCONT);
    watch->stopped = false;
    watch->asked_to_stop = false;
}

/*
 * Close our copies of the program's input and output, so that the other end notices
 * when the program closes them.
 */
static void let_go(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)dup2(fd, STDIN_FILENO);
    (void)dup2(fd, STDOUT_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

/*
 * If it has ended: when, and its CPU time.  Its clock can be read until it is waited
 * for; the times of wait4(2) would include its children.
 */
static void look_for_end(pid_t pid, struct cunei_launch_end *end)
{
    siginfo_t info = {0};
    clockid_t clock;

    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
        info.si_pid != pid)
        return;
    end->end_ns = cunei_clock_ns(CLOCK_REALTIME);
    if (clock_getcpuclockid(pid, &clock) == 0)
        end->cpu_ns = cunei_clock_ns(clock);
}

static void wait_for_end(pid_t pid, const struct cunei_launch_started *started,
                         struct cunei_launch_end *end)
{
    struct watch watch = {.pid = pid};
    int status = 0;

    cunei_signal_receiver_start(&watch.probe);
    /* From here on nothing is forked: there may be a second thread. */
    if (started)
        started->call(started->context);
    for (;;) {
        look_for_end(pid, end);
        pid_t changed = waitpid(pid, &status, WNOHANG | WUNTRACED | WCONTINUED);
        if (changed == pid && (WIFEXITED(status) || WIFSIGNALED(status)))
            break;
        if (changed == pid) {
            watch.stopped = WIFSTOPPED(status) && is_stop(WSTOPSIG(status));
            watch.stop_signal = watch.stopped ? WSTOPSIG(status) : 0;
        } else if (watch.stopped && watch.asked_to_stop)
            stop_with_it(&watch);
        else
            take_signal(&watch);
    }
    cunei_signal_receiver_stop(&watch.probe);
    end->pid = pid;
    end->wait_status = status;
}

/* Drop pending signals: they were meant for the program, which has ended. */
static void forget_pending(void)
{
    struct timespec at_once = {0};
    sigset_t all;

    (void)sigfillset(&all);
    while (sigtimedwait(&all, NULL, &at_once) > 0)
        ;
}

int cunei_launch(const struct cunei_program *program, const char *record_env,
                 bool only_it, const struct cunei_launch_started *started,
                 struct cunei_launch_end *end)
{
    struct inherited inherited;
    pid_t pid = 0;

    (void)fflush(NULL);
    take_signals(&inherited);
    int rc = start(program, record_env, only_it, &inherited, &pid);
    if (rc == 0) {
        let_go();
        wait_for_end(pid, started, end);
        forget_pending();
    }
    give_signals_back(&inherited);
    /* A closed stderr must not change our exit status. */
    (void)sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    return rc;
}

int cunei_launch_leave(int wait_status)
{
    sigset_t one;

    if (!WIFSIGNALED(wait_status))
        return WEXITSTATUS(wait_status);

    /* The program's core is the one that matters. */
    int number = WTERMSIG(wait_status);
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    (void)sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    (void)sigemptyset(&one);
    (void)sigaddset(&one, number);
    (void)fflush(NULL);
    (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
    (void)raise(number);
    return 128 + number;
}
