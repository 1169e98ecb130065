// SPDX-License-Identifier: MIT
/*
 * The events of a thread, step by step: what was entered and left when, and how deep.
 *
 *     struct cunei_walk *walk = cunei_walk_new(print_step, context, kinds);
 *     for each packet of a stream, in order:
 *         cunei_walk_packet(walk, packet, words, word_count);
 *     cunei_walk_end(walk);
 *     cunei_walk_free(walk);
 *
 * The rules are those of stack/resync.h, as for the profile.  A frame of a greenlet
 * that does not run is kept until the greenlet runs again.  Memory grows with the
 * frames that are open, not with the trace.
 */
#ifndef CUNEI_MODEL_WALK_WALK_H
#define CUNEI_MODEL_WALK_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "model/walk/walk_step.h"
#include "wire/id_kind.h"

struct cunei_walk;

/* `step` is called for each step; a result other than 0 ends the walk.  NULL: no
 * memory. */
struct cunei_walk *cunei_walk_new(int (*step)(void *context,
                                              const struct cunei_walk_step *step),
                                  void *context, struct cunei_id_kinds kinds);
void cunei_walk_free(struct cunei_walk *walk);

/* 0, what `step` returned, or -ENOMEM. */
int cunei_walk_packet(struct cunei_walk *walk, const struct cunei_packet *packet,
                      const uint64_t *words, size_t word_count);

/* Read the words that follow those read before, of the packet that was read last; what
 * each id stands for may have become known meanwhile. */
int cunei_walk_continue(struct cunei_walk *walk, const struct cunei_packet *packet,
                        const uint64_t *words, size_t word_count);
void cunei_walk_set_kinds(struct cunei_walk *walk, struct cunei_id_kinds kinds);

/* The last events of the packet that was read last are not known. */
void cunei_walk_cut_packet(struct cunei_walk *walk);

/* The stream ends: report what is still open.  Another one may follow. */
int cunei_walk_end(struct cunei_walk *walk);

/* The frames that are open, outermost first, lent until the next packet. */
struct cunei_walk_frame *cunei_walk_frames(const struct cunei_walk *walk,
                                           uint32_t *depth);
/* The time of the last event. */
uint64_t cunei_walk_time(const struct cunei_walk *walk);

/* Set the tags of all frames to 0, also in greenlets that do not run. */
void cunei_walk_clear_tags(struct cunei_walk *walk);

#endif
