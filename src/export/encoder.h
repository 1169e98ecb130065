// SPDX-License-Identifier: MIT
/*
 * How a format writes calls: an encoder is its methods, an encoding the bytes that they
 * write of one piece of a stream.
 *
 * Spans (model/spans/spans.h) come in, with their events between them.  Here arguments
 * join the start of their call and results its end, late parameters wait for the end,
 * two events become a pause for garbage collection, and instants get their description.
 */
#ifndef CUNEI_EXPORT_ENCODER_H
#define CUNEI_EXPORT_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "export/call_arguments.h"
#include "export/gc_pause.h"
#include "export/instant.h"
#include "export/late_parameters.h"
#include "export/task_names.h"
#include "model/facts/wall_clock.h"
#include "model/spans/spans.h"
#include "trace/directory/trace.h"

struct cunei_export;
struct cunei_encoder;

struct cunei_call_begin {
    uint32_t function;
    enum cunei_span_begin how;
    uint64_t time;
    const struct cunei_value *arguments;
    size_t argument_count;
};

struct cunei_call_end {
    uint32_t function;
    enum cunei_span_end how;
    uint64_t time;
    const struct cunei_value *result; /* NULL: none was recorded */
    struct cunei_user_value *const *late_parameters;
    size_t late_count;
};

struct cunei_encoding {
    const struct cunei_export *export;
    const struct cunei_encoder *encoder;
    const struct cunei_trace_process *process;
    const struct cunei_wall_clock *wall;
    struct cunei_id_kinds kinds;
    void *shared;    /* what `prepare` made for the process */
    uint64_t number; /* no other encoding has it */
    void *state;     /* `state_size` bytes, zeroed */
    struct cunei_buffer out;
    uint64_t threads, calls; /* that began in it */
    uint64_t lost;           /* events, as far as they were counted */

    /* Private. */
    uint64_t last; /* the time of the last event */
    bool has_call; /* `call` began, and arguments of it may follow */
    struct cunei_call_begin call;
    struct cunei_call_arguments arguments;
    bool has_result;
    struct cunei_value result;
    struct cunei_gc_tracker gc;
    struct cunei_late_parameters late;
    struct cunei_task_names_seen named;
};

/*
 * Times are in ticks; 0 is success, and any other result ends the export.  Methods from
 * `adopt` on may be NULL.
 */
struct cunei_encoder {
    /* What follows is of this thread: it begins, or continues from another piece. */
    int (*thread)(struct cunei_encoding *encoding, const struct cunei_packet *packet,
                  uint64_t time, bool is_begin);
    int (*begin)(struct cunei_encoding *encoding, const struct cunei_call_begin *call);
    int (*end)(struct cunei_encoding *encoding, const struct cunei_call_end *call);

    /* A call is open that began in an earlier piece; outermost first. */
    int (*adopt)(struct cunei_encoding *encoding, uint32_t function);
    int (*step)(struct cunei_encoding *encoding, uint64_t task, uint64_t time,
                bool is_begin);

    /* The name of the thread changes; a task gets its name, or another one.  A task
     * that was named before the selection gets its name at its first step. */
    int (*thread_name)(struct cunei_encoding *encoding, const char *name, size_t size,
                       uint64_t time);
    int (*task_name)(struct cunei_encoding *encoding, uint64_t task, const char *name,
                     size_t size, uint64_t time);

    /* Counters without a method, and all other events of the table in instant.c. */
    int (*counter)(struct cunei_encoding *encoding, const struct cunei_counter *counter,
                   uint64_t time);
    int (*instant)(struct cunei_encoding *encoding, const struct cunei_instant *instant,
                   uint64_t time);

    /* A pause is over; the calls in it are written already.  Without this method, both
     * of its events come to `event`. */
    int (*pause)(struct cunei_encoding *encoding, const struct cunei_gc_pause *pause);

    /* Without this method, a loss is an instant. */
    int (*lost)(struct cunei_encoding *encoding, const struct cunei_loss *loss);

    /* A call ends whose start is missing. */
    int (*orphan)(struct cunei_encoding *encoding, uint32_t function, uint64_t time);

    /* Any other event. */
    int (*event)(struct cunei_encoding *encoding, const uint64_t *event, uint64_t time);

    /* Late parameters come with the end of their call if that is in the same piece;
     * the others, and all without this flag, are instants. */
    bool has_late_parameters;

    /* Makes what all pieces of a process share, once; NULL: no memory. */
    void *(*prepare)(const struct cunei_export *export,
                     const struct cunei_trace_process *process);
    void (*dispose)(void *shared);

    /* Behind the last event of a piece, or of a join. */
    int (*finish)(struct cunei_encoding *encoding);

    /* A piece is done, and so is the join before it: exchange what they must know of
     * each other. */
    int (*join)(struct cunei_encoding *join, struct cunei_encoding *piece);

    /* The last join of a stream is done. */
    int (*close)(struct cunei_encoding *encoding);

    /* Takes the bytes of each piece and join, in order, on the calling thread; NULL:
     * they are written to the file. */
    int (*write)(struct cunei_encoding *encoding);
    void *context; /* whatever the methods need; the same for all encodings */

    /* Free what `state` owns. */
    void (*release)(struct cunei_encoding *encoding);
    size_t state_size;
};

/* For spans and joins whose context is an encoding. */
extern const struct cunei_spans_methods cunei_encoding_methods;

/* Free what it owns, and what its format keeps in `state`. */
void cunei_encoding_fini(struct cunei_encoding *encoding);

/* Write a call whose arguments could still come: before its packet is gone. */
int cunei_encoding_flush(struct cunei_encoding *encoding);

/* Write the late parameters that wait as instants. */
int cunei_encoding_flush_late(struct cunei_encoding *encoding);

/* A piece follows the join `join`: a pause that began before it may end in it. */
int cunei_encoding_join(struct cunei_encoding *join,
                        const struct cunei_encoding *piece);

#endif
