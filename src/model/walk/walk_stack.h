// SPDX-License-Identifier: MIT
/* The frames that a walk (model/walk/walk.h) has open: private to it. */
#ifndef CUNEI_MODEL_WALK_WALK_STACK_H
#define CUNEI_MODEL_WALK_WALK_STACK_H

#include "model/walk/walk_step.h"
#include "stack/open_counts.h"
#include "stack/resync.h"
#include "wire/event.h"
#include "wire/id_kind.h"

struct cunei_greenlets;

struct cunei_walk_leave {
    struct cunei_resync_leave leave;
    bool is_yield, is_raised;
};

struct cunei_walk {
    int (*step)(void *context, const struct cunei_walk_step *step);
    void *context; /* of `step`, borrowed */
    struct cunei_id_kinds kinds;
    struct cunei_walk_frame *frames; /* owned */
    uint32_t depth, capacity;
    struct cunei_open_counts counts;
    uint64_t beyond; /* frames above CUNEI_DEPTH_MAX */
    uint64_t last;
    uint64_t greenlet;                 /* that runs; 0: unknown */
    struct cunei_greenlets *greenlets; /* owned: the others */
    const struct cunei_packet *packet; /* that is being read; or NULL */
    bool has_packet;
    uint32_t thread, vtid;
    uint64_t sequence, discarded;
    struct cunei_line line, near;  /* the last one in full, and one that was not */
    struct cunei_walk_leave leave; /* what an `unwind` says of the next one */
};

/* Report a step, which is about the top frame. */
int cunei_walk_report(struct cunei_walk *walk, struct cunei_walk_step step);

int cunei_walk_enter(struct cunei_walk *walk, uint32_t function, bool is_resumed);
int cunei_walk_leave(struct cunei_walk *walk, const struct cunei_walk_leave *leave);
int cunei_walk_sync(struct cunei_walk *walk, const struct cunei_stack *stack);
int cunei_walk_switch(struct cunei_walk *walk, const struct cunei_switch *change);

/* The thread ends, or the stream: report what is still open, and forget it. */
int cunei_walk_end_thread(struct cunei_walk *walk);

#endif
