// SPDX-License-Identifier: MIT
#include "cmd/common/follow_wait.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "base/units.h"

static volatile sig_atomic_t is_asked;
static sigset_t before; /* the signals that were blocked */

static void ask(int number)
{
    (void)number;
    is_asked = 1;
}

/* They come only while cunei_follow_wait waits: none is missed before it. */
void cunei_follow_wait_begin(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t blocked;

    (void)sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction action;
        /* One that is ignored stays so, as under nohup. */
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            continue;
        (void)sigaction(numbers[i], &(struct sigaction){.sa_handler = ask}, NULL);
        (void)sigaddset(&blocked, numbers[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &blocked, &before);
    /* Whoever started this process may have blocked them for it. */
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        (void)sigdelset(&before, numbers[i]);
}

enum cunei_follow_state cunei_follow_wait(uint64_t ns, int out)
{
    const struct timespec time = {.tv_sec = (time_t)(ns / CUNEI_NS_PER_S),
                                  .tv_nsec = (long)(ns % CUNEI_NS_PER_S)};
    struct pollfd end = {.fd = out};

    /* Without events asked for, only errors are: a pipe whose reader is gone. */
    int count = ppoll(&end, 1, &time, &before);
    if (is_asked)
        return CUNEI_FOLLOW_ASKED;
    return count > 0 && (end.revents & (POLLERR | POLLNVAL)) ? CUNEI_FOLLOW_UNREAD
                                                             : CUNEI_FOLLOW_ON;
}
