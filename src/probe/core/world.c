// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/core/world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "probe/core/compat.h"
#include "probe/core/lock.h"

#ifdef Py_GIL_DISABLED

struct job {
    void (*work)(void *context);
    void *context;
    bool done;
};

/*
 * The interpreter's state of a stopped world.  CPython 3.13 locks the mutex and then
 * waits for a fork in progress: in the child the mutex stays locked, and the next stop
 * of the world, as for each change of events, would wait for ever.  Newer versions lock
 * it last.
 */
struct stopped {
    uint8_t mutex; /* 1, and 2 if another thread waits for it */
    uint8_t requested, world_stopped, is_global, event;
    Py_ssize_t countdown;
    const PyThreadState *requester;
};

#define SEARCHED 16384u /* bytes: less than the size of any interpreter state */

static char *_Atomic stopped; /* NULL: not found */

/*
 * No header declares where the state is.  While this thread has stopped the world, no
 * other memory has these values.
 */
static char *find_stopped(void)
{
    const PyThreadState *own = PyThreadState_Get();
    char *state = (char *)PyInterpreterState_Get();

    for (size_t at = 0; at < SEARCHED; at += sizeof(void *)) {
        struct stopped seen;
        memcpy(&seen, state + at, sizeof(seen));
        if (seen.requester == own && (seen.mutex == 1 || seen.mutex == 3) &&
            seen.requested == 1 && seen.world_stopped == 1 && seen.is_global == 0 &&
            seen.countdown == 0)
            return state + at;
    }
    return NULL;
}

/* Called for the first object; false: show no other one. */
static int work_once(PyObject *object, void *context)
{
    struct job *job = context;
    (void)object;

    if (!job->done && !stopped)
        stopped = find_stopped();
    if (!job->done)
        job->work(job->context);
    job->done = true;
    return 0;
}

/*
 * The one public function that stops the world: it visits every object that the
 * collector knows, except those of gc.freeze().  We create one, so that there is at
 * least one.
 */
void cunei_world_stop(void (*work)(void *context), void *context)
{
    struct job job = {.work = work, .context = context};
    PyObject *object = PyList_New(0);

    if (!object)
        PyErr_Clear();
    PyUnstable_GC_VisitObjects(work_once, &job);
    if (!job.done)
        work(context); /* out of memory: run it without stopping the world */
    Py_XDECREF(object);
}

/* The list of threads is locked while objects are visited. */
static void count_threads(void *context)
{
    size_t *count = context;
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());

    for (; thread; thread = thread->next)
        (*count)++;
}

bool cunei_world_has_other_threads(void)
{
    size_t count = 0;

    cunei_world_stop(count_threads, &count);
    return count > 1;
}

/*
 * All mutexes that were ever locked: another thread may hold one when this one forks.
 */
static struct cunei_mutex *_Atomic listed;

static void enlist(struct cunei_mutex *mutex)
{
    mutex->next = atomic_load(&listed);
    while (!atomic_compare_exchange_weak(&listed, &mutex->next, mutex))
        continue;
    mutex->is_listed = true;
}

void cunei_mutex_lock(struct cunei_mutex *mutex)
{
    PyMutex_Lock(&mutex->mutex);
    if (!mutex->is_listed)
        enlist(mutex);
}

static struct cunei_mutex control;
static _Atomic unsigned long controller; /* the thread that has control; 0: none */

bool cunei_world_take_control(void)
{
    unsigned long own = PyThread_get_thread_ident();

    if (controller == own)
        return false;
    cunei_mutex_lock(&control);
    controller = own;
    return true;
}

void cunei_world_leave_control(void)
{
    if (controller != PyThread_get_thread_ident())
        return; /* it forked in between */
    controller = 0;
    cunei_mutex_unlock(&control);
}

/* In a forked child, before Python runs in it: the threads that held them are gone. */
static void after_fork_in_child(void)
{
    struct cunei_mutex *mutex = atomic_load(&listed);

    for (; mutex; mutex = mutex->next)
        mutex->mutex = (PyMutex){0};
    controller = 0;
    if (stopped)
        *stopped = 0;
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, after_fork_in_child);
}

void cunei_world_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, watch_forks);
}

#else

void cunei_world_stop(void (*work)(void *context), void *context)
{
    work(context);
}

bool cunei_world_has_other_threads(void)
{
    PyThreadState *first = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    return PyThreadState_Next(first) != NULL;
}

bool cunei_world_take_control(void)
{
    return true;
}

void cunei_world_leave_control(void)
{
}

void cunei_world_init(void)
{
}

#endif
