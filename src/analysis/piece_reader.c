// SPDX-License-Identifier: MIT
#include "analysis/piece_reader.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cores.h"
#include "base/units.h"
#include "base/work_pool.h"
#include "model/walk/packet_cut.h"

#define PIECE_MIN (8 * CUNEI_MIB)
#define PIECE_MAX (256 * CUNEI_MIB)

/* A worker, and the profile of the process whose pieces it reads at the moment. */
struct cunei_piece_worker {
    struct cunei_profile profile;
    struct cunei_cut cut;
    size_t process;
    size_t pieces; /* read into the profile */
    bool has_profile;
};

static uint64_t stream_bytes(const struct cunei_trace_stream *stream)
{
    uint64_t size = stream->size;

    for (size_t i = 0; i < stream->live.count; i++)
        size += stream->live.items[i]->content_bits / 8;
    return size;
}

static unsigned worker_count(const struct cunei_piece_reader *reader)
{
    uint64_t count = reader->options->worker_count;

    if (count == 0) {
        count = cunei_cores();
        if (count > reader->total_bytes / PIECE_MIN)
            count = reader->total_bytes / PIECE_MIN;
    }
    if (count > CUNEI_WORKERS_MAX)
        count = CUNEI_WORKERS_MAX;
    return count > 0 ? (unsigned)count : 1;
}

static int cut_streams(struct cunei_piece_reader *reader)
{
    uint64_t target = reader->total_bytes / ((uint64_t)8 * reader->worker_count);

    target = target < PIECE_MIN ? PIECE_MIN : target > PIECE_MAX ? PIECE_MAX : target;
    if (reader->options->piece_bytes > 0)
        target = reader->options->piece_bytes;
    for (size_t i = 0; i < reader->process_count; i++) {
        struct cunei_read_process *process = &reader->processes[i];
        const struct cunei_trace_process *read = process->process;
        process->first_piece = reader->pieces.count;
        for (size_t j = 0; j < read->stream_count; j++) {
            int rc = cunei_trace_pieces_add(&reader->pieces, read, i, &read->streams[j],
                                            target);
            if (rc < 0)
                return rc;
        }
        process->piece_count = reader->pieces.count - process->first_piece;
        process->left = process->piece_count;
    }
    return 0;
}

int cunei_piece_reader_init(struct cunei_piece_reader *reader,
                            const struct cunei_trace *trace)
{
    (void)pthread_mutex_init(&reader->lock, NULL);
    reader->processes = calloc(trace->process_count + 1, sizeof(*reader->processes));
    if (!reader->processes)
        return -ENOMEM;
    reader->process_count = 0;
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        if (!cunei_trace_is_chosen(process, &reader->options->processes))
            continue;
        reader->processes[reader->process_count++].process = process;
        for (size_t j = 0; j < process->stream_count; j++)
            reader->total_bytes += stream_bytes(&process->streams[j]);
    }
    reader->worker_count = worker_count(reader);
    int rc = cut_streams(reader);
    if (rc < 0)
        return rc;
    reader->facts = calloc(reader->pieces.count + 1, sizeof(*reader->facts));
    reader->workers = calloc(reader->worker_count, sizeof(*reader->workers));
    return reader->facts && reader->workers ? 0 : -ENOMEM;
}

void cunei_piece_reader_fini(struct cunei_piece_reader *reader)
{
    for (size_t i = 0; reader->facts && i < reader->pieces.count; i++)
        cunei_piece_fini(&reader->facts[i].span);
    free(reader->facts);
    cunei_trace_pieces_fini(&reader->pieces);
    for (size_t i = 0; i < reader->process_count; i++) {
        if (reader->processes[i].has_profile)
            cunei_profile_fini(&reader->processes[i].profile);
    }
    free(reader->processes);
    for (unsigned i = 0; reader->workers && i < reader->worker_count; i++) {
        if (reader->workers[i].has_profile)
            cunei_profile_fini(&reader->workers[i].profile);
        cunei_cut_fini(&reader->workers[i].cut);
    }
    free(reader->workers);
    (void)pthread_mutex_destroy(&reader->lock);
}

static void report_progress(void *context)
{
    const struct cunei_piece_reader *reader = context;

    if (reader->options->progress)
        reader->options->progress(
            reader->options->progress_context,
            atomic_load_explicit(&reader->done_bytes, memory_order_relaxed),
            reader->total_bytes);
}

static int read_packet(struct cunei_piece_reader *reader,
                       struct cunei_piece_worker *worker, size_t index,
                       struct cunei_trace_packet *packet)
{
    const struct cunei_analysis_options *options = reader->options;
    struct cunei_piece_facts *facts = &reader->facts[index];
    int rc = 0;

    if (options->select)
        rc = options->select(options->select_context,
                             reader->processes[worker->process].process, &worker->cut,
                             packet);
    if (rc < 0)
        return rc;
    if (reader->pieces.items[index].stream->stream_class != CUNEI_STREAM_DEFINITIONS)
        return cunei_profile_read(&worker->profile, &facts->span, packet->head,
                                  packet->words, packet->word_count);
    cunei_event_count_words(&facts->definitions, NULL, packet->words,
                            packet->word_count);
    return 0;
}

static int read_packets(struct cunei_piece_reader *reader,
                        struct cunei_piece_worker *worker, size_t index,
                        struct cunei_trace_reader *packets)
{
    struct cunei_trace_packet packet;
    int rc = 0, read_rc = 0;

    while (rc == 0 && (read_rc = cunei_trace_reader_next(packets, &packet)) > 0) {
        uint64_t size = sizeof(*packet.head) + packet.word_count * 8;
        rc = read_packet(reader, worker, index, &packet);
        atomic_fetch_add_explicit(&reader->done_bytes, size, memory_order_relaxed);
        /* The only worker runs on the calling thread, which else shows progress. */
        if (reader->worker_count == 1)
            report_progress(reader);
    }
    if (rc < 0 || read_rc == 0 || read_rc == -ENOMEM)
        return rc < 0 ? rc : read_rc;
    (void)pthread_mutex_lock(&reader->lock);
    reader->damage(reader->context, cunei_trace_reader_error(packets));
    (void)pthread_mutex_unlock(&reader->lock);
    return 0;
}

static int read_piece(struct cunei_piece_reader *reader,
                      struct cunei_piece_worker *worker, size_t index)
{
    const struct cunei_trace_piece *piece = &reader->pieces.items[index];
    struct cunei_trace_reader *packets =
        cunei_trace_reader_open(reader->processes[piece->process].process,
                                piece->stream, piece->begin, piece->end);

    if (!packets)
        return -ENOMEM;
    int rc = read_packets(reader, worker, index, packets);
    cunei_trace_reader_close(packets);
    if (rc < 0)
        return rc;
    return cunei_profile_seal(&worker->profile, &reader->facts[index].span);
}

/* Adds what the worker read to its process; the last piece of a process finishes it. */
static int hand_over(struct cunei_piece_reader *reader,
                     struct cunei_piece_worker *worker)
{
    struct cunei_read_process *process = &reader->processes[worker->process];
    int rc = 0;

    if (!worker->has_profile)
        return 0;
    (void)pthread_mutex_lock(&reader->lock);
    if (!process->has_profile) {
        process->profile = worker->profile;
        process->has_profile = true;
    } else {
        rc = cunei_profile_add(&process->profile, &worker->profile);
        cunei_profile_fini(&worker->profile);
    }
    process->left -= worker->pieces;
    if (rc == 0 && process->left == 0)
        rc = reader->finish(reader->context, reader, process);
    (void)pthread_mutex_unlock(&reader->lock);
    worker->has_profile = false;
    worker->pieces = 0;
    return rc;
}

static int begin_process(struct cunei_piece_reader *reader,
                         struct cunei_piece_worker *worker, size_t process)
{
    if (worker->has_profile && worker->process == process)
        return 0;
    int rc = hand_over(reader, worker);
    if (rc < 0)
        return rc;
    const struct cunei_trace_process *trace = reader->processes[process].process;
    const struct cunei_profile_options options = {
        .function_count = trace->function_count,
        .frequency = trace->metadata.frequency,
        .kinds = cunei_trace_kinds(trace),
        .tree = reader->options->tree,
        .threads = reader->options->threads,
        .edges = reader->options->edges,
    };
    rc = cunei_profile_init(&worker->profile, &options);
    worker->has_profile = rc == 0;
    worker->process = process;
    return rc;
}

static int work(void *context, unsigned index, size_t piece, size_t *bytes)
{
    struct cunei_piece_reader *reader = context;
    struct cunei_piece_worker *worker = &reader->workers[index];

    *bytes = 0; /* results are added up at once, in any order */
    int rc = begin_process(reader, worker, reader->pieces.items[piece].process);
    if (rc == 0)
        rc = read_piece(reader, worker, piece);
    worker->pieces++;
    if (rc < 0 && worker->has_profile) {
        cunei_profile_fini(&worker->profile);
        worker->has_profile = false;
    }
    return rc;
}

static int finish_worker(void *context, unsigned index)
{
    struct cunei_piece_reader *reader = context;

    return hand_over(reader, &reader->workers[index]);
}

int cunei_piece_reader_run(struct cunei_piece_reader *reader)
{
    const struct cunei_work_pool pool = {
        .piece_count = reader->pieces.count,
        .worker_count = reader->worker_count,
        .context = reader,
        .work = work,
        .finish = finish_worker,
        .progress = reader->worker_count > 1 ? report_progress : NULL,
    };

    return cunei_work_pool_run(&pool);
}
