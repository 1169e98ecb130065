// SPDX-License-Identifier: MIT
#include "top/recordings/sampler.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "top/recordings/watch.h"

/* A follower that looks so often misses little of a ring, and costs little. */
#define POLL_NS (100 * CUNEI_NS_PER_MS)

/* With the mutex: wait for a change, or so long. */
static void wait_for(struct cunei_top_sampler *sampler, uint64_t ns)
{
    uint64_t until_ns = cunei_top_recording_now_ns() + ns;
    struct timespec until = {.tv_sec = (time_t)(until_ns / CUNEI_NS_PER_S),
                             .tv_nsec = (long)(until_ns % CUNEI_NS_PER_S)};

    (void)pthread_cond_timedwait(&sampler->changed, &sampler->mutex, &until);
}

/* With the mutex: hand the sums over. */
static void offer(struct cunei_top_sampler *sampler)
{
    sampler->is_ready = true;
    (void)eventfd_write(sampler->fd, 1);
    while (sampler->is_ready && !sampler->is_stopped)
        (void)pthread_cond_wait(&sampler->changed, &sampler->mutex);
    sampler->is_hurried = false;
}

/* With the mutex, which others get in the meantime. */
static void poll_unlocked(struct cunei_top_sampler *sampler)
{
    cunei_top_watch_pause(sampler->watch, sampler->is_paused);
    (void)pthread_mutex_unlock(&sampler->mutex);
    uint64_t now_ns = cunei_top_recording_now_ns();
    int state = cunei_top_watch_poll(sampler->watch);
    (void)pthread_mutex_lock(&sampler->mutex);
    sampler->now_ns = now_ns;
    sampler->state = state;
}

static void *run(void *context)
{
    struct cunei_top_sampler *sampler = context;
    uint64_t offered_ns = 0; /* the first sums at once */
    bool has_ended = false;

    (void)pthread_mutex_lock(&sampler->mutex);
    while (!sampler->is_stopped) {
        poll_unlocked(sampler);
        uint64_t passed_ns = sampler->now_ns - offered_ns;
        bool is_over = passed_ns >= sampler->interval_ns || sampler->is_hurried;
        bool ends_now = sampler->state == 0 && !has_ended;
        /* The first sums are those of everything that is there. */
        if (offered_ns == 0 && sampler->state == 2)
            continue;
        if (is_over || ends_now || sampler->state < 0) {
            has_ended = sampler->state == 0;
            offered_ns = sampler->now_ns;
            offer(sampler);
        } else if (sampler->state != 2) {
            uint64_t left_ns = sampler->interval_ns - passed_ns;
            wait_for(sampler, left_ns < POLL_NS ? left_ns : POLL_NS);
        }
    }
    (void)pthread_mutex_unlock(&sampler->mutex);
    return NULL;
}

/* Signals are for the thread that has the terminal. */
static int start_thread(struct cunei_top_sampler *sampler)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    int rc = -pthread_create(&sampler->thread, NULL, run, sampler);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int cunei_top_sampler_start(struct cunei_top_sampler *sampler,
                            struct cunei_top_watch *watch, uint64_t interval_ns)
{
    *sampler = (struct cunei_top_sampler){.watch = watch, .interval_ns = interval_ns};
    sampler->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (sampler->fd < 0)
        return -errno;
    (void)pthread_mutex_init(&sampler->mutex, NULL);
    (void)pthread_cond_init(&sampler->changed, NULL);
    int rc = start_thread(sampler);
    if (rc < 0)
        close(sampler->fd);
    return rc;
}

void cunei_top_sampler_stop(struct cunei_top_sampler *sampler)
{
    (void)pthread_mutex_lock(&sampler->mutex);
    sampler->is_stopped = true;
    (void)pthread_cond_broadcast(&sampler->changed);
    (void)pthread_mutex_unlock(&sampler->mutex);
    (void)pthread_join(sampler->thread, NULL);
    (void)pthread_cond_destroy(&sampler->changed);
    (void)pthread_mutex_destroy(&sampler->mutex);
    close(sampler->fd);
}

int cunei_top_sampler_fd(const struct cunei_top_sampler *sampler)
{
    return sampler->fd;
}

void cunei_top_sampler_hurry(struct cunei_top_sampler *sampler)
{
    (void)pthread_mutex_lock(&sampler->mutex);
    sampler->is_hurried = true;
    (void)pthread_cond_broadcast(&sampler->changed);
    (void)pthread_mutex_unlock(&sampler->mutex);
}

void cunei_top_sampler_pause(struct cunei_top_sampler *sampler, bool is_paused)
{
    (void)pthread_mutex_lock(&sampler->mutex);
    sampler->is_paused = is_paused;
    (void)pthread_mutex_unlock(&sampler->mutex);
}

int cunei_top_sampler_take(struct cunei_top_sampler *sampler,
                           struct cunei_top_known *known, struct cunei_top_sums *sums)
{
    eventfd_t count;
    int rc = 0;

    (void)eventfd_read(sampler->fd, &count);
    (void)pthread_mutex_lock(&sampler->mutex);
    if (sampler->is_ready) {
        rc = sampler->sum_state = sampler->state;
        if (rc >= 0)
            rc = cunei_top_watch_sum(sampler->watch, known, sampler->now_ns, sums);
        rc = rc < 0 ? rc : 1;
        sampler->is_ready = false;
        (void)pthread_cond_broadcast(&sampler->changed);
    }
    (void)pthread_mutex_unlock(&sampler->mutex);
    return rc;
}
