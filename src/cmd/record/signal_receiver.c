// SPDX-License-Identifier: MIT
#include "cmd/record/signal_receiver.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ANSWER_MS = 200 /* a probe that was stopped does not answer */
};

static uint64_t bit_of(int signal_number)
{
    return UINT64_C(1) << (signal_number - 1);
}

/* Answer each question with the signals received since, until the line closes. */
__attribute__((noreturn)) static void answer_questions(int line)
{
    const struct timespec at_once = {0};
    sigset_t all;
    char question;

    /* It holds none of the files open that others may wait for. */
    (void)dup2(line, 0);
    (void)close_range(1, ~0U, 0);
    (void)sigfillset(&all);
    while (read(0, &question, 1) == 1) {
        uint64_t sent = 0;
        for (int number; (number = sigtimedwait(&all, NULL, &at_once)) > 0;)
            sent |= bit_of(number);
        if (write(0, &sent, sizeof(sent)) != (ssize_t)sizeof(sent))
            break;
    }
    _exit(0);
}

void cunei_signal_receiver_start(struct cunei_signal_receiver *probe)
{
    int ends[2];

    *probe = (struct cunei_signal_receiver){.line = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return;
    pid_t pid = fork();
    if (pid == 0)
        answer_questions(ends[1]);
    close(ends[1]);
    probe->pid = pid > 0 ? pid : 0;
    probe->line = ends[0];
}

void cunei_signal_receiver_stop(struct cunei_signal_receiver *probe)
{
    if (probe->pid) {
        (void)kill(probe->pid, SIGKILL);
        (void)waitpid(probe->pid, NULL, 0);
    }
    if (probe->line >= 0)
        close(probe->line);
    *probe = (struct cunei_signal_receiver){.line = -1};
}

static uint64_t ask(struct cunei_signal_receiver *probe)
{
    struct pollfd ready = {.fd = probe->line, .events = POLLIN};
    uint64_t sent = 0;

    if (send(probe->line, "?", 1, MSG_NOSIGNAL) == 1 &&
        poll(&ready, 1, ANSWER_MS) == 1 &&
        read(probe->line, &sent, sizeof(sent)) == (ssize_t)sizeof(sent))
        return sent;
    /* A late answer would be taken for that to the next question. */
    cunei_signal_receiver_stop(probe);
    return 0;
}

bool cunei_signal_receiver_saw(struct cunei_signal_receiver *probe, int signal_number)
{
    uint64_t bit = bit_of(signal_number);

    if (probe->pid)
        probe->sent |= ask(probe);
    bool saw = probe->sent & bit;
    probe->sent &= ~bit;
    return saw;
}
