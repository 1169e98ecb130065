// SPDX-License-Identifier: MIT
#include "export/encode_pieces.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cores.h"
#include "base/units.h"
#include "base/work_pool.h"
#include "export/encoder.h"
#include "export/export.h"
#include "export/selection.h"
#include "export/stream_encoding.h"
#include "model/spans/piece_join.h"
#include "trace/directory/pieces.h"

#define PIECE_BYTES (1 * CUNEI_MIB)
#define WORKERS_MAX 64u
/* Pieces that may be ready before their turn comes, for each worker, and their bytes:
 * some ten times those in the trace, unless names are very long. */
#define AHEAD     3u
#define READY_MAX ((size_t)(128 * CUNEI_MIB))
/* A buffer that became larger is not kept for the next piece. */
#define KEPT_MAX (16 * CUNEI_MIB)

/* What the pieces of a process share. */
struct process {
    size_t left; /* pieces that are not written yet */
    void *shared;
    bool is_prepared;
};

/* A piece that is encoded, or waits to be written. */
struct slot {
    struct cunei_encoding encoding;
    struct cunei_stream_encoding stream;
};

struct job {
    struct cunei_export *export;
    const struct cunei_encoder *encoder;
    struct cunei_trace_pieces pieces;
    uint64_t total_bytes, done_bytes;
    struct process *processes; /* owned; `lock` is for their preparation */
    pthread_mutex_t lock;
    struct slot *slots; /* owned: by piece modulo their number */
    size_t slot_count;

    /* Of the calling thread, which writes. */
    struct cunei_piece_join *join;                /* owned: of the stream … */
    struct cunei_encoding joined;                 /* … its encoding … */
    uint64_t join_count;                          /* … and how many there were */
    const struct cunei_trace_stream *last_stream; /* what was written last … */
    struct cunei_packet_place last;               /* … and its last packet */
};

static int cut_streams(struct job *job)
{
    const struct cunei_trace *trace = job->export->trace;
    int rc = 0;

    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        size_t before = job->pieces.count;
        if (!job->export->selections[i].is_wanted)
            continue;
        for (size_t j = 0; rc == 0 && j < process->stream_count; j++) {
            const struct cunei_trace_stream *stream = &process->streams[j];
            if (stream->stream_class != CUNEI_STREAM_EVENTS)
                continue;
            rc = cunei_trace_pieces_add(&job->pieces, process, i, stream, PIECE_BYTES);
            job->total_bytes += stream->size;
        }
        job->processes[i].left = job->pieces.count - before;
    }
    return rc;
}

static int prepare(struct job *job, size_t index)
{
    struct process *process = &job->processes[index];
    const struct cunei_encoder *encoder = job->encoder;

    if (!encoder->prepare)
        return 0;
    (void)pthread_mutex_lock(&job->lock);
    if (!process->is_prepared)
        process->shared =
            encoder->prepare(job->export, &job->export->trace->processes[index]);
    process->is_prepared = process->shared != NULL;
    int rc = process->is_prepared ? 0 : -ENOMEM;
    (void)pthread_mutex_unlock(&job->lock);
    return rc;
}

static void dispose(struct job *job, size_t index)
{
    struct process *process = &job->processes[index];

    if (process->is_prepared && job->encoder->dispose)
        job->encoder->dispose(process->shared);
    process->is_prepared = false;
}

/* Everything but the number; memory of an earlier use is used again. */
static int begin_encoding(struct job *job, struct cunei_encoding *encoding,
                          size_t process)
{
    const struct cunei_encoder *encoder = job->encoder;
    struct cunei_call_arguments arguments = encoding->arguments;
    struct cunei_buffer out = encoding->out;
    void *state = encoding->state;

    if (state && encoder->release)
        encoder->release(encoding);
    free(encoding->named.items);
    cunei_late_parameters_fini(&encoding->late);
    if (!state && encoder->state_size > 0)
        state = malloc(encoder->state_size);
    if (!state && encoder->state_size > 0)
        return -ENOMEM;
    if (state)
        memset(state, 0, encoder->state_size);
    if (out.capacity > KEPT_MAX)
        cunei_buffer_fini(&out);
    cunei_buffer_clear(&out);
    *encoding = (struct cunei_encoding){
        .export = job->export,
        .encoder = encoder,
        .process = &job->export->trace->processes[process],
        .wall = &job->export->selections[process].wall,
        .kinds = cunei_trace_kinds(&job->export->trace->processes[process]),
        .shared = job->processes[process].shared,
        .state = state,
        .out = out,
        .arguments = {.items = arguments.items, .capacity = arguments.capacity},
    };
    return 0;
}

static struct slot *slot_of(struct job *job, size_t piece)
{
    return &job->slots[piece % job->slot_count];
}

static int begin_piece(struct job *job, struct slot *slot, size_t index)
{
    size_t process = job->pieces.items[index].process;
    struct cunei_cut cut = slot->stream.cut;

    int rc = prepare(job, process);
    if (rc == 0)
        rc = begin_encoding(job, &slot->encoding, process);
    slot->encoding.number = index;
    const struct cunei_spans_options options = {.methods = &cunei_encoding_methods,
                                                .context = &slot->encoding,
                                                .kinds = slot->encoding.kinds};
    slot->stream = (struct cunei_stream_encoding){
        .spans = cunei_spans_new(&options),
        .cut = cut,
    };
    return rc == 0 && !slot->stream.spans ? -ENOMEM : rc;
}

static int encode_piece(void *context, unsigned worker, size_t index, size_t *bytes)
{
    struct job *job = context;
    const struct cunei_trace_piece *piece = &job->pieces.items[index];
    struct slot *slot = slot_of(job, index);

    (void)worker;
    int rc = begin_piece(job, slot, index);
    if (rc < 0)
        return rc;
    struct cunei_trace_reader *reader = cunei_trace_reader_open(
        slot->encoding.process, piece->stream, piece->begin, piece->end);
    if (!reader)
        return -ENOMEM;
    rc = cunei_stream_encoding_read(&slot->stream,
                                    &job->export->selections[piece->process],
                                    &slot->encoding, reader);
    cunei_trace_reader_close(reader);
    if (rc == 0)
        rc = cunei_encoding_flush_late(&slot->encoding);
    if (rc == 0 && job->encoder->finish)
        rc = job->encoder->finish(&slot->encoding);
    *bytes = slot->encoding.out.size;
    return rc == 0 && slot->encoding.out.failed ? -ENOMEM : rc;
}

static int write_bytes(struct job *job, struct cunei_encoding *encoding)
{
    const struct cunei_buffer *bytes = &encoding->out;

    if (bytes->failed)
        return -ENOMEM;
    if (job->encoder->write)
        return job->encoder->write(encoding);
    if (bytes->size > 0 &&
        fwrite(bytes->data, 1, bytes->size, job->export->out) != bytes->size)
        return errno ? -errno : -EIO;
    job->export->bytes += bytes->size;
    return 0;
}

static int begin_join(struct job *job, size_t process)
{
    int rc = begin_encoding(job, &job->joined, process);

    job->joined.number = job->pieces.count + ++job->join_count;
    job->join =
        cunei_piece_join_new(&cunei_encoding_methods, &job->joined, job->joined.kinds);
    return rc == 0 && !job->join ? -ENOMEM : rc;
}

/* The bytes of a join; the next one of the stream uses the same encoding. */
static int write_join(struct job *job)
{
    struct cunei_encoding *encoding = &job->joined;
    int rc = cunei_encoding_flush(encoding);

    if (rc == 0 && job->encoder->finish)
        rc = job->encoder->finish(encoding);
    if (rc == 0)
        rc = write_bytes(job, encoding);
    cunei_stream_encoding_count(job->export, encoding);
    cunei_buffer_clear(&encoding->out);
    encoding->number = job->pieces.count + ++job->join_count;
    return rc;
}

static int end_stream(struct job *job)
{
    int rc = cunei_piece_join_end(job->join);

    if (rc == 0)
        rc = cunei_encoding_flush(&job->joined);
    if (rc == 0 && job->encoder->close)
        rc = job->encoder->close(&job->joined);
    if (rc == 0)
        rc = write_join(job);
    cunei_piece_join_free(job->join);
    job->join = NULL;
    return rc;
}

static int write_slot(struct job *job, struct slot *slot)
{
    struct cunei_encoding *join = &job->joined;
    int rc = cunei_piece_join_pass(job->join, slot->stream.spans);

    if (rc == 0)
        rc = cunei_encoding_flush(join);
    if (rc == 0)
        rc = cunei_encoding_join(join, &slot->encoding);
    if (rc == 0 && job->encoder->join)
        rc = job->encoder->join(join, &slot->encoding);
    if (rc == 0)
        rc = write_join(job);
    return rc == 0 ? write_bytes(job, &slot->encoding) : rc;
}

/* The packets that are missing in a piece, and between it and the one before. */
static void count_missing(struct job *job, const struct cunei_trace_stream *stream,
                          const struct cunei_stream_encoding *encoded)
{
    struct cunei_export *export = job->export;

    if (!encoded->has_packets)
        return;
    struct cunei_packet_gap gap = encoded->gap;
    if (job->last_stream == stream)
        cunei_packet_gap_add(&gap, job->last, encoded->first);
    export->counted_missing += gap.missing;
    job->last_stream = stream;
    job->last = encoded->last;
}

static void count_piece(struct job *job, const struct cunei_trace_piece *piece,
                        struct slot *slot)
{
    struct cunei_export *export = job->export;

    cunei_stream_encoding_count(export, &slot->encoding);
    count_missing(job, piece->stream, &slot->stream);
    if (slot->stream.is_damaged && export->damage_count++ == 0)
        export->damage = slot->stream.error;
    job->done_bytes += slot->stream.bytes;
    if (export->options->progress)
        export->options->progress(export->options->progress_context, job->done_bytes,
                                  job->total_bytes);
}

static int write_piece(void *context, size_t index)
{
    struct job *job = context;
    const struct cunei_trace_piece *piece = &job->pieces.items[index];
    struct slot *slot = slot_of(job, index);
    bool is_first = index == 0 || piece[-1].stream != piece->stream;
    bool is_last = index + 1 == job->pieces.count || piece[1].stream != piece->stream;

    int rc = is_first ? begin_join(job, piece->process) : 0;
    if (rc == 0)
        rc = write_slot(job, slot);
    if (rc == 0 && is_last)
        rc = end_stream(job);
    count_piece(job, piece, slot);
    cunei_spans_free(slot->stream.spans);
    slot->stream.spans = NULL;
    if (--job->processes[piece->process].left == 0)
        dispose(job, piece->process);
    return rc;
}

static unsigned worker_count(const struct job *job)
{
    unsigned count = job->export->options->worker_count;

    if (count == 0)
        count = cunei_cores();
    if (count > WORKERS_MAX)
        count = WORKERS_MAX;
    return job->pieces.count < 2 ? 1 : count;
}

static int run(struct job *job)
{
    unsigned workers = worker_count(job);

    job->slot_count = (size_t)workers * AHEAD;
    job->slots = calloc(job->slot_count, sizeof(*job->slots));
    if (!job->slots)
        return -ENOMEM;
    const struct cunei_work_pool pool = {
        .piece_count = job->pieces.count,
        .worker_count = workers,
        .context = job,
        .work = encode_piece,
        .deliver = write_piece,
        .ahead_max = job->slot_count,
        .bytes_max = READY_MAX,
    };
    return cunei_work_pool_run(&pool);
}

int cunei_encode(struct cunei_export *export, const struct cunei_encoder *encoder)
{
    struct job job = {
        .export = export,
        .encoder = encoder,
        .processes = calloc(export->trace->process_count + 1, sizeof(*job.processes)),
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .joined = {.encoder = encoder},
    };

    int rc = job.processes ? cut_streams(&job) : -ENOMEM;
    if (rc == 0)
        rc = run(&job);
    cunei_piece_join_free(job.join);
    cunei_encoding_fini(&job.joined);
    for (size_t i = 0; job.slots && i < job.slot_count; i++) {
        job.slots[i].encoding.encoder = encoder;
        cunei_encoding_fini(&job.slots[i].encoding);
        cunei_stream_encoding_fini(&job.slots[i].stream);
    }
    for (size_t i = 0; job.processes && i < export->trace->process_count; i++)
        dispose(&job, i);
    free(job.slots);
    free(job.processes);
    cunei_trace_pieces_fini(&job.pieces);
    return rc;
}
