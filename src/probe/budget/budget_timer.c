// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/budget/budget_timer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "base/units.h"
#include "probe/budget/eval_breaker_312.h"
#include "rt/clock.h"

/* So long the main thread may take; then it is asked whether anything runs at all. */
#define PATIENCE_NS UINT64_C(20000000)
#define STACK_SIZE  (size_t)(128 * 1024)
/* What waits is looked after this much less often than what runs. */
#define SLOWNESS_MOST    10.0
#define MISSING_LEAST_NS UINT64_C(200000)

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool is_there, is_wanted;
    bool takes_gil;    /* it waits for it: nobody may wait for it then */
    uint64_t until_ns; /* so long it sleeps now, unless it is signalled */
    uint64_t ended_ns; /* what threads that have ended had run */
    uint64_t time_ns;  /* 0: none is set */
    uint64_t run_ns;
    uint64_t looked_ns, looked_run_ns; /* when what has run was looked at last */
    void (*function)(void);
    bool is_pending;
    uint64_t pending_ns, pending_cpu_ns; /* since when, by what others had run then */
    pthread_t asked;                     /* the thread that does what is pending … */
    bool is_asked_known;
    uint64_t asked_ns;    /* … and what it had run when it was asked, … */
    uint64_t asked_at_ns; /* … which was then; 0: nobody knows */
} waker = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t cpu_ns(void)
{
    return cunei_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t cunei_budget_timer_others_ns(uint64_t *own_ns)
{
    uint64_t own = waker.ended_ns;
    clockid_t clock;

    if (waker.is_there && pthread_getcpuclockid(waker.thread, &clock) == 0)
        own += cunei_clock_ns(clock);
    if (own_ns)
        *own_ns = own;
    return cpu_ns() - own;
}

/*
 * Lock held.  What the thread has run that is asked.  The clock of the process would
 * not do: another thread that is running now is in it as of the last tick of the
 * system, some milliseconds ago.
 */
static uint64_t asked_ns(void)
{
    clockid_t clock;

    return waker.is_asked_known && pthread_getcpuclockid(waker.asked, &clock) == 0
               ? cunei_clock_ns(clock)
               : 0;
}

struct cunei_budget_timer_delay cunei_budget_timer_delay(void)
{
    struct cunei_budget_timer_delay delay = {0};

    (void)pthread_mutex_lock(&waker.lock);
    if (waker.asked_at_ns) {
        uint64_t wall_ns = cunei_clock_ns(CLOCK_MONOTONIC) - waker.asked_at_ns;
        delay.ran_ns = asked_ns() - waker.asked_ns;
        delay.away_ns = wall_ns > delay.ran_ns ? wall_ns - delay.ran_ns : 0;
    }
    delay.is_waker = waker.takes_gil && pthread_equal(waker.thread, pthread_self());
    (void)pthread_mutex_unlock(&waker.lock);
    return delay;
}

static void run(bool is_asked)
{
    void (*function)(void) = NULL;

    (void)pthread_mutex_lock(&waker.lock);
    if (waker.is_pending)
        function = waker.function;
    waker.is_pending = false;
    if (is_asked) {
        waker.asked = pthread_self();
        waker.is_asked_known = true;
    }
    (void)pthread_mutex_unlock(&waker.lock);
    if (function)
        function();
}

static int run_asked(void *unused)
{
    (void)unused;
    run(true);
    return 0;
}

/* Lock held, but for a moment. */
static void run_here(void)
{
    waker.takes_gil = true;
    (void)pthread_mutex_unlock(&waker.lock);
    PyGILState_STATE state = PyGILState_Ensure();
    run(false);
    PyGILState_Release(state);
    (void)pthread_mutex_lock(&waker.lock);
    waker.takes_gil = false;
}

/*
 * Lock held.  When what is missing of the process's run time will have gone by, at the
 * rate at which it ran since the last look; 0: nothing is missing.
 */
static uint64_t wait_for_run(uint64_t now_ns)
{
    uint64_t run_ns = cunei_budget_timer_others_ns(NULL);
    uint64_t ran_ns = run_ns - waker.looked_run_ns;

    if (run_ns >= waker.run_ns)
        return 0;
    double slowness = (double)(now_ns - waker.looked_ns) / (double)(ran_ns + 1);
    slowness = slowness < 1 ? 1 : slowness > SLOWNESS_MOST ? SLOWNESS_MOST : slowness;
    waker.looked_ns = now_ns;
    waker.looked_run_ns = run_ns;
    return now_ns + MISSING_LEAST_NS +
           (uint64_t)((double)(waker.run_ns - run_ns) * slowness);
}

/* Lock held; returns when to look again. */
static uint64_t act(uint64_t now_ns)
{
    if (waker.is_pending) {
        if (now_ns < waker.pending_ns + PATIENCE_NS)
            return waker.pending_ns + PATIENCE_NS;
        /* What does nothing needs no decisions.  Where the main thread is busy itself,
         * it has been asked: in C, with the GIL, it would let nobody in before. */
        if (cpu_ns() - asked_ns() < waker.pending_cpu_ns + PATIENCE_NS / 2) {
            waker.pending_ns = now_ns;
            return now_ns + PATIENCE_NS;
        }
        run_here();
        return waker.time_ns ? waker.time_ns : UINT64_MAX;
    }
    if (waker.time_ns == 0)
        return UINT64_MAX;
    if (now_ns < waker.time_ns)
        return waker.time_ns;
    uint64_t later_ns = wait_for_run(now_ns);
    if (later_ns) {
        waker.time_ns = later_ns;
        return later_ns;
    }
    waker.time_ns = 0;
    waker.is_pending = true;
    waker.pending_ns = now_ns;
    waker.pending_cpu_ns = cpu_ns() - asked_ns();
    (void)pthread_mutex_unlock(&waker.lock);
    /* If all places are taken the second half of this function does it. */
    (void)Py_AddPendingCall(run_asked, NULL);
    cunei_eval_breaker_set();
    (void)pthread_mutex_lock(&waker.lock);
    /* Not before: this thread may have had to wait for a core meanwhile. */
    if (waker.is_pending && waker.is_asked_known) {
        waker.asked_ns = asked_ns();
        waker.asked_at_ns = cunei_clock_ns(CLOCK_MONOTONIC);
    }
    return now_ns + PATIENCE_NS;
}

static void *live(void *unused)
{
    (void)unused;
    (void)pthread_mutex_lock(&waker.lock);
    while (waker.is_wanted) {
        uint64_t next_ns = act(cunei_clock_ns(CLOCK_MONOTONIC));
        struct timespec until = {.tv_sec = (time_t)(next_ns / CUNEI_NS_PER_S),
                                 .tv_nsec = (long)(next_ns % CUNEI_NS_PER_S)};
        if (!waker.is_wanted)
            break;
        waker.until_ns = next_ns;
        if (next_ns == UINT64_MAX)
            (void)pthread_cond_wait(&waker.changed, &waker.lock);
        else
            (void)pthread_cond_timedwait(&waker.changed, &waker.lock, &until);
    }
    waker.ended_ns += cunei_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    (void)pthread_mutex_unlock(&waker.lock);
    return NULL;
}

/* Lock held.  Signals are for the program's threads. */
static void start(void)
{
    pthread_condattr_t condition;
    pthread_attr_t attributes;
    sigset_t all, before;

    (void)pthread_condattr_init(&condition);
    (void)pthread_condattr_setclock(&condition, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&waker.changed, &condition);
    (void)pthread_condattr_destroy(&condition);
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK_SIZE);
    (void)sigfillset(&all);
    waker.is_wanted = true;
    waker.until_ns = 0;
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    waker.is_there = pthread_create(&waker.thread, &attributes, live, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
}

/* The thread ends, unless it waits for the GIL that the caller may have. */
static void end(void)
{
    (void)pthread_mutex_lock(&waker.lock);
    bool is_there = waker.is_there && !waker.takes_gil;
    waker.is_wanted = false;
    if (is_there)
        (void)pthread_cond_signal(&waker.changed);
    (void)pthread_mutex_unlock(&waker.lock);
    if (!is_there)
        return;
    (void)pthread_join(waker.thread, NULL);
    waker.is_there = false;
}

static int start_again(void *unused)
{
    (void)unused;
    (void)pthread_mutex_lock(&waker.lock);
    if (waker.function && !waker.is_there)
        start();
    (void)pthread_mutex_unlock(&waker.lock);
    return 0;
}

static void before_fork(void)
{
    end();
    (void)pthread_mutex_lock(&waker.lock);
}

/* Not at once: CPython has not counted the threads yet. */
static void after_fork(void)
{
    bool is_set = waker.function != NULL;

    (void)pthread_mutex_unlock(&waker.lock);
    if (is_set)
        (void)Py_AddPendingCall(start_again, NULL);
}

static void in_child(void)
{
    waker.is_there = waker.takes_gil = waker.is_pending = false;
    waker.is_asked_known = false;
    waker.ended_ns = 0;
    waker.function = NULL;
    waker.time_ns = 0;
    (void)pthread_mutex_unlock(&waker.lock);
}

void cunei_budget_timer_set(uint64_t time_ns, uint64_t run_ns, void (*function)(void))
{
    static bool is_watched;

    if (!is_watched)
        is_watched = pthread_atfork(before_fork, after_fork, in_child) == 0;
    (void)pthread_mutex_lock(&waker.lock);
    waker.function = function;
    waker.time_ns = time_ns;
    waker.run_ns = run_ns;
    waker.asked_at_ns = 0;
    waker.looked_ns = cunei_clock_ns(CLOCK_MONOTONIC);
    waker.looked_run_ns = cunei_budget_timer_others_ns(NULL);
    if (!waker.is_there)
        start();
    else if (time_ns < waker.until_ns)
        (void)pthread_cond_signal(&waker.changed);
    (void)pthread_mutex_unlock(&waker.lock);
}

void cunei_budget_timer_stop(void)
{
    (void)pthread_mutex_lock(&waker.lock);
    waker.function = NULL;
    waker.time_ns = 0;
    waker.is_pending = false;
    bool is_there = waker.is_there;
    (void)pthread_mutex_unlock(&waker.lock);
    if (!is_there)
        return;
    Py_BEGIN_ALLOW_THREADS while (waker.is_there)
    {
        end();
        (void)sched_yield();
    }
    Py_END_ALLOW_THREADS
}
