// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/budget/budget_timer.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "base/units.h"
#include "probe/budget/eval_breaker_312.h"
#include "rt/clock.h"

/* How long the main thread may take before the timer checks whether anything runs. */
#define PATIENCE_NS UINT64_C(20000000)
#define STACK_SIZE  (size_t)(128 * 1024)
/* A program that waits is checked at most this much less often than one that runs. */
#define SLOWNESS_MOST    10.0
#define MISSING_LEAST_NS UINT64_C(200000)

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool is_running, is_wanted;
    bool
        takes_gil; /* waits for the GIL: then the holder must not wait for the thread */
    uint64_t until_ns; /* end of the sleep, unless it is signalled */
    uint64_t ended_ns; /* CPU time of timer threads that have ended */
    uint64_t time_ns;  /* 0: not set */
    uint64_t run_ns;
    uint64_t looked_ns, looked_run_ns; /* when CPU time was last read */
    void (*function)(void);
    bool is_pending;
    uint64_t pending_ns,
        pending_cpu_ns; /* since when, and the CPU time of other threads then */
    pthread_t asked;    /* the thread that runs pending calls */
    bool is_asked_known;
    uint64_t asked_ns;    /* its CPU time when it was asked */
    uint64_t asked_at_ns; /* when it was asked; 0: not known */
} timer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t cpu_ns(void)
{
    return cunei_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t cunei_budget_timer_run_ns(uint64_t *own_ns)
{
    uint64_t own = timer.ended_ns;
    clockid_t clock;

    if (timer.is_running && pthread_getcpuclockid(timer.thread, &clock) == 0)
        own += cunei_clock_ns(clock);
    if (own_ns)
        *own_ns = own;
    return cpu_ns() - own;
}

/*
 * CPU time of the asked thread; lock held.  The clock of the process is not exact
 * enough: for threads that are running now it is as old as the last tick of the system,
 * some milliseconds.
 */
static uint64_t asked_ns(void)
{
    clockid_t clock;

    return timer.is_asked_known && pthread_getcpuclockid(timer.asked, &clock) == 0
               ? cunei_clock_ns(clock)
               : 0;
}

struct cunei_budget_timer_delay cunei_budget_timer_delay(void)
{
    struct cunei_budget_timer_delay delay = {0};

    (void)pthread_mutex_lock(&timer.lock);
    if (timer.asked_at_ns) {
        uint64_t wall_ns = cunei_clock_ns(CLOCK_MONOTONIC) - timer.asked_at_ns;
        delay.ran_ns = asked_ns() - timer.asked_ns;
        delay.away_ns = wall_ns > delay.ran_ns ? wall_ns - delay.ran_ns : 0;
    }
    delay.is_timer = timer.takes_gil && pthread_equal(timer.thread, pthread_self());
    (void)pthread_mutex_unlock(&timer.lock);
    return delay;
}

static void run(bool is_asked)
{
    void (*function)(void) = NULL;

    (void)pthread_mutex_lock(&timer.lock);
    if (timer.is_pending)
        function = timer.function;
    timer.is_pending = false;
    if (is_asked) {
        timer.asked = pthread_self();
        timer.is_asked_known = true;
    }
    (void)pthread_mutex_unlock(&timer.lock);
    if (function)
        function();
}

static int run_asked(void *unused)
{
    (void)unused;
    run(true);
    return 0;
}

/* Call the function in this thread; lock held, but not meanwhile. */
static void run_here(void)
{
    timer.takes_gil = true;
    (void)pthread_mutex_unlock(&timer.lock);
    PyGILState_STATE state = PyGILState_Ensure();
    run(false);
    PyGILState_Release(state);
    (void)pthread_mutex_lock(&timer.lock);
    timer.takes_gil = false;
}

/*
 * The time at which the process will have run for long enough, at its rate since the
 * last look; 0: it has.  Lock held.
 */
static uint64_t wait_for_run(uint64_t now_ns)
{
    uint64_t run_ns = cunei_budget_timer_run_ns(NULL);
    uint64_t ran_ns = run_ns - timer.looked_run_ns;

    if (run_ns >= timer.run_ns)
        return 0;
    double slowness = (double)(now_ns - timer.looked_ns) / (double)(ran_ns + 1);
    slowness = slowness < 1 ? 1 : slowness > SLOWNESS_MOST ? SLOWNESS_MOST : slowness;
    timer.looked_ns = now_ns;
    timer.looked_run_ns = run_ns;
    return now_ns + MISSING_LEAST_NS +
           (uint64_t)((double)(timer.run_ns - run_ns) * slowness);
}

/* Returns when to look again; lock held. */
static uint64_t act(uint64_t now_ns)
{
    if (timer.is_pending) {
        if (now_ns < timer.pending_ns + PATIENCE_NS)
            return timer.pending_ns + PATIENCE_NS;
        /* An idle program needs no decisions.  If the main thread is busy, it has been
         * asked: while it runs C code with the GIL, no other thread could run either.
         */
        if (cpu_ns() - asked_ns() < timer.pending_cpu_ns + PATIENCE_NS / 2) {
            timer.pending_ns = now_ns;
            return now_ns + PATIENCE_NS;
        }
        run_here();
        return timer.time_ns ? timer.time_ns : UINT64_MAX;
    }
    if (timer.time_ns == 0)
        return UINT64_MAX;
    if (now_ns < timer.time_ns)
        return timer.time_ns;
    uint64_t later_ns = wait_for_run(now_ns);
    if (later_ns) {
        timer.time_ns = later_ns;
        return later_ns;
    }
    timer.time_ns = 0;
    timer.is_pending = true;
    timer.pending_ns = now_ns;
    timer.pending_cpu_ns = cpu_ns() - asked_ns();
    (void)pthread_mutex_unlock(&timer.lock);
    /* If the queue is full, the first part of this function calls it later. */
    (void)Py_AddPendingCall(run_asked, NULL);
    cunei_eval_breaker_set();
    (void)pthread_mutex_lock(&timer.lock);
    /* Read after the call: this thread may have waited for a core before. */
    if (timer.is_pending && timer.is_asked_known) {
        timer.asked_ns = asked_ns();
        timer.asked_at_ns = cunei_clock_ns(CLOCK_MONOTONIC);
    }
    return now_ns + PATIENCE_NS;
}

static void *run_thread(void *unused)
{
    (void)unused;
    (void)pthread_mutex_lock(&timer.lock);
    while (timer.is_wanted) {
        uint64_t next_ns = act(cunei_clock_ns(CLOCK_MONOTONIC));
        struct timespec until = {.tv_sec = (time_t)(next_ns / CUNEI_NS_PER_S),
                                 .tv_nsec = (long)(next_ns % CUNEI_NS_PER_S)};
        if (!timer.is_wanted)
            break;
        timer.until_ns = next_ns;
        if (next_ns == UINT64_MAX)
            (void)pthread_cond_wait(&timer.changed, &timer.lock);
        else
            (void)pthread_cond_timedwait(&timer.changed, &timer.lock, &until);
    }
    timer.ended_ns += cunei_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    (void)pthread_mutex_unlock(&timer.lock);
    return NULL;
}

/* Start the thread with all signals blocked: they are for the program.  Lock held. */
static void start(void)
{
    pthread_condattr_t condition;
    pthread_attr_t attributes;
    sigset_t all, before;

    (void)pthread_condattr_init(&condition);
    (void)pthread_condattr_setclock(&condition, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&timer.changed, &condition);
    (void)pthread_condattr_destroy(&condition);
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK_SIZE);
    (void)sigfillset(&all);
    timer.is_wanted = true;
    timer.until_ns = 0;
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    timer.is_running =
        pthread_create(&timer.thread, &attributes, run_thread, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
}

/* Stop the thread, unless it waits for the GIL, which the caller may hold. */
static void end(void)
{
    (void)pthread_mutex_lock(&timer.lock);
    bool is_running = timer.is_running && !timer.takes_gil;
    timer.is_wanted = false;
    if (is_running)
        (void)pthread_cond_signal(&timer.changed);
    (void)pthread_mutex_unlock(&timer.lock);
    if (!is_running)
        return;
    (void)pthread_join(timer.thread, NULL);
    timer.is_running = false;
}

static int start_again(void *unused)
{
    (void)unused;
    (void)pthread_mutex_lock(&timer.lock);
    if (timer.function && !timer.is_running)
        start();
    (void)pthread_mutex_unlock(&timer.lock);
    return 0;
}

static void before_fork(void)
{
    end();
    (void)pthread_mutex_lock(&timer.lock);
}

/* Start it later: CPython has not counted the threads yet. */
static void after_fork(void)
{
    bool is_set = timer.function != NULL;

    (void)pthread_mutex_unlock(&timer.lock);
    if (is_set)
        (void)Py_AddPendingCall(start_again, NULL);
}

static void after_fork_in_child(void)
{
    timer.is_running = timer.takes_gil = timer.is_pending = false;
    timer.is_asked_known = false;
    timer.ended_ns = 0;
    timer.function = NULL;
    timer.time_ns = 0;
    (void)pthread_mutex_unlock(&timer.lock);
}

void cunei_budget_timer_set(uint64_t time_ns, uint64_t run_ns, void (*function)(void))
{
    static bool is_watched;

    if (!is_watched)
        is_watched = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
    (void)pthread_mutex_lock(&timer.lock);
    timer.function = function;
    timer.time_ns = time_ns;
    timer.run_ns = run_ns;
    timer.asked_at_ns = 0;
    timer.looked_ns = cunei_clock_ns(CLOCK_MONOTONIC);
    timer.looked_run_ns = cunei_budget_timer_run_ns(NULL);
    if (!timer.is_running)
        start();
    else if (time_ns < timer.until_ns)
        (void)pthread_cond_signal(&timer.changed);
    (void)pthread_mutex_unlock(&timer.lock);
}

void cunei_budget_timer_stop(void)
{
    (void)pthread_mutex_lock(&timer.lock);
    timer.function = NULL;
    timer.time_ns = 0;
    timer.is_pending = false;
    bool is_running = timer.is_running;
    (void)pthread_mutex_unlock(&timer.lock);
    if (!is_running)
        return;
    Py_BEGIN_ALLOW_THREADS while (timer.is_running)
    {
        end();
        (void)sched_yield();
    }
    Py_END_ALLOW_THREADS
}
