// SPDX-License-Identifier: MIT
/*
 * Numbered pieces of work, done by several threads.
 *
 *     const struct cunei_work_pool pool = {
 *         .piece_count = 100, .worker_count = 4, .ahead_max = 12,
 *         .work = …, .deliver = …, .context = …,
 *     };
 *     int rc = cunei_work_pool_run(&pool);
 *
 * Workers take pieces in order.  The calling thread delivers a piece when it and all
 * pieces before it are done; workers that are too far ahead of it wait, which bounds
 * memory.  With one worker, or if the system refuses to start threads, the calling
 * thread does all of the work.
 */
#ifndef CUNEI_BASE_WORK_POOL_H
#define CUNEI_BASE_WORK_POOL_H

#include <stddef.h>

#define CUNEI_WORKERS_MAX 256u

struct cunei_work_pool {
    size_t piece_count;
    unsigned worker_count; /* at most CUNEI_WORKERS_MAX */
    void *context;

    /* Does a piece; calls with the same `worker` never overlap.  `*bytes` is the memory
     * that the piece holds until its delivery. */
    int (*work)(void *context, unsigned worker, size_t piece, size_t *bytes);

    /* A worker has done its last piece, or one of its pieces failed; may be NULL. */
    int (*finish)(void *context, unsigned worker);

    /* On the calling thread, in the order of the pieces; may be NULL. */
    int (*deliver)(void *context, size_t piece);

    /* With `deliver`: how many pieces may be taken that are not delivered yet, and how
     * many bytes they may hold before no further piece is taken. */
    size_t ahead_max, bytes_max;

    /* On the calling thread, while it waits ten times a second; may be NULL. */
    void (*progress)(void *context);
};

/* 0, or the first error of `work`, `finish` or `deliver`, which ends all work. */
int cunei_work_pool_run(const struct cunei_work_pool *pool);

#endif
