// SPDX-License-Identifier: MIT
#include "top/terminal/terminal_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static const int ending[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
static const int crashing[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

#define ENDING_COUNT   (sizeof(ending) / sizeof(ending[0]))
#define CRASHING_COUNT (sizeof(crashing) / sizeof(crashing[0]))

static struct {
    int terminal;
    struct termios modes;
    char sequence[256];
    size_t sequence_size;
    int pipe[2];
    volatile sig_atomic_t pending;
    struct sigaction before[ENDING_COUNT + CRASHING_COUNT];
    void *stack; /* owned: a handler has room when the stack has overflowed */
} state = {.terminal = -1, .pipe = {-1, -1}};

/* Only what is allowed in a handler. */
static void restore(void)
{
    if (state.terminal < 0)
        return;
    ssize_t written = write(state.terminal, state.sequence, state.sequence_size);
    (void)written;
    (void)tcsetattr(state.terminal, TCSANOW, &state.modes);
}

static void die_by(int number)
{
    sigset_t one;

    (void)sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    (void)sigemptyset(&one);
    (void)sigaddset(&one, number);
    (void)raise(number);
    (void)pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static void crash(int number)
{
    int error = errno;

    restore();
    die_by(number);
    errno = error;
}

/* The main loop ends; where it hangs, a second signal ends the process. */
static void note(int number)
{
    int error = errno;

    if (state.pending) {
        restore();
        die_by(number);
    }
    state.pending = number;
    ssize_t written = write(state.pipe[1], "", 1);
    (void)written;
    errno = error;
}

static void use_own_stack(void)
{
    const size_t size = 64u << 10;

    state.stack = malloc(size);
    if (state.stack)
        (void)sigaltstack(&(stack_t){.ss_sp = state.stack, .ss_size = size}, NULL);
}

/* Signals that were ignored, as under nohup, stay ignored. */
static void handle(int number, void (*handler)(int), struct sigaction *before)
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

    (void)sigaction(number, NULL, before);
    if (before->sa_handler != SIG_IGN)
        (void)sigaction(number, &action, NULL);
}

int cunei_top_signals_watch(int fd)
{
    if (tcgetattr(fd, &state.modes) < 0 ||
        pipe2(state.pipe, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    state.pending = 0;
    state.sequence_size = 0;
    state.terminal = fd;
    use_own_stack();
    for (size_t i = 0; i < ENDING_COUNT; i++)
        handle(ending[i], note, &state.before[i]);
    for (size_t i = 0; i < CRASHING_COUNT; i++)
        handle(crashing[i], crash, &state.before[ENDING_COUNT + i]);
    return 0;
}

void cunei_top_signals_set_sequence(const char *sequence)
{
    size_t size = strlen(sequence);

    if (size > sizeof(state.sequence))
        size = sizeof(state.sequence);
    memcpy(state.sequence, sequence, size);
    state.sequence_size = size;
}

void cunei_top_signals_forget(void)
{
    if (state.terminal < 0)
        return;
    for (size_t i = 0; i < ENDING_COUNT; i++)
        (void)sigaction(ending[i], &state.before[i], NULL);
    for (size_t i = 0; i < CRASHING_COUNT; i++)
        (void)sigaction(crashing[i], &state.before[ENDING_COUNT + i], NULL);
    (void)tcsetattr(state.terminal, TCSADRAIN, &state.modes);
    (void)sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    free(state.stack);
    state.stack = NULL;
    close(state.pipe[0]);
    close(state.pipe[1]);
    state.terminal = state.pipe[0] = state.pipe[1] = -1;
}

int cunei_top_signals_fd(void)
{
    return state.pipe[0];
}

int cunei_top_signals_pending(void)
{
    return state.pending;
}
