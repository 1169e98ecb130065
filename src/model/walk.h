// SPDX-License-Identifier: MIT
/*
 * A thread's story, step by step: what was entered and left when, in which depth.
 *
 *     struct cunei_walk walk = {.step = print_step, .context = …};
 *     for each packet of a stream, in order:
 *         cunei_walk_packet(&walk, packet, words, word_count);
 *     cunei_walk_end(&walk);
 *     cunei_walk_fini(&walk);
 *
 * The rules are those of the profile: a leave that does not match is an orphan, what is
 * above a leave lost its own end, each packet says what is really open.  Regions are
 * frames, but need not nest: where one ends below functions, or a function below
 * regions, what is above is put aside and back.  A greenlet that does not run keeps its
 * frames until it goes on.  Memory grows with what is open, not with the trace.
 */
#ifndef CUNEI_MODEL_WALK_H
#define CUNEI_MODEL_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"
#include "wire/id_kind.h"
#include "wire/packet.h"

enum cunei_walk_kind {
    CUNEI_WALK_THREAD, /* another thread begins; what follows is its story */
    CUNEI_WALK_FOUND,  /* a frame was open already */
    CUNEI_WALK_ENTER,
    CUNEI_WALK_LEAVE,
    CUNEI_WALK_MISSED, /* a frame is not open any more; nobody saw its end */
    CUNEI_WALK_ORPHAN, /* a function was left that is not known to be open */
    CUNEI_WALK_LOST,   /* events were lost before this */
    CUNEI_WALK_OPEN,   /* the story ends, and a frame is still open */
    CUNEI_WALK_SWITCH, /* another greenlet runs after this */
    CUNEI_WALK_ASIDE,  /* a frame is put aside: something below it ends, … */
    CUNEI_WALK_AGAIN,  /* … and is back, at the same time */
    CUNEI_WALK_EVENT,  /* something happened here: `event` says what */
};

struct cunei_greenlets;

struct cunei_walk_frame {
    uint32_t function;
    bool is_known;   /* `entered` is; else it was found open then */
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
    struct cunei_walk_frame *frames;   /* all that are open, outermost first … */
    uint32_t depth; /* … so many, the one that this is about being the last of them */
    uint32_t function; /* of that one, or of the orphan */
    bool is_yield;
    bool is_raised;
    bool is_correction; /* a `stack` or `switch` says so, and nothing happened */
    bool is_suspended;  /* of an open one: its greenlet does not run */
    uint64_t greenlet;  /* that runs after a switch */
    /* Whole, of a class that is neither call nor stack; lines are all in full. */
    const uint64_t *event;
};

struct cunei_walk {
    /* Called for each step; what is not 0 ends the walk. */
    int (*step)(void *context, const struct cunei_walk_step *step);
    void *context;
    struct cunei_id_kinds kinds;

    /* Private. */
    struct cunei_walk_frame *frames; /* owned */
    uint32_t depth, capacity;
    uint32_t *counts; /* owned: open frames of each function */
    uint32_t count_capacity;
    uint64_t beyond;
    uint64_t last;
    uint64_t greenlet;                 /* that runs; 0: unknown */
    struct cunei_greenlets *greenlets; /* owned: the others */
    bool has_packet;
    uint32_t thread, vtid;
    uint64_t sequence, discarded;
    struct cunei_line line, near; /* the last one in full, and one that was not */
};

/* 0, what `step` returned, or -ENOMEM. */
int cunei_walk_packet(struct cunei_walk *walk, const struct cunei_packet *packet,
                      const uint64_t *words, size_t word_count);

/* Nothing follows: what is open stays so. */
int cunei_walk_end(struct cunei_walk *walk);
void cunei_walk_fini(struct cunei_walk *walk);

#endif
