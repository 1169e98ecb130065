// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/armed/armed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/armed/request_thread.h"
#include "rt/clock.h"

/* How long the program waits until it looks at signals again. */
#define SIGNAL_CHECK_NS (200 * CUNEI_NS_PER_MS)

/* Guarded by `lock`, which is taken without the GIL. */
static struct {
    pthread_mutex_t lock;
    struct cunei_request_thread thread;
    char *by, *port; /* owned */
    unsigned forks;  /* on their way: there is no thread meanwhile */
    bool is_on;
    bool has_thread;
} armed = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Posted when the controller at the port has answered. */
static sem_t released;

/* Without the GIL, as the threads that end may wait for it. */
static PyThreadState *lock(void)
{
    PyThreadState *thread = PyEval_SaveThread();

    (void)pthread_mutex_lock(&armed.lock);
    return thread;
}

static void unlock(PyThreadState *thread)
{
    (void)pthread_mutex_unlock(&armed.lock);
    PyEval_RestoreThread(thread);
}

static void release_program(void)
{
    (void)sem_post(&released);
}

/* With the lock, without the GIL. */
static int begin_thread(void)
{
    armed.thread.context.armed_by = armed.by;
    armed.thread.port = armed.port;
    armed.thread.released = release_program;
    int rc = cunei_request_thread_begin(&armed.thread);
    armed.has_thread = rc == 0;
    return rc;
}

static void end_thread(void)
{
    if (armed.has_thread)
        cunei_request_thread_end(&armed.thread);
    armed.has_thread = false;
}

/* A controller may have disarmed the process; with the lock. */
static void notice_finished(void)
{
    if (armed.has_thread && atomic_load(&armed.thread.is_finished)) {
        end_thread();
        armed.is_on = false;
    }
}

static int begin(struct cunei_probe *state, const char *by, const char *port)
{
    notice_finished();
    if (armed.is_on)
        return 0;
    free(armed.by);
    free(armed.port);
    armed.by = strdup(by);
    armed.port = port ? strdup(port) : NULL;
    if (!armed.by || (port && !armed.port))
        return -ENOMEM;
    armed.thread.context.state = state;
    (void)sem_init(&released, 0, 0);
    int rc = armed.forks ? 0 : begin_thread();
    armed.is_on = rc == 0;
    return rc;
}

static const char *reason_of(int error)
{
    switch (error) {
    case ENOENT:
        return "this user has no private folder for its socket; set XDG_RUNTIME_DIR";
    case EPERM:
    case EACCES:
    case ENOSYS:
        return "the system does not allow a thread descriptors of its own "
               "(close_range or unshare)";
    default:
        return strerror(error);
    }
}

int cunei_armed_begin(struct cunei_probe *state, const char *by, const char *port)
{
    PyThreadState *thread = lock();
    int rc = begin(state, by, port);

    unlock(thread);
    if (rc == 0)
        return 0;
    PyErr_Format(PyExc_OSError, "cannot take requests of 'cunei attach': %s",
                 reason_of(-rc));
    return -1;
}

void cunei_armed_end(struct cunei_probe *state)
{
    PyThreadState *thread = lock();

    end_thread();
    armed.is_on = false;
    unlock(thread);
    /* Nobody could end it any more. */
    cunei_request_end_session(state);
}

bool cunei_armed_is_on(void)
{
    PyThreadState *thread = lock();

    notice_finished();
    bool is_on = armed.is_on;
    unlock(thread);
    return is_on;
}

static int wait_a_moment(void)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + SIGNAL_CHECK_NS;
    until.tv_sec += (time_t)(ns / CUNEI_NS_PER_S);
    until.tv_nsec = (long)(ns % CUNEI_NS_PER_S);
    PyThreadState *thread = PyEval_SaveThread();
    int rc = sem_timedwait(&released, &until);
    PyEval_RestoreThread(thread);
    return rc;
}

int cunei_armed_await_controller(void)
{
    int rc = 0;

    while (rc == 0 && wait_a_moment() < 0)
        rc = PyErr_CheckSignals();
    return rc;
}

void cunei_armed_before_fork(void)
{
    PyThreadState *thread = lock();

    notice_finished();
    armed.forks++;
    end_thread();
    unlock(thread);
}

/* Called by CPython, with the GIL. */
static int begin_again(void *unused)
{
    PyThreadState *thread = lock();

    (void)unused;
    if (armed.is_on && armed.forks == 0 && !armed.has_thread)
        armed.is_on = begin_thread() == 0;
    unlock(thread);
    return 0;
}

/*
 * CPython 3.13 counts the threads of the parent after the hooks of the fork, so they
 * begin when os.fork() has returned.  Pending calls are those of the main thread; for
 * others they may come late.
 */
void cunei_armed_after_fork(void)
{
    PyThreadState *thread = lock();

    if (armed.forks > 0)
        armed.forks--;
    unlock(thread);
    if (gettid() != getpid() || Py_AddPendingCall(begin_again, NULL) < 0)
        (void)begin_again(NULL);
}

/* Another thread of the parent may have had the lock. */
void cunei_armed_forked(void)
{
    (void)pthread_mutex_init(&armed.lock, NULL);
    armed.forks = 0;
    armed.has_thread = false;
    (void)begin_again(NULL);
}
