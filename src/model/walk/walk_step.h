// SPDX-License-Identifier: MIT
/* The steps of a walk (model/walk/walk.h), and the frames that they are about. */
#ifndef CUNEI_MODEL_WALK_WALK_STEP_H
#define CUNEI_MODEL_WALK_WALK_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/packet.h"

enum cunei_walk_kind {
    CUNEI_WALK_THREAD, /* another thread begins; what follows is of it */
    CUNEI_WALK_FOUND,  /* a frame was open already */
    CUNEI_WALK_ENTER,
    CUNEI_WALK_LEAVE,
    CUNEI_WALK_MISSED, /* a frame is not open any more; its leave is missing */
    CUNEI_WALK_ORPHAN, /* a function was left that is not known to be open */
    CUNEI_WALK_LOST,   /* events were lost before this */
    CUNEI_WALK_OPEN,   /* the stream or thread ends, and a frame is still open */
    CUNEI_WALK_SWITCH, /* another greenlet runs after this */
    CUNEI_WALK_ASIDE,  /* a frame is put aside: something below it ends, … */
    CUNEI_WALK_AGAIN,  /* … and is back, at the same time */
    CUNEI_WALK_EVENT,  /* another event: `event` */
};

struct cunei_walk_frame {
    uint32_t function;
    bool is_known;   /* `entered` is; otherwise it was found open at that time */
    bool is_resumed; /* by RESUME, not by ENTER */
    bool mark;       /* the caller's; false at first */
    bool is_region;
    uint32_t run; /* private: frames of the function in a row, regions aside */
    uint32_t tag; /* the caller's; 0 at first */
    uint64_t entered;
    uint64_t suspended; /* since then, because another greenlet ran */
};

struct cunei_walk_step {
    enum cunei_walk_kind kind;
    uint64_t time;
    const struct cunei_packet *packet; /* NULL at the end */
    struct cunei_walk_frame *frames;   /* all open ones, outermost first */
    uint32_t depth;    /* how many; this step is about the last of them */
    uint32_t function; /* of that one, or of the orphan */
    bool is_yield;
    bool is_raised;
    bool is_correction; /* by a `stack` or `switch`, not by an event of its own */
    bool is_suspended;  /* of an open one: its greenlet does not run */
    uint64_t greenlet;  /* that runs after a switch */
    /* Whole, of a class that is neither call nor stack; lines are all in full. */
    const uint64_t *event;
};

#endif
