// SPDX-License-Identifier: MIT
#include "attach/stopped_threads.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/process_facts.h"
#include "base/buffer.h"
#include "base/vector.h"

/*
 * A thread that sleeps in the kernel and cannot be interrupted, on a disk for example,
 * must not hold up the others for longer than the first.  After a pause, we try again.
 * One that waits for a processor stops as soon as it gets one.
 */
#define STOP_MAX_NS UINT64_C(30000000)
#define WAIT_MAX_NS UINT64_C(1000000000)
#define PAUSE_NS    10000000
#define ATTEMPTS    30
#define ROUNDS_MAX  10
#define SPINS       100
#define STEP_NS     20000
#define STAT_MAX    4096

struct stopped {
    pid_t tid;
    int signal; /* that it was about to receive; it gets it when it continues */
    bool is_stopped, is_gone;
};

struct stop {
    pid_t pid;
    int (*function)(void *context);
    void *context;
    struct stopped *threads; /* owned */
    size_t count, capacity;
    uint64_t begin_ns, end_ns;
    int rc;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool is_known(const struct stop *stop, pid_t tid)
{
    for (size_t i = 0; i < stop->count; i++) {
        if (stop->threads[i].tid == tid)
            return true;
    }
    return false;
}

/* The letter in its status (proc(5)); 'X': it is gone. */
static char state_of(const struct stop *stop, pid_t tid)
{
    char path[64];
    struct cunei_buffer text = {0};

    (void)snprintf(path, sizeof(path), "task/%d/stat", (int)tid);
    bool is_there = cunei_process_file_read(stop->pid, path, STAT_MAX, &text) == 0;
    const char *name_end = is_there ? strrchr(cunei_buffer_text(&text), ')') : NULL;
    bool has_state = name_end && name_end[1] == ' ' && name_end[2];
    char state = 'X';
    if (has_state)
        state = name_end[2];
    cunei_buffer_fini(&text);
    return state;
}

/* Whether the thread is ending, or gone; a main thread can end before the others. */
static bool has_ended(const struct stop *stop, pid_t tid)
{
    return strchr("ZXx", state_of(stop, tid)) != NULL;
}

static bool is_traced(pid_t tid)
{
    struct cunei_process_facts thread;

    return cunei_process_facts_read(tid, &thread) == 0 && thread.tracer != 0;
}

/* A thread that has ended in the meantime is not a failure. */
static int seize(struct stop *stop, pid_t tid)
{
    if (!CUNEI_VECTOR_RESERVE(stop->threads, stop->capacity, stop->count + 1))
        return -ENOMEM;
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0) {
        int rc = -errno;
        if (rc == -ESRCH || has_ended(stop, tid))
            return 0;
        return rc == -EPERM && is_traced(tid) ? -EALREADY : rc;
    }
    stop->threads[stop->count++] = (struct stopped){.tid = tid};
    return 0;
}

/* Seize threads that are not known yet; the number of them. */
static int seize_new(struct stop *stop)
{
    char path[32];
    size_t before = stop->count;
    int rc = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)stop->pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return errno == ENOENT ? -ESRCH : -errno;
    for (struct dirent *entry; rc == 0 && (entry = readdir(tasks));) {
        pid_t tid = isdigit((unsigned char)entry->d_name[0])
                        ? (pid_t)strtol(entry->d_name, NULL, 10)
                        : 0;
        if (tid > 0 && !is_known(stop, tid))
            rc = seize(stop, tid);
    }
    (void)closedir(tasks);
    return rc < 0 ? rc : (int)(stop->count - before);
}

static void interrupt(struct stop *stop, size_t from)
{
    for (size_t i = from; i < stop->count; i++) {
        if (ptrace(PTRACE_INTERRUPT, stop->threads[i].tid, NULL, NULL) < 0)
            stop->threads[i].is_gone = errno == ESRCH;
    }
}

/* Whether it has stopped, or ended. */
static bool look_at(struct stopped *thread)
{
    int status = 0;

    if (thread->is_stopped || thread->is_gone)
        return true;
    pid_t tid = waitpid(thread->tid, &status, WNOHANG | __WALL | __WNOTHREAD);
    if (tid == 0)
        return false;
    thread->is_stopped = tid == thread->tid && WIFSTOPPED(status);
    thread->is_gone = !thread->is_stopped;
    if (thread->is_stopped && status >> 16 != PTRACE_EVENT_STOP)
        thread->signal = WSTOPSIG(status);
    return true;
}

/*
 * Most threads stop within microseconds, while we look.  Others have to get a processor
 * first: then we sleep, rather than yield, which on a busy machine costs a time slice.
 */
static void wait_a_moment(unsigned *spins)
{
    const struct timespec step = {.tv_nsec = STEP_NS};

    if ((*spins)++ >= SPINS)
        (void)nanosleep(&step, NULL);
}

static int wait_for(struct stop *stop)
{
    unsigned spins = 0;

    for (size_t i = 0; i < stop->count;) {
        if (look_at(&stop->threads[i])) {
            i++;
            continue;
        }
        uint64_t waited_ns = now_ns() - stop->begin_ns;
        if (waited_ns > WAIT_MAX_NS ||
            (waited_ns > STOP_MAX_NS && state_of(stop, stop->threads[i].tid) == 'D'))
            return -ETIMEDOUT;
        wait_a_moment(&spins);
    }
    return 0;
}

/* Until there is no thread that was started while the others were being stopped. */
static int stop_all(struct stop *stop)
{
    for (unsigned round = 0; round < ROUNDS_MAX; round++) {
        size_t before = stop->count;
        int rc = seize_new(stop);
        if (rc <= 0)
            return rc;
        if (round == 0)
            stop->begin_ns = now_ns();
        interrupt(stop, before);
        rc = wait_for(stop);
        if (rc < 0)
            return rc;
    }
    return -EAGAIN;
}

static bool has_any(const struct stop *stop)
{
    for (size_t i = 0; i < stop->count; i++) {
        if (stop->threads[i].is_stopped)
            return true;
    }
    return false;
}

static void release_all(struct stop *stop)
{
    for (size_t i = 0; i < stop->count; i++) {
        const struct stopped *thread = &stop->threads[i];
        if (thread->is_stopped)
            (void)ptrace(PTRACE_DETACH, thread->tid, NULL,
                         (void *)(intptr_t)thread->signal);
    }
}

/*
 * In a thread of its own: the kernel releases what a tracing thread holds when the
 * thread ends, also threads that have not stopped yet, which cannot be detached.
 */
static void *run(void *argument)
{
    struct stop *stop = argument;

    (void)prctl(PR_SET_TIMERSLACK, 1);
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), -20); /* allowed to root */
    stop->rc = stop_all(stop);
    if (stop->rc == 0)
        stop->rc = has_any(stop) ? stop->function(stop->context) : -ESRCH;
    release_all(stop);
    stop->end_ns = now_ns();
    return NULL;
}

static int run_once(struct stop *stop, uint64_t *stopped_ns)
{
    sigset_t all, before;
    pthread_t thread;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, NULL, run, stop);
    if (rc == 0)
        rc = pthread_join(thread, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(stop->threads);
    if (stop->begin_ns)
        *stopped_ns += stop->end_ns - stop->begin_ns;
    return rc ? -rc : stop->rc;
}

/* Another cunei may be at work in the same process. */
static bool is_passing(int rc)
{
    return rc == -EAGAIN || rc == -EBUSY || rc == -EALREADY || rc == -ETIMEDOUT;
}

int cunei_stopped_threads_run(pid_t pid, int (*function)(void *context), void *context,
                              uint64_t *stopped_ns)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    int rc = -EAGAIN;

    for (unsigned i = 0; i < ATTEMPTS; i++) {
        struct stop stop = {.pid = pid, .function = function, .context = context};
        rc = run_once(&stop, stopped_ns);
        if (!is_passing(rc))
            break;
        (void)nanosleep(&pause, NULL);
    }
    return rc;
}
