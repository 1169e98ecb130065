// SPDX-License-Identifier: MIT
/*
 * The thread of an armed process that takes requests.  It sleeps in poll(2), takes no
 * signal, and holds the GIL only while it carries a request out.
 */
#ifndef CUNEI_PROBE_ARMED_REQUEST_THREAD_H
#define CUNEI_PROBE_ARMED_REQUEST_THREAD_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "probe/armed/request.h"

struct cunei_request_thread {
    struct cunei_request_context context; /* set before it begins, as the next two */
    const char *port;        /* borrowed: where a controller waits; or NULL */
    void (*released)(void);  /* the controller there has answered, or gone */
    pthread_t thread;
    sem_t begun;             /* rc, tid and wake_fd are known */
    int rc;                  /* 0: it takes requests; or a negative errno */
    pid_t pid, tid;
    int wake_fd;             /* of the thread: the end of a pipe to write to */
    atomic_bool is_ending;   /* asked to end */
    atomic_bool is_finished; /* a controller has disarmed the process */
};

/* Without the GIL, both: begin and wait until it takes requests; end and wait. */
int cunei_request_thread_begin(struct cunei_request_thread *thread);
void cunei_request_thread_end(struct cunei_request_thread *thread);

#endif
