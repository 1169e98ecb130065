// SPDX-License-Identifier: MIT
/*
 * The thread that carries requests out in Python.
 *
 * Any code of the program may run in it: finalizers during a garbage collection, audit
 * hooks.  So it has the program's descriptors, unlike the thread that takes requests,
 * where that code would close and write to wrong ones.  It sleeps until it has work.
 */
#ifndef CUNEI_PROBE_ARMED_REQUEST_WORKER_H
#define CUNEI_PROBE_ARMED_REQUEST_WORKER_H

#include <Python.h>

#include <semaphore.h>
#include <stdbool.h>

#include "probe/armed/hidden_thread.h"

struct cunei_request_work {
    void (*run)(void *context); /* in the worker, with the GIL */
    /* Before that, in the caller, when the worker has the GIL. */
    bool (*is_wanted)(void *context);
    void *context;
};

/* Each is posted by one of the two threads and awaited by the other; so they order what
 * both read and write. */
enum cunei_request_step {
    CUNEI_REQUEST_HAS_WORK,
    CUNEI_REQUEST_HAS_GIL,
    CUNEI_REQUEST_IS_DECIDED,
    CUNEI_REQUEST_IS_DONE,
    CUNEI_REQUEST_STEPS
};

struct cunei_request_worker {
    struct cunei_hidden_thread thread;
    const struct cunei_request_work *work; /* NULL: the thread ends */
    bool is_wanted;
    sem_t steps[CUNEI_REQUEST_STEPS];
};

/* Without the GIL, both. */
int cunei_request_worker_begin(struct cunei_request_worker *worker);
void cunei_request_worker_end(struct cunei_request_worker *worker);

/* Let it end by itself; cunei_request_worker_end is still called. */
void cunei_request_worker_dismiss(struct cunei_request_worker *worker);

/*
 * Wait until the worker has the GIL, ask whether the work is still wanted, and wait
 * until it is done.  Called by one thread, which never has the GIL.
 */
void cunei_request_worker_do(struct cunei_request_worker *worker,
                             const struct cunei_request_work *work);

#endif
