// SPDX-License-Identifier: MIT
/*
 * The stacks of greenlets that do not run, for the walk.
 *
 * Memory grows with what is suspended, up to a limit.  A stack is removed when
 * its greenlet runs again; a greenlet that ended has no open frames and is never kept.
 */
#ifndef CUNEI_MODEL_WALK_GREENLET_STACKS_H
#define CUNEI_MODEL_WALK_GREENLET_STACKS_H

#include "model/walk/walk_step.h"

struct cunei_greenlet {
    uint64_t number;                 /* 0: the one that ran at first */
    uint64_t since;                  /* suspended */
    struct cunei_walk_frame *frames; /* owned */
    uint32_t depth;
    uint32_t next; /* private */
};

/* Frames of all of them: a `switch` of a few bytes can list thousands. */
#define CUNEI_GREENLETS_FRAMES_MAX (1u << 21)

struct cunei_greenlets;

/* NULL: no memory. */
struct cunei_greenlets *cunei_greenlets_new(void);
void cunei_greenlets_free(struct cunei_greenlets *greenlets);

/*
 * Keep a copy of a stack; a stack that the greenlet had already is replaced.  Beyond
 * the limit it is not kept.
 */
int cunei_greenlets_add(struct cunei_greenlets *greenlets, uint64_t number,
                        const struct cunei_walk_frame *frames, uint32_t depth,
                        uint64_t time);

/* The stack of a greenlet, lent; NULL: there is none. */
const struct cunei_greenlet *cunei_greenlets_find(
    const struct cunei_greenlets *greenlets, uint64_t number);

/* Any of them; NULL: there are none. */
const struct cunei_greenlet *cunei_greenlets_first(struct cunei_greenlets *greenlets);
void cunei_greenlets_remove(struct cunei_greenlets *greenlets, uint64_t number);

/* Set the tags of all their frames to 0. */
void cunei_greenlets_clear_tags(struct cunei_greenlets *greenlets);

#endif
