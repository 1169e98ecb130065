// SPDX-License-Identifier: MIT
#include "cmd/common/follow_wait.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"

static volatile sig_atomic_t is_asked;
static const char *volatile parting; /* NULL: nothing is printed */

/* What is read and printed meanwhile may take long, or never end: the second signal
 * does not wait for it. */
static void ask(int number)
{
    const char *text = parting;
    int error = errno;

    if (is_asked) {
        if (text)
            (void)!write(STDOUT_FILENO, text, strlen(text));
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
    is_asked = 1;
    errno = error;
}

void cunei_follow_wait_begin(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t ours;

    (void)sigemptyset(&ours);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction action;
        /* One that is ignored stays so, as under nohup. */
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            continue;
        action = (struct sigaction){.sa_handler = ask, .sa_flags = SA_RESTART};
        (void)sigaction(numbers[i], &action, NULL);
        (void)sigaddset(&ours, numbers[i]);
    }
    /* Whoever started this process may have blocked them for it. */
    (void)sigprocmask(SIG_UNBLOCK, &ours, NULL);
}

void cunei_follow_wait_part_with(const char *text)
{
    parting = text;
}

enum cunei_follow_state cunei_follow_wait(uint64_t ns, int out)
{
    const struct timespec time = {.tv_sec = (time_t)(ns / CUNEI_NS_PER_S),
                                  .tv_nsec = (long)(ns % CUNEI_NS_PER_S)};
    struct pollfd end = {.fd = out};
    sigset_t all, before;
    int count = 0;

    /* A signal comes before the look at `is_asked`, or ends the wait. */
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, &before);
    /* Without events asked for, only errors are: a pipe whose reader is gone. */
    if (!is_asked)
        count = ppoll(&end, 1, &time, &before);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    if (is_asked)
        return CUNEI_FOLLOW_ASKED;
    return count > 0 && (end.revents & (POLLERR | POLLNVAL)) ? CUNEI_FOLLOW_UNREAD
                                                             : CUNEI_FOLLOW_ON;
}
