// SPDX-License-Identifier: MIT
/*
 * The thread of an armed process that takes requests.  It sleeps in poll(2), has
 * descriptors of its own, and leaves everything that needs the GIL to its worker.
 */
#ifndef CUNEI_PROBE_ARMED_REQUEST_THREAD_H
#define CUNEI_PROBE_ARMED_REQUEST_THREAD_H

#include <Python.h>

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "probe/armed/hidden_thread.h"
#include "probe/armed/request.h"
#include "probe/armed/request_worker.h"

struct cunei_request_thread {
    struct cunei_request_context context; /* set before it begins, as the next two */
    const char *port;       /* borrowed: where a controller waits; or NULL */
    void (*released)(void); /* the controller there has answered, or gone */
    struct cunei_hidden_thread thread;
    struct cunei_request_worker worker;
    sem_t begun;             /* rc is known */
    int rc;                  /* 0: it takes requests; or a negative errno */
    atomic_bool is_ending;   /* asked to end */
    atomic_bool is_finished; /* a controller has disarmed the process */
};

/* Without the GIL, both: begin and wait until it takes requests; end and wait. */
int cunei_request_thread_begin(struct cunei_request_thread *thread);
void cunei_request_thread_end(struct cunei_request_thread *thread);

#endif
