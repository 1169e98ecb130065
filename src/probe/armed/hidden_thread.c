// SPDX-License-Identifier: MIT
#include "probe/armed/hidden_thread.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"

#define STACK_SIZE ((size_t)2 << 20) /* Python runs on it */

/*
 * How long a thread that has ended may need to vanish: microseconds, but on a machine
 * where many wait for a processor it gets its turn late, and a debugger may hold it.
 */
#define VANISH_NS      (2 * CUNEI_NS_PER_S)
#define FIRST_PAUSE_NS 20000
#define LAST_PAUSE_NS  CUNEI_NS_PER_MS

static void *begin(void *argument)
{
    struct cunei_hidden_thread *thread = argument;

    thread->tid = (pid_t)syscall(SYS_gettid);
    (void)pthread_setname_np(pthread_self(), "cunei");
    (void)sem_post(&thread->begun);
    thread->run(thread->argument);
    return NULL;
}

/* With all signals blocked: the program's handlers do not run in it. */
static int create(struct cunei_hidden_thread *thread)
{
    pthread_attr_t attributes;
    sigset_t all, before;

    int rc = pthread_attr_init(&attributes);
    if (rc != 0)
        return -rc;
    (void)pthread_attr_setstacksize(&attributes, STACK_SIZE);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&thread->thread, &attributes, begin, thread);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return -rc;
}

int cunei_hidden_thread_begin(struct cunei_hidden_thread *thread,
                              void (*run)(void *argument), void *argument)
{
    *thread =
        (struct cunei_hidden_thread){.pid = getpid(), .run = run, .argument = argument};
    if (sem_init(&thread->begun, 0, 0) < 0)
        return -errno;
    int rc = create(thread);
    while (rc == 0 && sem_wait(&thread->begun) < 0)
        ;
    (void)sem_destroy(&thread->begun);
    return rc;
}

static void await_vanished(const struct cunei_hidden_thread *thread)
{
    uint64_t pause = FIRST_PAUSE_NS;
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d", (int)thread->tid);
    for (uint64_t waited = 0; waited < VANISH_NS && access(path, F_OK) == 0;
         waited += pause) {
        const struct timespec time = {.tv_nsec = (long)pause};
        (void)nanosleep(&time, NULL);
        pause = pause * 2 < LAST_PAUSE_NS ? pause * 2 : LAST_PAUSE_NS;
    }
}

void cunei_hidden_thread_end(struct cunei_hidden_thread *thread)
{
    (void)pthread_join(thread->thread, NULL);
    await_vanished(thread);
}
