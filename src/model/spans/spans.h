// SPDX-License-Identifier: MIT
/*
 * The events of a thread as spans that nest: each begins once and ends once, in order.
 *
 *     struct cunei_spans *spans = cunei_spans_new(&options);
 *     for each packet of a piece of a stream, in order:
 *         cunei_spans_packet(spans, packet, words, word_count);
 *     cunei_spans_end(spans);
 *     …
 *     cunei_spans_free(spans);
 *
 * It is the walk (model/walk/walk.h), made simpler for exports: a span is a call or a
 * region, a generator from a resume to its yield, or the part of a call that a greenlet
 * ran before a switch to another one.  Where a region ends below calls, or a call below
 * regions, what is above is cut in two.  A method that fails ends the reading.
 *
 * Pieces of a stream can be read independently of each other, in any order and on any
 * thread.  What happens between two of them is added by model/spans/piece_join.h: even
 * a stream's first piece leaves it to the join to begin the thread, and its last piece
 * to end what is still open, unless a stream is read as a whole.
 */
#ifndef CUNEI_MODEL_SPANS_SPANS_H
#define CUNEI_MODEL_SPANS_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/id_kind.h"
#include "wire/packet.h"

enum cunei_span_begin {
    CUNEI_BEGIN_CALL,
    CUNEI_BEGIN_RESUME, /* of a generator or coroutine */
    CUNEI_BEGIN_SWITCH, /* its greenlet runs again; or the end of a region cut it in two
                         */
    CUNEI_BEGIN_FOUND,  /* it was open already; its start is unknown */
};

enum cunei_span_end {
    CUNEI_END_RETURN,
    CUNEI_END_YIELD,
    CUNEI_END_RAISE,
    CUNEI_END_SWITCH,
    CUNEI_END_UNSEEN, /* some time ago */
    CUNEI_END_OPEN,   /* it has not ended, but the stream has */
};

/* Times are in ticks; a return value other than 0 ends the reading. */
struct cunei_spans_methods {
    /* What follows is of this thread; it begins here, or continues from a piece before.
     */
    int (*thread)(void *context, const struct cunei_packet *packet, uint64_t time,
                  bool is_begin);

    /* A span that another piece began is open; may be NULL. */
    int (*adopt)(void *context, uint32_t function);
    int (*open)(void *context, uint32_t function, uint64_t time,
                enum cunei_span_begin how);
    int (*close)(void *context, uint32_t function, uint64_t time,
                 enum cunei_span_end how);

    /* A step of a task begins or ends; may be NULL. */
    int (*step)(void *context, uint64_t task, uint64_t time, bool is_begin);

    /* Something else happened, in the innermost span; may be NULL. */
    int (*event)(void *context, const uint64_t *event, uint64_t time);

    /* A function was left that is not known to be open; may be NULL. */
    int (*orphan)(void *context, uint32_t function, uint64_t time);

    /* So many events are missing here; 0: it is not known how many.  May be NULL. */
    int (*lost)(void *context, uint64_t time, uint64_t count);
};

struct cunei_spans;

struct cunei_spans_options {
    const struct cunei_spans_methods *methods; /* borrowed, as all */
    void *context;                             /* of the methods */
    struct cunei_id_kinds kinds;
    bool is_whole; /* there are no other pieces, and no join */
};

/* NULL: no memory. */
struct cunei_spans *cunei_spans_new(const struct cunei_spans_options *options);
void cunei_spans_free(struct cunei_spans *spans);

/* -ENOMEM, or what a method returned. */
int cunei_spans_packet(struct cunei_spans *spans, const struct cunei_packet *packet,
                       const uint64_t *words, size_t word_count);

/* The piece ends; its last thread may continue in the next one. */
int cunei_spans_end(struct cunei_spans *spans);

#endif
