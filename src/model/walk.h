// SPDX-License-Identifier: MIT
/*
 * The events of a thread, step by step: what was entered and left when, and how deep.
 *
 *     struct cunei_walk walk = {.step = print_step, .context = …};
 *     for each packet of a stream, in order:
 *         cunei_walk_packet(&walk, packet, words, word_count);
 *     cunei_walk_end(&walk);
 *     cunei_walk_fini(&walk);
 *
 * The rules are those of stack/resync.h, as for the profile.  A frame of a greenlet
 * that does not run is kept until the greenlet runs again.  Memory grows with the
 * frames that are open, not with the trace.
 */
#ifndef CUNEI_MODEL_WALK_H
#define CUNEI_MODEL_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "model/walk_stack.h"

/* 0, what `step` returned, or -ENOMEM. */
int cunei_walk_packet(struct cunei_walk *walk, const struct cunei_packet *packet,
                      const uint64_t *words, size_t word_count);

/* The stream ends: report what is still open. */
int cunei_walk_end(struct cunei_walk *walk);
void cunei_walk_fini(struct cunei_walk *walk);

#endif
