// SPDX-License-Identifier: MIT
#include "base/work_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/units.h"

#define PROGRESS_NS (100 * CUNEI_NS_PER_MS)

/* A piece that was taken and is not delivered yet. */
struct slot {
    bool is_done;
    size_t bytes;
};

struct run {
    const struct cunei_work_pool *pool;
    struct slot *slots;   /* owned: `ahead_max`, by piece modulo their number */
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t done;  /* a piece is, or a worker */
    pthread_cond_t room;  /* a piece was delivered, or all is over */
    size_t next, delivered;
    size_t bytes; /* of the pieces that are done and not delivered */
    unsigned worker_count, running;
    bool is_over;
    int rc; /* of the first failure */
};

static void note(struct run *run, int rc)
{
    if (rc < 0 && run->rc == 0)
        run->rc = rc;
    if (rc < 0)
        run->is_over = true;
}

/* The piece whose delivery comes next always has room. */
static bool has_room(const struct run *run)
{
    return !run->slots || run->next == run->delivered ||
           (run->next < run->delivered + run->pool->ahead_max &&
            run->bytes < run->pool->bytes_max);
}

static bool take(struct run *run, size_t *piece)
{
    while (!run->is_over && run->next < run->pool->piece_count && !has_room(run))
        (void)pthread_cond_wait(&run->room, &run->lock);
    if (run->is_over || run->next >= run->pool->piece_count)
        return false;
    *piece = run->next++;
    return true;
}

static int finish(const struct cunei_work_pool *pool, unsigned worker)
{
    return pool->finish ? pool->finish(pool->context, worker) : 0;
}

static void *run_worker(void *argument)
{
    struct run *run = argument;
    const struct cunei_work_pool *pool = run->pool;
    size_t piece;

    (void)pthread_mutex_lock(&run->lock);
    unsigned worker = run->worker_count++;
    while (take(run, &piece)) {
        size_t bytes = 0;
        (void)pthread_mutex_unlock(&run->lock);
        int rc = pool->work(pool->context, worker, piece, &bytes);
        (void)pthread_mutex_lock(&run->lock);
        note(run, rc);
        if (!run->slots)
            continue;
        run->slots[piece % pool->ahead_max] = (struct slot){true, bytes};
        run->bytes += bytes;
        (void)pthread_cond_signal(&run->done);
    }
    (void)pthread_mutex_unlock(&run->lock);
    int rc = finish(pool, worker);
    (void)pthread_mutex_lock(&run->lock);
    note(run, rc);
    run->running--;
    (void)pthread_cond_signal(&run->done);
    (void)pthread_mutex_unlock(&run->lock);
    return NULL;
}

static void wait_for_worker(struct run *run)
{
    const struct cunei_work_pool *pool = run->pool;
    struct timespec until;

    if (!pool->progress) {
        (void)pthread_cond_wait(&run->done, &run->lock);
        return;
    }
    (void)clock_gettime(CLOCK_REALTIME, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + PROGRESS_NS;
    until.tv_sec += (time_t)(ns / CUNEI_NS_PER_S);
    until.tv_nsec = (long)(ns % CUNEI_NS_PER_S);
    (void)pthread_cond_timedwait(&run->done, &run->lock, &until);
    (void)pthread_mutex_unlock(&run->lock);
    pool->progress(pool->context);
    (void)pthread_mutex_lock(&run->lock);
}

static void deliver_next(struct run *run, struct slot *slot)
{
    (void)pthread_mutex_unlock(&run->lock);
    int rc = run->pool->deliver(run->pool->context, run->delivered);
    (void)pthread_mutex_lock(&run->lock);
    note(run, rc);
    run->bytes -= slot->bytes;
    slot->is_done = false;
    run->delivered++;
    (void)pthread_cond_broadcast(&run->room);
}

/* Until all pieces are delivered, all workers have ended, or something failed. */
static void deliver_pieces(struct run *run)
{
    const struct cunei_work_pool *pool = run->pool;

    while (!run->is_over) {
        struct slot *slot =
            run->slots ? &run->slots[run->delivered % pool->ahead_max] : NULL;
        if (slot ? run->delivered == pool->piece_count : run->running == 0)
            break;
        if (slot && slot->is_done)
            deliver_next(run, slot);
        else
            wait_for_worker(run);
    }
    run->is_over = true;
    (void)pthread_cond_broadcast(&run->room);
}

/* -EAGAIN: no thread could be started. */
static int run_threads(struct run *run)
{
    pthread_t threads[CUNEI_WORKERS_MAX];
    unsigned started = 0;

    (void)pthread_mutex_lock(&run->lock);
    for (; started < run->pool->worker_count; started++) {
        if (pthread_create(&threads[started], NULL, run_worker, run) != 0)
            break;
        run->running++;
    }
    if (started > 0)
        deliver_pieces(run);
    (void)pthread_mutex_unlock(&run->lock);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    return started > 0 ? run->rc : -EAGAIN;
}

static int run_here(const struct cunei_work_pool *pool)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < pool->piece_count; i++) {
        rc = pool->work(pool->context, 0, i, &(size_t){0});
        if (rc == 0 && pool->deliver)
            rc = pool->deliver(pool->context, i);
        if (pool->progress)
            pool->progress(pool->context);
    }
    int finish_rc = finish(pool, 0);
    return rc < 0 ? rc : finish_rc;
}

int cunei_work_pool_run(const struct cunei_work_pool *pool)
{
    struct run run = {
        .pool = pool,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .done = PTHREAD_COND_INITIALIZER,
        .room = PTHREAD_COND_INITIALIZER,
    };

    if (pool->worker_count < 2)
        return run_here(pool);
    if (pool->deliver && !(run.slots = calloc(pool->ahead_max, sizeof(*run.slots))))
        return -ENOMEM;
    int rc = run_threads(&run);
    free(run.slots);
    return rc == -EAGAIN ? run_here(pool) : rc;
}
