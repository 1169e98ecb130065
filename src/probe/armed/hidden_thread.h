// SPDX-License-Identifier: MIT
/*
 * A thread that the program does not notice: it takes none of its signals, and once it
 * has ended, the kernel does not count it any more.
 */
#ifndef CUNEI_PROBE_ARMED_HIDDEN_THREAD_H
#define CUNEI_PROBE_ARMED_HIDDEN_THREAD_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>

struct cunei_hidden_thread {
    pthread_t thread;
    pid_t pid, tid;
    void (*run)(void *argument);
    void *argument;
    sem_t begun; /* tid is known */
};

/* Call `run` in it, until it returns.  A negative errno: there is no thread. */
int cunei_hidden_thread_begin(struct cunei_hidden_thread *thread,
                              void (*run)(void *argument), void *argument);

/*
 * Wait until it has ended and vanished: CPython 3.12 and later warn about a fork in a
 * process with several threads.  It was asked to end already.
 */
void cunei_hidden_thread_end(struct cunei_hidden_thread *thread);

#endif
