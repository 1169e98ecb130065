// SPDX-License-Identifier: MIT
/*
 * The stories of all threads, encoded with all cores and written in order.
 *
 *     static const struct cunei_encoder encoder = {
 *         .thread = …, .begin = …, .end = …, .state_size = sizeof(struct state),
 *     };
 *     int rc = cunei_encode(export, &encoder);
 *
 * Streams are cut into pieces.  Each is told (model/spans.h) into an encoding of its
 * own, as are the seams between them; their bytes are written one after the other, so
 * that an encoding must not depend on what another one left.  At most a few pieces are
 * in memory at a time.
 */
#ifndef CUNEI_EXPORT_ENCODE_H
#define CUNEI_EXPORT_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "model/packet_cut.h"
#include "model/spans.h"
#include "model/wall_clock.h"
#include "trace/trace.h"

struct cunei_export;
struct cunei_selection;

/* An argument or a result of a call, or a parameter of it, as it was recorded;
 * borrowed. */
struct cunei_value {
    const char *name; /* of an argument; no NUL behind it */
    size_t name_size;
    const char *text; /* the same */
    size_t size;
};

struct cunei_call_begin {
    uint32_t function;
    enum cunei_span_event_begin how;
    uint64_t time;
    const struct cunei_value *arguments;
    size_t argument_count;
};

struct cunei_call_end {
    uint32_t function;
    enum cunei_span_event_end how;
    uint64_t time;
    const struct cunei_value *result; /* NULL: none was recorded */
    /* Parameters that were told after other things had happened in it; only for who
     * asks for them. */
    struct cunei_user_value *const *late;
    size_t late_count;
};

/* A garbage collection of which both ends are known, in ticks. */
struct cunei_gc_pause {
    uint64_t begin, end;
    uint64_t collected; /* objects */
    uint32_t generation;
    uint32_t uncollectable;
};

/* Where events are missing: from the last that is known on, in ticks. */
struct cunei_loss {
    uint64_t begin, end;
    uint64_t count; /* 0: it is not known how many */
};

/* Private: how the stretches of a piece went up and down, up to an end of a pause. */
struct cunei_gc_pause_level {
    int64_t depth;
    int64_t lowest;
};

/* Private: a pause that is under way, and one that began in an earlier piece. */
struct cunei_gc_pause_span {
    bool is_open;
    uint64_t begin;
    struct cunei_gc_pause_level level; /* since it began, or since the piece did */
    bool is_apart; /* what comes has nothing to do with what was before the piece */
    bool has_end;
    struct cunei_gc_pause ended; /* but for its begin */
    struct cunei_gc_pause_level end_level;
};

/* Parameters that are numbers become texts; what is beyond is told as an event. */
#define CUNEI_PENDING_NUMBERS     8u
#define CUNEI_PENDING_NUMBER_SIZE 32u

/* Private: a call that has begun, but whose arguments may still come. */
struct cunei_call_arguments {
    struct cunei_call_begin call;
    bool is_open;
    bool has_result;
    struct cunei_value result;
    struct cunei_value *values; /* owned: of the arguments */
    size_t capacity;
    char numbers[CUNEI_PENDING_NUMBERS][CUNEI_PENDING_NUMBER_SIZE]; /* as texts … */
    size_t number_count;                                            /* … so many */
};

/* So many wait for ends at a time; more are told as events. */
#define CUNEI_LATE_MAX 64u

/* Private: a parameter that waits for the end of what it is of. */
struct cunei_late_parameters_item {
    struct cunei_user_value *value; /* owned */
    uint64_t time;
    uint32_t inside; /* stretches of the same function that are open in that one */
};

struct cunei_late_parameters {
    struct cunei_late_parameters_item items[CUNEI_LATE_MAX];
    size_t count;
    struct cunei_user_value *ended[CUNEI_LATE_MAX]; /* owned: by who takes them out */
};

struct cunei_encoding {
    const struct cunei_export *export;
    const struct cunei_encoder *encoder;
    const struct cunei_trace_process *process;
    const struct cunei_wall_clock *wall;
    struct cunei_id_kinds kinds;
    void *labels;    /* what `prepare` made for the process */
    uint64_t number; /* of this encoding: no other has it */
    void *state;     /* `state_size` bytes, zeroed */
    struct cunei_buffer out;
    uint64_t threads, calls; /* that began in it */
    uint64_t lost;           /* events, as far as they were counted */
    uint64_t last;           /* private: when the last that was told happened */
    struct cunei_call_arguments pending; /* private, as the next */
    struct cunei_gc_pause_span pausing;
    struct cunei_late_parameters late;
};

/* As struct cunei_spans_methods; those from `adopt` on may be NULL. */
struct cunei_encoder {
    int (*thread)(struct cunei_encoding *encoding, const struct cunei_packet *packet,
                  uint64_t time, bool is_begin);
    int (*begin)(struct cunei_encoding *encoding, const struct cunei_call_begin *call);
    int (*end)(struct cunei_encoding *encoding, const struct cunei_call_end *call);
    int (*adopt)(struct cunei_encoding *encoding, uint32_t function);
    int (*step)(struct cunei_encoding *encoding, uint64_t task, uint64_t time,
                bool is_begin);
    int (*event)(struct cunei_encoding *encoding, const uint64_t *event, uint64_t time);
    int (*orphan)(struct cunei_encoding *encoding, uint32_t function, uint64_t time);
    int (*lost)(struct cunei_encoding *encoding, const struct cunei_loss *gap);

    /* Calls of a function are a region, too.  The call that is begun may still be
     * untold: then the time is that of its begin. */
    int (*tag)(struct cunei_encoding *encoding, const struct cunei_user_value *tag,
               uint64_t time);

    /*
     * A pause of the garbage collector is over; what was called in it is told already.
     * Who has none gets its ends as events.
     */
    int (*pause)(struct cunei_encoding *encoding, const struct cunei_gc_pause *pause);

    /* Parameters that come late are to be told with the ends of what they are of, as
     * far as those are in the same piece; else they are events. */
    bool has_late;

    /* What all pieces of a process share, made once; NULL: there is no memory. */
    void *(*prepare)(const struct cunei_export *export,
                     const struct cunei_trace_process *process);
    void (*dispose)(void *labels);

    /* Behind the last that was told of a piece or a seam. */
    int (*finish)(struct cunei_encoding *encoding);

    /* After a piece and the seam before it were told: what they must know of each
     * other. */
    int (*join)(struct cunei_encoding *seam, struct cunei_encoding *piece);

    /* The last of a stream was told, by its last seam. */
    int (*close)(struct cunei_encoding *encoding);

    /* Takes the bytes of a piece or a seam, as they come in order, on the calling
     * thread; NULL: they go to the file. */
    int (*write)(struct cunei_encoding *encoding);
    void *context; /* whatever the methods need; the same for all encodings */

    /* Give back what `state` owns. */
    void (*release)(struct cunei_encoding *encoding);
    size_t state_size;
};

/* Private: the methods of a story whose context is an encoding.  What is pending is to
 * be flushed before a packet goes. */
extern const struct cunei_spans_methods cunei_call_arguments_methods;
int cunei_call_arguments_flush(struct cunei_encoding *encoding);

/* Private: what was told in an encoding counts for the export now. */
void cunei_encode_count(struct cunei_export *export, struct cunei_encoding *encoding);

/* Private: parameters that come late.  One waits … */
int cunei_late_parameters_take(struct cunei_encoding *encoding,
                               const struct cunei_user_value *value, uint64_t time);
void cunei_late_parameters_open(struct cunei_late_parameters *late, uint32_t function);
/* … until such an end: so many of `ended` do now, and are to be freed … */
size_t cunei_late_parameters_close(struct cunei_late_parameters *late,
                                   uint32_t function);
void cunei_late_parameters_free(struct cunei_late_parameters *late, size_t ended);
/* … or is told as an event. */
int cunei_late_parameters_flush(struct cunei_encoding *encoding);
void cunei_late_parameters_fini(struct cunei_late_parameters *late);

/* Private: what a pause needs to know of an encoding, as it comes … */
static inline void cunei_gc_pause_pass(struct cunei_gc_pause_span *pausing, int change)
{
    struct cunei_gc_pause_level *level = &pausing->level;

    level->depth += change;
    if (level->depth < level->lowest)
        level->lowest = level->depth;
}

void cunei_gc_pause_break(struct cunei_gc_pause_span *pausing);
int cunei_gc_pause_take(struct cunei_encoding *encoding, const struct cunei_gc *event,
                        uint64_t time);
/* … and of a piece and the seams before it. */
int cunei_gc_pause_join(struct cunei_encoding *seam,
                        const struct cunei_encoding *piece);

/* Private: a stream, or a piece of it, under way. */
struct cunei_encoding_job {
    struct cunei_spans story;
    struct cunei_cut cut;
    struct cunei_trace_error error; /* where it is damaged */
    uint64_t bytes;
    uint64_t first_sequence, last_sequence; /* of its packets, … */
    bool has_packets;                       /* … if there were any … */
    uint64_t missing_packets;               /* … and of those between them */
    bool is_damaged;
};

/* Private: what a reader gives; `watched`: who is to be told how far it is, or NULL. */
int cunei_encode_packets(const struct cunei_selection *selection,
                         struct cunei_encoding_job *told,
                         struct cunei_encoding *encoding,
                         struct cunei_trace_reader *reader,
                         struct cunei_export *watched);

/* Errors as cunei_export_write. */
int cunei_encode(struct cunei_export *export, const struct cunei_encoder *encoder);

/* One stream as a whole, here and now, for who cannot have it in pieces; an encoding
 * takes several, and gives back what it has in the end. */
int cunei_encode_stream(struct cunei_export *export, size_t process,
                        const struct cunei_trace_stream *stream,
                        struct cunei_encoding *encoding);
void cunei_encode_release(struct cunei_encoding *encoding);

#endif
