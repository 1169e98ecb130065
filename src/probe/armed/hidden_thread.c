// SPDX-License-Identifier: MIT
#include "probe/armed/hidden_thread.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    STACK_SIZE = 2 << 20 /* Python runs on it */,
    VANISHED_TRIES = 1000
};

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

void cunei_hidden_thread_end(struct cunei_hidden_thread *thread)
{
    const struct timespec pause = {.tv_nsec = 20000};
    char path[64];

    (void)pthread_join(thread->thread, NULL);
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d", (int)thread->tid);
    for (int i = 0; i < VANISHED_TRIES && access(path, F_OK) == 0; i++)
        (void)nanosleep(&pause, NULL);
}
