// SPDX-License-Identifier: MIT
#include "export/encode.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cores.h"
#include "export/export.h"
#include "export/selection.h"
#include "trace/stream_split.h"

#define PIECE_BYTES ((uint64_t)1 << 20)
#define WORKERS_MAX 64u
/* Pieces that may be ready before their turn comes, for each worker. */
#define AHEAD 3u
/* Bytes of pieces that wait for their turn: beyond that, nobody works ahead.  A piece
 * has some ten times those of the file, unless names in it are very long. */
#define READY_MAX ((size_t)128 << 20)
/* A buffer that became larger is not kept for the next piece. */
#define KEPT_MAX ((size_t)16 << 20)

/* A range of a stream's file. */
struct piece {
    size_t process; /* index in the trace */
    const struct cunei_trace_stream *stream;
    uint64_t begin, end;
};

/* A process under way. */
struct told_process {
    size_t piece_count; /* that are not yet written */
    void *labels;
    bool is_prepared;
};

/* A piece under way. */
struct slot {
    struct cunei_encoding encoding;
    struct cunei_encoding_job told;
    bool is_done; /* under the lock */
    int rc;
};

struct telling {
    struct cunei_export *export;
    const struct cunei_encoder *encoder;
    struct piece *pieces; /* owned, as the next two */
    size_t piece_count;
    struct told_process *processes;
    struct slot *slots;
    size_t slot_count;
    uint64_t total_bytes, done_bytes;
    pthread_mutex_t lock;
    pthread_cond_t ready;  /* a piece is done */
    pthread_cond_t wanted; /* a slot is free */
    size_t next;           /* piece to be told … */
    size_t written;        /* … and how many were written */
    size_t ready_bytes;    /* of those that are done, and not written */
    bool is_over;
    const struct cunei_trace_stream *last_stream; /* of what was written last, … */
    uint64_t last_sequence;                       /* … and its last packet */
    uint64_t seam_number; /* encodings behind those of the pieces */
};

static int add_pieces(struct telling *telling, size_t process,
                      const struct cunei_trace_stream *stream)
{
    const struct cunei_trace_process *owner =
        &telling->export->trace->processes[process];
    uint64_t *offsets = NULL;
    size_t count = 0;

    int rc = cunei_trace_split(owner, stream, PIECE_BYTES, &offsets, &count);
    if (rc < 0 || count == 0) {
        /* The reader will meet the same trouble, and say what it is. */
        free(offsets);
        offsets = calloc(1, sizeof(*offsets));
        count = 1;
    }
    struct piece *pieces =
        realloc(telling->pieces, (telling->piece_count + count) * sizeof(*pieces));
    if (pieces)
        telling->pieces = pieces;
    if (!pieces || !offsets) {
        free(offsets);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        pieces[telling->piece_count++] = (struct piece){
            .process = process,
            .stream = stream,
            .begin = offsets[i],
            .end = i + 1 < count ? offsets[i + 1] : UINT64_MAX,
        };
    telling->processes[process].piece_count += count;
    telling->total_bytes += stream->size;
    free(offsets);
    return 0;
}

static int cut_streams(struct telling *telling)
{
    const struct cunei_trace *trace = telling->export->trace;
    int rc = 0;

    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        if (!telling->export->selections[i].is_wanted)
            continue;
        for (size_t j = 0; rc == 0 && j < process->stream_count; j++) {
            if (process->streams[j].stream_class == CUNEI_STREAM_EVENTS)
                rc = add_pieces(telling, i, &process->streams[j]);
        }
    }
    return rc;
}

/* Under the lock: what the pieces of a process share. */
static int prepare(struct telling *telling, size_t index)
{
    struct told_process *process = &telling->processes[index];
    const struct cunei_encoder *encoder = telling->encoder;

    if (process->is_prepared || !encoder->prepare)
        return 0;
    process->labels =
        encoder->prepare(telling->export, &telling->export->trace->processes[index]);
    process->is_prepared = process->labels != NULL;
    return process->is_prepared ? 0 : -ENOMEM;
}

static void dispose(struct telling *telling, size_t index)
{
    struct told_process *process = &telling->processes[index];

    if (process->is_prepared && telling->encoder->dispose)
        telling->encoder->dispose(process->labels);
    process->is_prepared = false;
}

/* Everything but the number and the memory of its bytes. */
static int begin_encoding(struct telling *telling, struct cunei_encoding *encoding,
                          size_t process)
{
    struct cunei_buffer out = encoding->out;
    struct cunei_call_arguments pending = encoding->pending;
    void *state = encoding->state;

    if (state && telling->encoder->release)
        telling->encoder->release(encoding);
    cunei_late_parameters_fini(&encoding->late);
    if (!state && telling->encoder->state_size > 0)
        state = malloc(telling->encoder->state_size);
    if (!state && telling->encoder->state_size > 0)
        return -ENOMEM;
    if (state)
        memset(state, 0, telling->encoder->state_size);
    if (out.capacity > KEPT_MAX)
        cunei_buffer_fini(&out);
    cunei_buffer_clear(&out);
    *encoding = (struct cunei_encoding){
        .export = telling->export,
        .encoder = telling->encoder,
        .process = &telling->export->trace->processes[process],
        .wall = &telling->export->selections[process].wall,
        .kinds = cunei_trace_kinds(&telling->export->trace->processes[process]),
        .labels = telling->processes[process].labels,
        .state = state,
        .out = out,
        .pending = {.values = pending.values, .capacity = pending.capacity},
    };
    return 0;
}

static void release(const struct telling *telling, struct cunei_encoding *encoding)
{
    if (encoding->state && telling->encoder->release)
        telling->encoder->release(encoding);
    free(encoding->state);
    cunei_late_parameters_fini(&encoding->late);
    free(encoding->pending.values);
    cunei_buffer_fini(&encoding->out);
    encoding->state = NULL;
    encoding->pending.values = NULL;
}

static int tell_piece(struct telling *telling, struct slot *slot, size_t index)
{
    const struct piece *piece = &telling->pieces[index];
    const struct cunei_encoder *encoder = telling->encoder;
    struct cunei_trace_reader reader;

    int rc = begin_encoding(telling, &slot->encoding, piece->process);
    if (rc < 0)
        return rc;
    slot->encoding.number = index;
    slot->told.story =
        (struct cunei_spans){.methods = &cunei_call_arguments_methods,
                             .context = &slot->encoding,
                             .kinds = cunei_trace_kinds(slot->encoding.process)};
    slot->told.bytes = slot->told.missing_packets = 0;
    slot->told.has_packets = slot->told.is_damaged = false;
    rc = cunei_trace_reader_open(&reader, slot->encoding.process, piece->stream,
                                 piece->begin, piece->end);
    if (rc < 0)
        return rc;
    rc = cunei_encode_packets(&telling->export->selections[piece->process], &slot->told,
                              &slot->encoding, &reader, NULL);
    cunei_trace_reader_close(&reader);
    if (rc == 0)
        rc = cunei_spans_end(&slot->told.story);
    if (rc == 0)
        rc = cunei_late_parameters_flush(&slot->encoding);
    if (rc == 0 && encoder->finish)
        rc = encoder->finish(&slot->encoding);
    return rc == 0 && slot->encoding.out.failed ? -ENOMEM : rc;
}

/* Under the lock: whether there is a place for the next piece.  One whose turn it is
 * always has one. */
static bool has_room(const struct telling *telling)
{
    return telling->next == telling->written ||
           (telling->next < telling->written + telling->slot_count &&
            telling->ready_bytes < READY_MAX);
}

/* Under the lock: take the next piece, if there is one and a place for it. */
static bool take(struct telling *telling, size_t *index)
{
    while (!telling->is_over && telling->next < telling->piece_count &&
           !has_room(telling))
        (void)pthread_cond_wait(&telling->wanted, &telling->lock);
    if (telling->is_over || telling->next >= telling->piece_count)
        return false;
    *index = telling->next++;
    return true;
}

static void *run_worker(void *argument)
{
    struct telling *telling = argument;
    size_t index;

    (void)pthread_mutex_lock(&telling->lock);
    while (take(telling, &index)) {
        struct slot *slot = &telling->slots[index % telling->slot_count];
        int rc = prepare(telling, telling->pieces[index].process);
        (void)pthread_mutex_unlock(&telling->lock);
        if (rc == 0)
            rc = tell_piece(telling, slot, index);
        (void)pthread_mutex_lock(&telling->lock);
        slot->rc = rc;
        slot->is_done = true;
        telling->ready_bytes += slot->encoding.out.size;
        (void)pthread_cond_signal(&telling->ready);
    }
    (void)pthread_mutex_unlock(&telling->lock);
    return NULL;
}

static int write_bytes(struct telling *telling, struct cunei_encoding *encoding)
{
    const struct cunei_buffer *bytes = &encoding->out;

    if (bytes->failed)
        return -ENOMEM;
    if (telling->encoder->write)
        return telling->encoder->write(encoding);
    if (bytes->size > 0 &&
        fwrite(bytes->data, 1, bytes->size, telling->export->out) != bytes->size)
        return errno ? -errno : -EIO;
    telling->export->bytes += bytes->size;
    return 0;
}

/* The bytes of a seam; it goes on with the next piece. */
static int write_seam(struct telling *telling, struct cunei_encoding *encoding)
{
    int rc = cunei_call_arguments_flush(encoding);

    if (rc == 0 && telling->encoder->finish)
        rc = telling->encoder->finish(encoding);
    if (rc == 0)
        rc = write_bytes(telling, encoding);
    cunei_encode_count(telling->export, encoding);
    cunei_buffer_clear(&encoding->out);
    encoding->number = telling->piece_count + ++telling->seam_number;
    return rc;
}

/* The packets that are missing in a piece, and between it and the one before. */
static void count_missing(struct telling *telling,
                          const struct cunei_trace_stream *stream,
                          const struct cunei_encoding_job *told)
{
    struct cunei_export *export = telling->export;

    if (!told->has_packets)
        return;
    export->told_missing += told->missing_packets;
    if (telling->last_stream == stream && told->first_sequence > telling->last_sequence)
        export->told_missing += told->first_sequence - telling->last_sequence - 1;
    telling->last_stream = stream;
    telling->last_sequence = told->last_sequence;
}

static void take_stock(struct telling *telling, const struct piece *piece,
                       struct slot *slot)
{
    struct cunei_export *export = telling->export;

    cunei_encode_count(export, &slot->encoding);
    count_missing(telling, piece->stream, &slot->told);
    if (slot->told.is_damaged && export->damage_count++ == 0)
        export->damage = slot->told.error;
    telling->done_bytes += slot->told.bytes;
    if (export->options->progress)
        export->options->progress(export->options->progress_context,
                                  telling->done_bytes, telling->total_bytes);
}

static int end_stream(struct telling *telling, struct cunei_piece_join *seam,
                      struct cunei_encoding *encoding)
{
    int rc = cunei_piece_join_end(seam);

    if (rc == 0)
        rc = cunei_call_arguments_flush(encoding);
    if (rc == 0 && telling->encoder->close)
        rc = telling->encoder->close(encoding);
    if (rc == 0)
        rc = write_seam(telling, encoding);
    cunei_piece_join_fini(seam);
    return rc;
}

static int write_piece(struct telling *telling, struct slot *slot,
                       struct cunei_piece_join *seam, struct cunei_encoding *encoding)
{
    int rc = cunei_piece_join_pass(seam, &slot->told.story);

    if (rc == 0)
        rc = cunei_call_arguments_flush(encoding);
    if (rc == 0)
        rc = cunei_gc_pause_join(encoding, &slot->encoding);
    if (rc == 0 && telling->encoder->join)
        rc = telling->encoder->join(encoding, &slot->encoding);
    if (slot->encoding.last > 0)
        encoding->last = slot->encoding.last;
    if (rc == 0)
        rc = write_seam(telling, encoding);
    if (rc == 0)
        rc = write_bytes(telling, &slot->encoding);
    return rc;
}

/* The pieces, as their turn comes; `wait` sees to it that one is told. */
static int write_pieces(struct telling *telling,
                        int (*wait)(struct telling *telling, size_t index))
{
    struct cunei_encoding encoding = {0};
    struct cunei_piece_join seam = {0};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < telling->piece_count; i++) {
        const struct piece *piece = &telling->pieces[i];
        struct slot *slot = &telling->slots[i % telling->slot_count];
        bool is_first = i == 0 || piece[-1].stream != piece->stream;
        bool is_last =
            i + 1 == telling->piece_count || piece[1].stream != piece->stream;
        rc = wait(telling, i);
        if (rc == 0 && is_first) {
            rc = begin_encoding(telling, &encoding, piece->process);
            encoding.number = telling->piece_count + ++telling->seam_number;
            seam =
                (struct cunei_piece_join){.methods = &cunei_call_arguments_methods,
                                          .context = &encoding,
                                          .kinds = cunei_trace_kinds(encoding.process)};
        }
        if (rc == 0)
            rc = write_piece(telling, slot, &seam, &encoding);
        if (rc == 0 && is_last)
            rc = end_stream(telling, &seam, &encoding);
        take_stock(telling, piece, slot);
        cunei_spans_fini(&slot->told.story);
        (void)pthread_mutex_lock(&telling->lock);
        if (slot->is_done)
            telling->ready_bytes -= slot->encoding.out.size;
        slot->is_done = false;
        telling->written++;
        if (--telling->processes[piece->process].piece_count == 0)
            dispose(telling, piece->process);
        (void)pthread_cond_broadcast(&telling->wanted);
        (void)pthread_mutex_unlock(&telling->lock);
    }
    cunei_piece_join_fini(&seam);
    release(telling, &encoding);
    return rc;
}

static int wait_for(struct telling *telling, size_t index)
{
    struct slot *slot = &telling->slots[index % telling->slot_count];

    (void)pthread_mutex_lock(&telling->lock);
    while (!slot->is_done)
        (void)pthread_cond_wait(&telling->ready, &telling->lock);
    (void)pthread_mutex_unlock(&telling->lock);
    return slot->rc;
}

/* Where there is one core, or no thread to be had. */
static int tell_here(struct telling *telling, size_t index)
{
    int rc = prepare(telling, telling->pieces[index].process);

    return rc == 0 ? tell_piece(telling, &telling->slots[index % telling->slot_count],
                                index)
                   : rc;
}

static unsigned worker_count(const struct telling *telling)
{
    unsigned count = telling->export->options->worker_count;

    if (count == 0)
        count = cunei_cores();
    if (count > WORKERS_MAX)
        count = WORKERS_MAX;
    return telling->piece_count < 2 ? 1 : count;
}

static int run(struct telling *telling, unsigned count)
{
    pthread_t threads[WORKERS_MAX];
    unsigned started = 0;

    while (count > 1 && started < count &&
           pthread_create(&threads[started], NULL, run_worker, telling) == 0)
        started++;
    int rc = write_pieces(telling, started > 0 ? wait_for : tell_here);
    (void)pthread_mutex_lock(&telling->lock);
    telling->is_over = true;
    (void)pthread_cond_broadcast(&telling->wanted);
    (void)pthread_mutex_unlock(&telling->lock);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    return rc;
}

int cunei_encode(struct cunei_export *export, const struct cunei_encoder *encoder)
{
    struct telling telling = {
        .export = export,
        .encoder = encoder,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .ready = PTHREAD_COND_INITIALIZER,
        .wanted = PTHREAD_COND_INITIALIZER,
    };
    int rc = -ENOMEM;

    telling.processes =
        calloc(export->trace->process_count + 1, sizeof(*telling.processes));
    if (telling.processes)
        rc = cut_streams(&telling);
    unsigned count = worker_count(&telling);
    telling.slot_count = (size_t)count * AHEAD;
    telling.slots = calloc(telling.slot_count, sizeof(*telling.slots));
    if (rc == 0)
        rc = telling.slots ? run(&telling, count) : -ENOMEM;
    for (size_t i = 0; telling.slots && i < telling.slot_count; i++) {
        release(&telling, &telling.slots[i].encoding);
        cunei_spans_fini(&telling.slots[i].told.story);
        cunei_cut_fini(&telling.slots[i].told.cut);
    }
    for (size_t i = 0; telling.processes && i < export->trace->process_count; i++)
        dispose(&telling, i);
    free(telling.slots);
    free(telling.processes);
    free(telling.pieces);
    return rc;
}
