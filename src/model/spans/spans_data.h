// SPDX-License-Identifier: MIT
/* What the spans of a piece (model/spans/spans.h) hold: private to them and to the
 * join. */
#ifndef CUNEI_MODEL_SPANS_SPANS_DATA_H
#define CUNEI_MODEL_SPANS_SPANS_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/packet.h"

struct cunei_spans_methods;
struct cunei_walk;

/* A task's step, and the depth of the span it ends with. */
struct cunei_spans_step {
    uint64_t task;
    uint32_t depth;
};

struct cunei_spans_steps {
    struct cunei_spans_step *items; /* owned */
    uint32_t count, capacity;
};

/* Where a piece begins or ends. */
struct cunei_spans_edge {
    struct cunei_packet packet;
    uint64_t time;
    uint32_t *functions; /* owned: of the open frames; 0: the frame has no span */
    uint32_t count, capacity;
};

int cunei_spans_edge_add(struct cunei_spans_edge *edge, uint32_t function);

struct cunei_spans {
    const struct cunei_spans_methods *methods;
    void *context;
    bool is_whole;
    struct cunei_walk *walk; /* owned */
    struct cunei_spans_edge first, last;
    uint64_t *closings;     /* owned: when each of `first` ended, or UINT64_MAX */
    uint32_t closing_count; /* length of `closings` */
    uint32_t inherited;     /* how many of `first`, from its begin, are still open */
    struct cunei_spans_steps steps;
    uint32_t depth;   /* spans that are open */
    bool has_first;   /* `first` is known … */
    bool is_adopting; /* … but for some of the spans */
    bool is_behind;   /* frames are open that have no span, … */
    uint64_t since;   /* … since then */
    bool has_task;
    uint64_t task; /* whose step the next span is */
    uint64_t discarded;
};

#endif
