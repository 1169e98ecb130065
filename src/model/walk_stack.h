// SPDX-License-Identifier: MIT
/* The frames that a walk has open: private to it. */
#ifndef CUNEI_MODEL_WALK_STACK_H
#define CUNEI_MODEL_WALK_STACK_H

#include "model/walk.h"

struct cunei_greenlet;

/* Tell of a step, which is about the top frame. */
int cunei_walk_say(struct cunei_walk *walk, const struct cunei_packet *packet,
                   struct cunei_walk_step step);

/* Add a frame, or count it where there is no room: false. */
bool cunei_walk_push(struct cunei_walk *walk, struct cunei_walk_frame frame);

/* Say of the top frame how it ended, and remove it. */
int cunei_walk_pop(struct cunei_walk *walk, const struct cunei_packet *packet,
                   struct cunei_walk_step step);
int cunei_walk_miss(struct cunei_walk *walk, const struct cunei_packet *packet,
                    bool is_correction);

/* Take a frame off the top, to be put back. */
int cunei_walk_put_aside(struct cunei_walk *walk, const struct cunei_packet *packet,
                         struct cunei_walk_frame *aside, bool is_correction);
int cunei_walk_put_back(struct cunei_walk *walk, const struct cunei_packet *packet,
                        const struct cunei_walk_frame *aside, bool is_correction);

/* Where the topmost frame of the function is, from 1; 0: nowhere. */
uint32_t cunei_walk_find(const struct cunei_walk *walk, uint32_t function);

/* The depth of the innermost function, from a depth on downwards. */
uint32_t cunei_walk_function_below(const struct cunei_walk *walk, uint32_t depth);

/* The function of a frame becomes known; false: no memory. */
bool cunei_walk_rename(struct cunei_walk *walk, uint32_t index, uint32_t function);

/* A `stack`: drop what is not open any more, add what is. */
int cunei_walk_sync(struct cunei_walk *walk, const struct cunei_packet *packet,
                    const struct cunei_stack *stack);

/* A `switch`. */
int cunei_walk_switch(struct cunei_walk *walk, const struct cunei_packet *packet,
                      const struct cunei_switch *change);

/* Go on with a stack that was put aside. */
void cunei_walk_resume_stack(struct cunei_walk *walk,
                             const struct cunei_greenlet *greenlet);

#endif
