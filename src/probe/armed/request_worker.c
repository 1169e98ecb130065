// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/armed/request_worker.h"

#include <errno.h>
#include <stddef.h>

static void announce(struct cunei_request_worker *worker, enum cunei_request_step step)
{
    (void)sem_post(&worker->steps[step]);
}

static void await(struct cunei_request_worker *worker, enum cunei_request_step step)
{
    while (sem_wait(&worker->steps[step]) < 0)
        ;
}

static void carry_out(struct cunei_request_worker *worker)
{
    PyGILState_STATE gil = PyGILState_Ensure();

    announce(worker, CUNEI_REQUEST_HAS_GIL);
    await(worker, CUNEI_REQUEST_IS_DECIDED);
    if (worker->is_wanted)
        worker->work->run(worker->work->context);
    PyErr_Clear();
    PyGILState_Release(gil);
}

static void run(void *argument)
{
    struct cunei_request_worker *worker = argument;

    for (;;) {
        await(worker, CUNEI_REQUEST_HAS_WORK);
        if (!worker->work)
            return;
        carry_out(worker);
        announce(worker, CUNEI_REQUEST_IS_DONE);
    }
}

int cunei_request_worker_begin(struct cunei_request_worker *worker)
{
    for (size_t i = 0; i < CUNEI_REQUEST_STEPS; i++) {
        if (sem_init(&worker->steps[i], 0, 0) < 0)
            return -errno;
    }
    return cunei_hidden_thread_begin(&worker->thread, run, worker);
}

void cunei_request_worker_dismiss(struct cunei_request_worker *worker)
{
    worker->work = NULL;
    announce(worker, CUNEI_REQUEST_HAS_WORK);
}

void cunei_request_worker_end(struct cunei_request_worker *worker)
{
    cunei_request_worker_dismiss(worker);
    cunei_hidden_thread_end(&worker->thread);
    for (size_t i = 0; i < CUNEI_REQUEST_STEPS; i++)
        (void)sem_destroy(&worker->steps[i]);
}

void cunei_request_worker_do(struct cunei_request_worker *worker,
                             const struct cunei_request_work *work)
{
    worker->work = work;
    announce(worker, CUNEI_REQUEST_HAS_WORK);
    await(worker, CUNEI_REQUEST_HAS_GIL);
    worker->is_wanted = work->is_wanted(work->context);
    announce(worker, CUNEI_REQUEST_IS_DECIDED);
    await(worker, CUNEI_REQUEST_IS_DONE);
}
