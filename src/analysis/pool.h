// SPDX-License-Identifier: MIT
/*
 * The threads that read a analysis's pieces: private to analysis.c.
 *
 * Pieces are taken in order, so that few processes are under way at a time.  Everything
 * in `struct cunei_pool` but `done_bytes` and `next` is changed under its lock.
 */
#ifndef CUNEI_ANALYSIS_POOL_H
#define CUNEI_ANALYSIS_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/analysis.h"
#include "model/count.h"
#include "model/profile.h"
#include "trace/trace.h"

/* A range of a stream's file. */
struct cunei_piece {
    size_t process; /* index in cunei_pool.processes */
    const struct cunei_trace_stream *stream;
    uint64_t begin, end;
    struct cunei_span span;
    struct cunei_count definitions;
};

/* A process under way. */
struct cunei_pool_process {
    const struct cunei_trace_process *process;
    size_t first_piece, piece_count;
    size_t left; /* pieces that are not yet in `profile` */
    struct cunei_profile profile;
    bool has_profile;
};

struct cunei_pool {
    struct cunei_analysis *analysis;
    const struct cunei_analysis_options *options;
    struct cunei_pool_process *processes; /* owned, as the next */
    size_t process_count;
    struct cunei_piece *pieces;
    size_t piece_count;
    uint64_t total_bytes;
    _Atomic uint64_t done_bytes;
    _Atomic size_t next;
    pthread_mutex_t lock;
    pthread_cond_t idle; /* a worker has nothing left to do */
    unsigned running;
    int rc; /* of the first failure */
    /* Called under the lock when all pieces of a process are read. */
    int (*finish)(struct cunei_pool *pool, struct cunei_pool_process *process);
};

/* Cut all streams into pieces for that many workers. */
int cunei_pool_init(struct cunei_pool *pool, const struct cunei_trace *trace);
int cunei_pool_run(struct cunei_pool *pool);
void cunei_pool_note_damage(struct cunei_pool *pool,
                            const struct cunei_trace_error *error);
void cunei_pool_fini(struct cunei_pool *pool);

#endif
