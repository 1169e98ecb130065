// SPDX-License-Identifier: MIT
#include "analysis/pool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/cores.h"
#include "base/units.h"
#include "model/call_edges.h"
#include "model/call_tree.h"
#include "model/packet_cut.h"

#define PIECE_MIN   (UINT64_C(8) << 20)
#define PIECE_MAX   (UINT64_C(256) << 20)
#define WORKERS_MAX 256u
#define PROGRESS_NS 100000000

/* One worker's: the profile of the process whose pieces it reads at the moment. */
struct worker {
    struct cunei_pool *pool;
    struct cunei_profile profile;
    struct cunei_cut cut;
    size_t process;
    size_t pieces; /* read into the profile */
    bool has_profile;
    bool reports; /* runs in the calling thread: progress is its job */
};

static uint64_t stream_bytes(const struct cunei_trace_stream *stream)
{
    uint64_t size = stream->size;

    for (size_t i = 0; i < 2; i++)
        size += stream->live[i] ? CUNEI_PACKET_SIZE : 0;
    return size;
}

static unsigned worker_count(const struct cunei_pool *pool)
{
    uint64_t count = pool->options->worker_count;

    if (count == 0) {
        count = cunei_cores();
        if (count > pool->total_bytes / PIECE_MIN)
            count = pool->total_bytes / PIECE_MIN;
    }
    if (count > WORKERS_MAX)
        count = WORKERS_MAX;
    return count > 0 ? (unsigned)count : 1;
}

static int add_pieces(struct cunei_pool *pool, size_t process,
                      const struct cunei_trace_stream *stream, uint64_t target)
{
    struct cunei_pool_process *owner = &pool->processes[process];
    uint64_t *offsets = NULL;
    size_t count = 0;

    int rc = cunei_trace_split(owner->process, stream, target, &offsets, &count);
    if (rc < 0 || count == 0) {
        /* The reader will meet the same trouble, and say what it is. */
        free(offsets);
        offsets = calloc(1, sizeof(*offsets));
        count = 1;
    }
    struct cunei_piece *pieces =
        realloc(pool->pieces, (pool->piece_count + count) * sizeof(*pieces));
    if (pieces)
        pool->pieces = pieces;
    if (!pieces || !offsets) {
        free(offsets);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        pieces[pool->piece_count++] = (struct cunei_piece){
            .process = process,
            .stream = stream,
            .begin = offsets[i],
            .end = i + 1 < count ? offsets[i + 1] : UINT64_MAX,
        };
        owner->piece_count++;
    }
    free(offsets);
    return 0;
}

int cunei_pool_init(struct cunei_pool *pool, const struct cunei_trace *trace)
{
    pool->processes = calloc(trace->process_count + 1, sizeof(*pool->processes));
    if (!pool->processes)
        return -ENOMEM;
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        if (!cunei_trace_is_chosen(process, &pool->options->processes))
            continue;
        pool->processes[pool->process_count++].process = process;
        for (size_t j = 0; j < process->stream_count; j++)
            pool->total_bytes += stream_bytes(&process->streams[j]);
    }

    uint64_t target = pool->total_bytes / ((uint64_t)8 * worker_count(pool));
    target = target < PIECE_MIN ? PIECE_MIN : target > PIECE_MAX ? PIECE_MAX : target;
    if (pool->options->piece_bytes > 0)
        target = pool->options->piece_bytes;
    for (size_t i = 0; i < pool->process_count; i++) {
        struct cunei_pool_process *process = &pool->processes[i];
        process->first_piece = pool->piece_count;
        const struct cunei_trace_process *read = process->process;
        for (size_t j = 0; read && j < read->stream_count; j++) {
            int rc = add_pieces(pool, i, &read->streams[j], target);
            if (rc < 0)
                return rc;
        }
        process->left = process->piece_count;
    }
    return 0;
}

void cunei_pool_fini(struct cunei_pool *pool)
{
    for (size_t i = 0; i < pool->piece_count; i++)
        cunei_span_fini(&pool->pieces[i].span);
    free(pool->pieces);
    for (size_t i = 0; i < pool->process_count; i++) {
        if (pool->processes[i].has_profile)
            cunei_profile_fini(&pool->processes[i].profile);
    }
    free(pool->processes);
}

void cunei_pool_note_damage(struct cunei_pool *pool,
                            const struct cunei_trace_error *error)
{
    struct cunei_analysis *analysis = pool->analysis;

    (void)pthread_mutex_lock(&pool->lock);
    if (analysis->damage_count < CUNEI_ANALYSIS_DAMAGES_MAX)
        analysis->damages[analysis->damage_count] = *error;
    analysis->damage_count++;
    (void)pthread_mutex_unlock(&pool->lock);
}

static void report_progress(const struct cunei_pool *pool)
{
    if (pool->options->progress)
        pool->options->progress(
            pool->options->progress_context,
            atomic_load_explicit(&pool->done_bytes, memory_order_relaxed),
            pool->total_bytes);
}

static int read_packets(struct worker *worker, struct cunei_piece *piece,
                        struct cunei_trace_reader *reader)
{
    struct cunei_pool *pool = worker->pool;
    struct cunei_trace_packet packet;
    int rc = 0;

    while ((rc = cunei_trace_reader_next(reader, &packet)) > 0) {
        uint64_t size = sizeof(*packet.head) + packet.word_count * 8;
        if (pool->options->select &&
            (rc = pool->options->select(pool->options->select_context,
                                        pool->processes[piece->process].process,
                                        &worker->cut, &packet)) < 0)
            return rc;
        if (piece->stream->stream_class == CUNEI_STREAM_DEFINITIONS)
            cunei_count_words(&piece->definitions, NULL, packet.words,
                              packet.word_count);
        else if ((rc = cunei_profile_read(&worker->profile, &piece->span, packet.head,
                                          packet.words, packet.word_count)) < 0)
            return rc;
        atomic_fetch_add_explicit(&pool->done_bytes, size, memory_order_relaxed);
        if (worker->reports)
            report_progress(pool);
    }
    if (rc < 0 && rc != -ENOMEM) {
        cunei_pool_note_damage(pool, &reader->error);
        rc = 0;
    }
    return rc;
}

static int read_piece(struct worker *worker, struct cunei_piece *piece)
{
    struct cunei_pool *pool = worker->pool;
    const struct cunei_trace_process *process = pool->processes[piece->process].process;
    struct cunei_trace_reader reader;

    int rc = cunei_trace_reader_open(&reader, process, piece->stream, piece->begin,
                                     piece->end);
    if (rc < 0)
        return rc;
    rc = read_packets(worker, piece, &reader);
    cunei_trace_reader_close(&reader);
    if (rc < 0)
        return rc;
    return cunei_profile_seal(&worker->profile, &piece->span);
}

/* Hand over what was read; the last piece of a process finishes it. */
static int flush(struct worker *worker)
{
    struct cunei_pool *pool = worker->pool;
    struct cunei_pool_process *process = &pool->processes[worker->process];
    int rc = 0;

    if (!worker->has_profile)
        return 0;
    (void)pthread_mutex_lock(&pool->lock);
    if (!process->has_profile) {
        process->profile = worker->profile;
        process->has_profile = true;
    } else {
        rc = cunei_profile_add(&process->profile, &worker->profile);
        cunei_profile_fini(&worker->profile);
    }
    process->left -= worker->pieces;
    if (rc == 0 && process->left == 0)
        rc = pool->finish(pool, process);
    (void)pthread_mutex_unlock(&pool->lock);
    worker->has_profile = false;
    worker->pieces = 0;
    return rc;
}

static int take_process(struct worker *worker, size_t process)
{
    if (worker->has_profile && worker->process == process)
        return 0;
    int rc = flush(worker);
    if (rc < 0)
        return rc;
    const struct cunei_trace_process *trace = worker->pool->processes[process].process;
    const struct cunei_profile_options options = {
        .function_count = trace->function_count,
        .frequency = trace->metadata.frequency,
        .kinds = cunei_trace_kinds(trace),
        .tree = worker->pool->options->tree,
        .edges = worker->pool->options->edges,
    };
    rc = cunei_profile_init(&worker->profile, &options);
    worker->has_profile = rc == 0;
    worker->process = process;
    return rc;
}

static int work(struct worker *worker)
{
    struct cunei_pool *pool = worker->pool;
    int rc = 0;

    while (rc == 0) {
        size_t index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (index >= pool->piece_count)
            break;
        struct cunei_piece *piece = &pool->pieces[index];
        rc = take_process(worker, piece->process);
        if (rc == 0)
            rc = read_piece(worker, piece);
        worker->pieces++;
    }
    if (rc == 0)
        rc = flush(worker);
    else if (worker->has_profile)
        cunei_profile_fini(&worker->profile);
    cunei_cut_fini(&worker->cut);
    return rc;
}

static void *run_worker(void *argument)
{
    struct cunei_pool *pool = argument;
    struct worker worker = {.pool = pool};

    int rc = work(&worker);
    (void)pthread_mutex_lock(&pool->lock);
    if (rc < 0 && pool->rc == 0) {
        pool->rc = rc;
        atomic_store_explicit(&pool->next, pool->piece_count, memory_order_relaxed);
    }
    pool->running--;
    (void)pthread_cond_signal(&pool->idle);
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Under the lock: wait for the workers, and say how far they are. */
static void watch(struct cunei_pool *pool)
{
    while (pool->running > 0) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PROGRESS_NS;
        until.tv_sec += until.tv_nsec / (long)CUNEI_NS_PER_S;
        until.tv_nsec %= (long)CUNEI_NS_PER_S;
        (void)pthread_cond_timedwait(&pool->idle, &pool->lock, &until);
        (void)pthread_mutex_unlock(&pool->lock);
        report_progress(pool);
        (void)pthread_mutex_lock(&pool->lock);
    }
}

static int run_parallel(struct cunei_pool *pool, unsigned count)
{
    pthread_t threads[WORKERS_MAX];
    unsigned started = 0;

    (void)pthread_mutex_lock(&pool->lock);
    for (; started < count; started++) {
        if (pthread_create(&threads[started], NULL, run_worker, pool) != 0)
            break;
        pool->running++;
    }
    watch(pool);
    (void)pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    return started > 0 ? pool->rc : -EAGAIN;
}

int cunei_pool_run(struct cunei_pool *pool)
{
    unsigned count = worker_count(pool);
    struct worker worker = {.pool = pool, .reports = true};

    if (count == 1)
        return work(&worker);
    int rc = run_parallel(pool, count);
    /* A system that gives us no threads still has this one. */
    return rc == -EAGAIN ? work(&worker) : rc;
}
