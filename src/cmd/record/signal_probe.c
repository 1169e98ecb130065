// SPDX-License-Identifier: MIT
#include "cmd/record/signal_probe.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ANSWER_MS = 200 /* a witness that somebody stopped does not answer */
};

static uint64_t bit_of(int signal_number)
{
    return UINT64_C(1) << (signal_number - 1);
}

/* Answer each question with the signals that came since; until nobody asks. */
__attribute__((noreturn)) static void testify(int line)
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

void cunei_signal_probe_start(struct cunei_signal_probe *witness)
{
    int ends[2];

    *witness = (struct cunei_signal_probe){.line = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return;
    pid_t pid = fork();
    if (pid == 0)
        testify(ends[1]);
    close(ends[1]);
    witness->pid = pid > 0 ? pid : 0;
    witness->line = ends[0];
}

void cunei_signal_probe_stop(struct cunei_signal_probe *witness)
{
    if (witness->pid) {
        (void)kill(witness->pid, SIGKILL);
        (void)waitpid(witness->pid, NULL, 0);
    }
    if (witness->line >= 0)
        close(witness->line);
    *witness = (struct cunei_signal_probe){.line = -1};
}

static uint64_t ask(struct cunei_signal_probe *witness)
{
    struct pollfd ready = {.fd = witness->line, .events = POLLIN};
    uint64_t sent = 0;

    if (send(witness->line, "?", 1, MSG_NOSIGNAL) == 1 &&
        poll(&ready, 1, ANSWER_MS) == 1 &&
        read(witness->line, &sent, sizeof(sent)) == (ssize_t)sizeof(sent))
        return sent;
    /* A late answer would be taken for that to the next question. */
    cunei_signal_probe_stop(witness);
    return 0;
}

bool cunei_signal_probe_saw(struct cunei_signal_probe *witness, int signal_number)
{
    uint64_t bit = bit_of(signal_number);

    if (witness->pid)
        witness->sent |= ask(witness);
    bool saw = witness->sent & bit;
    witness->sent &= ~bit;
    return saw;
}
